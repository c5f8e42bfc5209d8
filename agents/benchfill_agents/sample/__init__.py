"""The sample benchmark: small arithmetic with a hole in its difficulties, as a local pool saw it.

SOURCE.md says how it was made and what was measured.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

_FOLDER = Path(str(files(__name__)))


def items_path() -> Path:
    """Where the items are (JSONL; `benchfill.items.read_items` reads them)."""
    return _FOLDER / "items.jsonl"


def responses_path() -> Path:
    """Where the local pool's responses to the items are (long CSV)."""
    return _FOLDER / "responses.csv"


def pool_path() -> Path:
    """Where the pool that gave the responses is described (YAML)."""
    return _FOLDER / "pool.yaml"
