"""The work of `benchfill diagnose`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import benchfill as bf

from ..report.summary import print_diagnosis
from .fitting import FitOptions, read_and_fit

if TYPE_CHECKING:
    from pathlib import Path

    from .output import CommandOutput

FAILED_CHECK = 4


@dataclass(frozen=True)
class DiagnoseOptions:
    """What the user asked for."""

    fit: FitOptions
    target_dist: str
    strict: bool
    traces: bool
    out: Path | None


def run_diagnose(options: DiagnoseOptions, output: CommandOutput) -> None:
    """Read, fit, diagnose, and write the report if a folder is given."""
    target = bf.parse_target(options.target_dist)
    fit = read_and_fit(options.fit)
    diagnosis = bf.diagnose(fit, target=target)
    output.result = diagnosis.model_dump(mode="json")
    output.summary = lambda console: print_diagnosis(console, diagnosis)
    if options.strict and any(check.passed is False for check in diagnosis.checks):
        output.exit_code = FAILED_CHECK
    if options.out is not None:
        # pictures take a second to import
        from ..report.diagnosis_report import Shown, write_diagnosis_report

        shown = Shown(target, options.traces)
        write_diagnosis_report(options.out, output.document(), fit, diagnosis, shown)
