"""The work of `benchfill ranking`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import benchfill as bf

from ..report.ranking_page import ranking_methods, ranking_page
from ..report.result import print_result, write_result
from .fitting import FitOptions, read_and_fit
from .progress import working

if TYPE_CHECKING:
    from pathlib import Path

    from .output import CommandOutput


@dataclass(frozen=True)
class RankingOptions:
    """What the user asked for."""

    fit: FitOptions
    target_dist: str
    replicates: int
    delta: float
    out: Path | None


def run_ranking(options: RankingOptions, output: CommandOutput) -> None:
    """Read, fit, rank, and write the report if a folder is given."""
    target = bf.parse_target(options.target_dist)
    fit = read_and_fit(options.fit)
    with working(f"ranking {len(fit.responses.models):,} models"):
        ranking = bf.rank_models(
            fit,
            target=target,
            replicates=options.replicates,
            delta=options.delta,
            seed=options.fit.seed,
        )
    output.result = {"target": options.target_dist} | ranking.model_dump(mode="json")
    page = ranking_page(ranking, target)
    if options.out is not None:
        envelope = output.envelope()
        methods = ranking_methods(envelope, ranking, target)
        write_result(options.out, envelope, output.document(), page, methods)
    output.summary = lambda console: print_result(console, page, options.out)
