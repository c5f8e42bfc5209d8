"""What commands on a response matrix begin with: read it, and fit it once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import benchfill as bf
from benchfill.errors import InputError

from ..settings import Settings
from ..store.fits import FitRequest, kept_fit
from .progress import counting_up

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from benchfill.onepl import Engine

MAX_CHOICES = 1000


@dataclass(frozen=True)
class FitOptions:
    """What is to be fitted, and how."""

    responses: Path
    items: Path | None
    choices: str | None
    engine: Engine
    seed: int


def read_and_fit(options: FitOptions) -> bf.Fit1PL:
    """Read the responses and fit them, or take the fit that the data folder keeps.

    Raises
    ------
        InputError: a file or --choices cannot be used.
    """
    return fit_matrix(bf.read_responses(options.responses), options)


def fit_matrix(matrix: bf.ResponseMatrix, options: FitOptions) -> bf.Fit1PL:
    """Fit a matrix that was made of what was read, or take the fit that the data folder keeps.

    Raises
    ------
        InputError: the items file or --choices cannot be used.
    """
    items = bf.read_items(options.items) if options.items else ()
    guessing = guessing_of(matrix, items, options.choices)
    request = FitRequest(matrix, guessing, options.engine, options.seed)
    with counting_up(f"fitting {len(matrix.models)} models x {len(matrix.items)} items") as step:
        return kept_fit(Settings().data_dir, request, step)


def guessing_of(
    matrix: bf.ResponseMatrix, items: tuple[bf.Item, ...], choices: str | None
) -> NDArray[np.float64]:
    """Return the guessing probability of each item of the matrix, shape (I,).

    Raises
    ------
    InputError
        `choices` is neither a number of options nor auto, or auto lacks items.
    """
    if choices is None:
        return np.zeros(len(matrix.items))
    if choices == "auto":
        known = {item.id: item.guessing for item in items}
        missing = [item for item in matrix.items if item not in known]
        if missing:
            raise InputError(
                f"auto needs every item of the responses in --items, but {missing[0]!r} "
                f"({len(missing)} in all) is not there.",
                field="--choices",
            )
        return np.array([known[item] for item in matrix.items])
    if not choices.isascii() or not choices.isdigit() or not 2 <= int(choices) <= MAX_CHOICES:
        raise InputError(
            f"{choices!r} is neither auto nor a whole number from 2 to {MAX_CHOICES}.",
            field="--choices",
        )
    return np.full(len(matrix.items), 1 / int(choices))
