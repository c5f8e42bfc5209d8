"""The work of `benchfill diagnose`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import benchfill as bf
from benchfill.errors import InputError

from ..report.diagnosis_report import write_diagnosis_report
from ..report.summary import print_diagnosis
from ..settings import Settings
from ..store.fits import kept_fit
from .progress import working

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from benchfill.onepl import Engine

    from .output import CommandOutput

FAILED_CHECK = 4
MAX_CHOICES = 1000


@dataclass(frozen=True)
class DiagnoseOptions:
    """What the user asked for."""

    responses: Path
    items: Path | None
    choices: str | None
    target_dist: str
    engine: Engine
    strict: bool
    seed: int
    out: Path | None


def run_diagnose(options: DiagnoseOptions, output: CommandOutput) -> None:
    """Read, fit, diagnose, and write the report if a folder is given."""
    matrix = bf.read_responses(options.responses)
    items = bf.read_items(options.items) if options.items else ()
    guessing = guessing_of(matrix, items, options.choices)
    target = bf.parse_target(options.target_dist)
    with working(f"fitting {len(matrix.models)} models x {len(matrix.items)} items"):
        fit = kept_fit(
            Settings().data_dir, matrix, guessing, engine=options.engine, seed=options.seed
        )
        diagnosis = bf.diagnose(fit, target=target)
    output.result = diagnosis.model_dump(mode="json")
    output.summary = lambda console: print_diagnosis(console, diagnosis)
    if options.strict and any(check.passed is False for check in diagnosis.checks):
        output.exit_code = FAILED_CHECK
    if options.out is not None:
        write_diagnosis_report(options.out, output.document(), diagnosis, target)


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
