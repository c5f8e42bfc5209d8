"""The work of `benchfill prune`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import benchfill as bf

from ..report.prune_page import PrunedBenchmark, prune_methods, prune_page
from ..report.result import print_result, write_result
from .fitting import FitOptions, read_and_fit
from .progress import working

if TYPE_CHECKING:
    from pathlib import Path

    from benchfill.pruning import PruningMethod

    from .output import CommandOutput


@dataclass(frozen=True)
class PruneOptions:
    """What the user asked for."""

    fit: FitOptions
    size: int
    target_dist: str
    method: PruningMethod
    reference: Path | None
    out: Path | None


def run_prune(options: PruneOptions, output: CommandOutput) -> None:
    """Read, fit, prune, compare with a reference, and write the report if a folder is given."""
    target = bf.parse_target(options.target_dist)
    scores = None if options.reference is None else bf.read_scores(options.reference)
    fit = read_and_fit(options.fit)
    seed = options.fit.seed
    with working(f"choosing {options.size:,} items"):
        pruning = bf.prune(fit, options.size, target=target, method=options.method, seed=seed)
        agreement = None
        if scores is not None:
            kept = {one.item for one in pruning.kept}
            agreement = bf.reference_agreement(fit.responses, scores, kept, seed=seed)
    output.result = {
        "target": options.target_dist,
        **pruning.model_dump(mode="json"),
        "reference": None if agreement is None else agreement.model_dump(mode="json"),
    }
    pruned = PrunedBenchmark(fit, pruning, agreement, target)
    page = prune_page(pruned)
    if options.out is not None:
        envelope = output.envelope()
        write_result(
            options.out, envelope, output.document(), page, prune_methods(envelope, pruned)
        )
    output.summary = lambda console: print_result(console, page, options.out)
