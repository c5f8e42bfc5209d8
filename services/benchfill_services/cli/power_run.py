"""The work of `benchfill power`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import benchfill as bf

from ..report.power_page import power_methods, power_page
from ..report.result import print_result, write_result
from .fitting import read_and_fit
from .progress import working

if TYPE_CHECKING:
    from pathlib import Path

    from .fitting import FitOptions
    from .output import CommandOutput


@dataclass(frozen=True)
class PowerOptions:
    """What the user asked for."""

    fit: FitOptions
    settings: bf.PowerSettings
    out: Path | None


def run_power(options: PowerOptions, output: CommandOutput) -> None:
    """Read, fit, simulate, and write the report if a folder is given."""
    fit = read_and_fit(options.fit)
    with working("simulating tests"):
        power = bf.power_map(fit, options.settings)
    output.result = power.model_dump(mode="json")
    page = power_page(power)
    output.summary = lambda console: print_result(console, page, options.out)
    if options.out is not None:
        envelope = output.envelope()
        write_result(options.out, envelope, output.result, page, power_methods(envelope, power))
