"""The metrics of a generation: coverage, pass rates by Bloom level, difficulty, cost."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchfill.textbook.metrics import (
    CandidateRow,
    difficulty,
    generation_metrics,
    separability,
)

from .result import Table

if TYPE_CHECKING:
    from benchfill.textbook.metrics import GenerationMetrics
    from benchfill_agents.textbook.candidate import Candidate
    from benchfill_agents.textbook.generation_report import GenerationReport


@dataclass(frozen=True)
class Figures:
    """The metrics as JSON, and as tables for the page."""

    values: dict[str, Any]
    tables: tuple[Table, ...]


def figures_of(report: GenerationReport) -> Figures:
    """Compute the metrics."""
    metrics = generation_metrics(
        [_row(one) for one in report.candidates],
        list(dict.fromkeys(one.cell.competency for one in report.cells)),
        [f"{chapter}/{node}" for chapter, nodes in report.knowledge.items() for node in nodes],
    )
    measured = _accuracies(report)
    values = metrics.model_dump(mode="json") | {
        "difficulty": difficulty(list(measured.values())),
        "separability": separability(list(measured.values())),
        "accuracies": measured,
    }
    return Figures(values, (_overall(metrics, values), _by_bloom(metrics)))


def _row(one: Candidate) -> CandidateRow:
    return CandidateRow(
        competency=one.cell.competency,
        bloom=one.cell.bloom,
        # a node's id is unique within its chapter only
        knowledge=tuple(f"{one.chapter}/{node}" for node in one.knowledge),
        outcome=one.outcome,
        first_check_passed=one.first_check_passed is True,
        retries=one.retries,
        cost=one.usd,
    )


def _accuracies(report: GenerationReport) -> dict[str, float]:
    """Return each pool model's share of right answers to the measured items, unequal numbers of
    answers an item counting as they are.
    """  # noqa: D205 - one sentence
    correct: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for candidate in report.accepted:
        for one in candidate.calibration.counts if candidate.calibration else ():
            correct[one.model] += one.correct
            asked[one.model] += one.n
    return {model: correct[model] / n for model, n in asked.items() if n}


def _overall(metrics: GenerationMetrics, values: dict[str, Any]) -> Table:
    return Table(
        "Coverage: normalised entropy, 1 where all are covered alike. Difficulty: 1 minus the best "
        "model's accuracy; separability: mean absolute deviation of accuracies; both only where "
        "items were measured. Cost: of all calls, for an accepted item.",
        ("figure", "value"),
        (
            ("entropy over competencies", metrics.entropy_competencies),
            ("entropy over knowledge nodes", metrics.entropy_knowledge),
            ("difficulty", values["difficulty"]),
            ("separability", values["separability"]),
            ("US dollars an accepted item", metrics.cost_per_item),
        ),
    )


def _by_bloom(metrics: GenerationMetrics) -> Table:
    return Table(
        "Passed at the first check (final check and blind solve), and in the end, by level.",
        ("level", "candidates", "first", "95% from", "to", "in the end", "retries a candidate"),
        tuple(
            (
                one.bloom,
                one.first.n,
                one.first.share,
                one.first.low,
                one.first.high,
                one.final.share,
                one.mean_retries,
            )
            for one in metrics.by_bloom
        ),
    )
