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
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchfill.onepl import Draws, Fit1PL, fit_1pl

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchfill.onepl import Engine
    from benchfill.responses import ResponseMatrix

FOLDER = "fits"
_ARRAYS = ("theta", "theta_sd", "b", "b_sd")
_SCALARS = ("mu_b", "s_b", "seconds", "max_rhat", "min_ess_bulk", "divergences")


def kept_fit(
    folder: Path,
    responses: ResponseMatrix,
    guessing: NDArray[np.float64],
    *,
    engine: Engine,
    seed: int,
) -> Fit1PL:
    """Return the fit that the data folder holds, or make it and keep it there."""
    path = folder / FOLDER / f"{_key(responses, guessing, engine, seed)}.npz"
    kept = _read(path, responses, guessing, engine)
    if kept is not None:
        return kept
    fit = fit_1pl(responses, engine=engine, guessing=guessing, seed=seed)
    _write(path, fit)
    return fit


def _key(
    responses: ResponseMatrix, guessing: NDArray[np.float64], engine: Engine, seed: int
) -> str:
    digest = hashlib.sha256()
    versions = [importlib.metadata.version(name) for name in ("benchfill", "pymc", "nutpie")]
    head = [versions, engine, seed, responses.models, responses.items]
    digest.update(json.dumps(head).encode())
    for counts in (responses.correct, responses.n):
        digest.update(np.ascontiguousarray(counts, dtype=np.int64).tobytes())
    digest.update(guessing.tobytes())
    return digest.hexdigest()


def _read(
    path: Path, responses: ResponseMatrix, guessing: NDArray[np.float64], engine: Engine
) -> Fit1PL | None:
    """Read a kept fit; one that cannot be read is made again."""
    try:
        with np.load(path, allow_pickle=False) as kept:
            scalars: dict[str, Any] = json.loads(str(kept["scalars"]))
            draws = Draws(*(kept[f"draws_{name}"] for name in Draws._fields))
            arrays = {name: kept[name] for name in _ARRAYS}
    except (OSError, KeyError, ValueError, zipfile.BadZipFile):
        return None
    return Fit1PL(
        responses=responses, guessing=guessing, engine=engine, draws=draws, **arrays, **scalars
    )


def _write(path: Path, fit: Fit1PL) -> None:
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        scalars=np.array(json.dumps({name: getattr(fit, name) for name in _SCALARS})),
        **{name: getattr(fit, name) for name in _ARRAYS},
        **{f"draws_{name}": value for name, value in fit.draws._asdict().items()},
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("wb", dir=path.parent, delete=False) as file:
        file.write(buffer.getvalue())
        file.flush()
        os.fsync(file.fileno())
    Path(file.name).replace(path)
