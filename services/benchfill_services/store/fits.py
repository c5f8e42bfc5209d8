"""Fits kept in the data folder, by a hash of all that they depend on.

A fit is the first step of a fill: a resumed fill must go on with the very draws it began with, and
nobody should wait twice for the same one.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import io
import json
import os
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from filelock import FileLock

from benchfill.onepl import Draws, Fit1PL, fit_1pl

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from benchfill.items import Item
    from benchfill.onepl import Engine
    from benchfill.responses import ResponseMatrix

FOLDER = "fits"
MOST_KEPT_ITEMS = 20_000  # of a MAP fit
_FITS = 2  # raised when fits of the same version come to differ
_ARRAYS = ("theta", "theta_sd", "b", "b_sd")
_SCALARS = ("engine", "mu_b", "s_b", "seconds", "max_rhat", "min_ess_bulk", "divergences")


@dataclass(frozen=True)
class FitRequest:
    """All that a fit depends on."""

    responses: ResponseMatrix
    guessing: NDArray[np.float64]
    engine: Engine
    seed: int

    @property
    def key(self) -> str:
        """A hash of it all, versions included."""
        digest = hashlib.sha256()
        names = ("benchfill", "pymc", "nutpie")
        data = self.responses
        versions = [_FITS, *(importlib.metadata.version(name) for name in names)]
        head = [versions, self.engine, self.seed, data.models, data.items]
        digest.update(json.dumps(head).encode())
        for counts in (data.correct, data.n):
            digest.update(np.ascontiguousarray(counts, dtype=np.int64).tobytes())
        digest.update(self.guessing.tobytes())
        return digest.hexdigest()


def fit_of_items(
    items: Sequence[Item], matrix: ResponseMatrix, engine: Engine, seed: int
) -> FitRequest:
    """Return the fit of a matrix in which multiple-choice items are guessed, as items.jsonl says.

    Items of the matrix that are not among `items` are not guessed.
    """
    guesses = {item.id: item.guessing for item in items}
    guessing = np.array([guesses.get(item, 0.0) for item in matrix.items])
    return FitRequest(matrix, guessing, engine, seed)


def kept_fit(
    folder: Path, request: FitRequest, progress: Callable[[int, int], None] | None = None
) -> Fit1PL:
    """Return the fit that the data folder holds, or make it and keep it there.

    A fit with very many draws is not kept: making it again takes less than reading it.
    """
    path = fit_path(folder, request)
    kept = _read(path, request)
    if kept is not None:
        return kept
    path.parent.mkdir(parents=True, exist_ok=True)
    # several fills of one benchmark begin together: one fits, the others wait for it
    with FileLock(f"{path}.lock"):
        return _read(path, request) or _make(path, request, progress)


def _make(path: Path, request: FitRequest, progress: Callable[[int, int], None] | None) -> Fit1PL:
    fit = fit_1pl(
        request.responses,
        engine=request.engine,
        guessing=request.guessing,
        seed=request.seed,
        progress=progress,
    )
    if len(fit.b) <= MOST_KEPT_ITEMS or fit.engine in {"mcmc", "plain"}:
        _write(path, fit)
    return fit


def fit_path(folder: Path, request: FitRequest) -> Path:
    """Return where the data folder keeps a fit."""
    return folder / FOLDER / f"{request.key}.npz"


def _read(path: Path, request: FitRequest) -> Fit1PL | None:
    """Read a kept fit; one that cannot be read is made again."""
    try:
        with np.load(path, allow_pickle=False) as kept:
            scalars: dict[str, Any] = json.loads(str(kept["scalars"]))
            draws = Draws(*(kept[f"draws_{name}"] for name in Draws._fields))
            arrays = {name: kept[name] for name in _ARRAYS}
    except (OSError, KeyError, ValueError, zipfile.BadZipFile):
        return None
    return Fit1PL(
        responses=request.responses,
        guessing=request.guessing,
        draw=lambda: draws,
        **arrays,
        **scalars,
    )


def _write(path: Path, fit: Fit1PL) -> None:
    buffer = io.BytesIO()
    # not compressed: of random digits it would save a twentieth, for most of the writing's time
    np.savez(
        buffer,
        scalars=np.array(json.dumps({name: getattr(fit, name) for name in _SCALARS})),
        **{name: getattr(fit, name) for name in _ARRAYS},
        **{f"draws_{name}": value for name, value in fit.draws._asdict().items()},
    )
    with tempfile.NamedTemporaryFile("wb", dir=path.parent, delete=False) as file:
        file.write(buffer.getvalue())
        file.flush()
        os.fsync(file.fileno())
    Path(file.name).replace(path)
