"""The page of `benchfill generate`: items with their solution graphs, and what was dropped."""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ..textbook.graph_drawing import graph_svg
from .methods import AUTOGEN, Methods
from .page import render
from .result import Table

if TYPE_CHECKING:
    from benchfill_agents.textbook.candidate import Candidate
    from benchfill_agents.textbook.generation_report import GenerationReport

    from ..textbook.request import GenerateInputs
    from .generation_figures import Figures

MOST_ITEMS = 60  # with graphs in the page; the others stand in the files
MOST_LEFT_OUT = 200
FLAME = (
    "Fine-Grained Benchmark Generation for Comprehensive Evaluation of Foundation Models (2026). "
    "arXiv:2605.18824."
)
GUESSING = (
    "Deng, C., Zhao, Y., Tang, X., Gerstein, M., & Cohan, A. (2023). Investigating data "
    "contamination in modern benchmarks for large language models. arXiv:2311.09783."
)
STATUSES = {
    "complete": "Every cell of the blueprint has its items.",
    "short": "Some cells have fewer items than wanted: their candidates were dropped.",
    "gaps_filled": "Every gap that could be filled is filled.",
    "budget_exhausted": "The budget ended before the blueprint was full.",
    "interrupted": "The run was interrupted; the same command goes on where it was.",
    "provider_failed": "A provider failed; the same command goes on where it was.",
}
OUTCOMES = {
    "accepted": "accepted",
    "dropped": "dropped",
    "duplicate": "a duplicate",
    "failed": "its calls failed",
}


@dataclass(frozen=True)
class ItemSection:
    """What the page shows of one accepted item."""

    candidate: Candidate
    drawing: Markup
    spans: tuple[str, ...]
    usd: float | None


def page_of(
    document: dict[str, Any],
    inputs: GenerateInputs,
    report: GenerationReport,
    figures: Figures,
) -> bytes:
    """Render the page."""
    shown = report.accepted[:MOST_ITEMS]
    return render(
        "generation.html.jinja",
        title="New items from a textbook",
        lead=_lead(report),
        caveats=_caveats(report),
        report=report,
        outcomes=OUTCOMES,
        items=[_item(one) for one in shown],
        items_left_out=len(report.accepted) - len(shown),
        others=[one for one in report.candidates if one.outcome != "accepted"],
        tables=(_cells(report), *figures.tables, _spent(report)),
        left_out=inputs.reading.left_out[:MOST_LEFT_OUT],
        more_left_out=max(0, len(inputs.reading.left_out) - MOST_LEFT_OUT),
        notes=inputs.reading.notes,
        document=document,
        methods=methods_of(document, report),
        files=["items.jsonl", "records.jsonl", "left_out.jsonl", "report.json"],
    )


def _lead(report: GenerationReport) -> tuple[str, ...]:
    dropped = sum(one.outcome == "dropped" for one in report.candidates)
    twins = sum(one.outcome == "duplicate" for one in report.candidates)
    failed = sum(one.outcome == "failed" for one in report.candidates)
    wrote = len(report.candidates)
    return (
        f"Accepted: {len(report.accepted)} of {wrote} candidates. Dropped: {dropped}; repeating "
        f"another item: {twins}; failed in a call: {failed}. {STATUSES[report.status]}",
        "The checks and other models found nothing wrong with them. That is no proof: none may "
        "enter a benchmark before experts have approved it.",
    )


def _caveats(report: GenerationReport) -> tuple[str, ...]:
    found = [*report.warnings]
    if report.why:
        found.append(report.why[0].upper() + report.why[1:])
    if "words" in report.duplicates_by:
        found.append(f"Duplicates were looked for by {report.duplicates_by}.")
    found += [
        f"The chapter {chapter} could not be used: {why}"
        for chapter, why in report.chapters_failed.items()
    ]
    if any(one.item and not one.item.metadata.get("attribution") for one in report.accepted):
        found.append(
            "No attribution was named. If the source's licence asks for one, give --attribution "
            "and --licence: they go into every item."
        )
    return tuple(found)


def _item(candidate: Candidate) -> ItemSection:
    drawing = graph_svg(candidate.graph) if candidate.graph is not None else Markup()
    return ItemSection(
        candidate, drawing, tuple(one.cite() for one in candidate.spans), candidate.usd
    )


def _cells(report: GenerationReport) -> Table:
    return Table(
        "The cells of the blueprint.",
        ("competency", "level", "difficulty", "wanted", "accepted", "dropped", "twins", "failed"),
        tuple(
            (
                one.cell.competency,
                one.cell.bloom,
                one.cell.difficulty,
                one.cell.count,
                one.accepted,
                one.dropped,
                one.duplicates,
                one.failed,
            )
            for one in report.cells
        ),
    )


def _spent(report: GenerationReport) -> Table:
    return Table(
        "What the calls took. US dollars by litellm's prices; unpriced calls count as free.",
        ("role", "model", "calls", "prompt tokens", "completion tokens", "US dollars", "unpriced"),
        tuple(
            (
                one.role,
                one.model,
                one.calls,
                one.prompt_tokens,
                one.completion_tokens,
                one.usd,
                one.unpriced,
            )
            for one in report.spent
        ),
    )


def methods_of(document: dict[str, Any], report: GenerationReport) -> Methods:
    """Describe how the items came about."""
    models = document["models"]
    version = document["benchfill_version"]
    measured = any(one.calibration is not None for one in report.candidates)
    paragraph = (
        f"Items were written with BenchFill {version} from {_chapters(document)}, "
        f"solution graph first (after Flame), by {models['designer']}, judged by "
        f"{models['verifier']}, and solved without the key by {models['solver']}. Graphs and "
        "options were checked by computation after each edit; keys were balanced over the options "
        f"A to E. {len(report.candidates)} candidates gave {len(report.accepted)} items. "
        f"Duplicates were found by {report.duplicates_by}."
    )
    if measured:
        paragraph += (
            f" Difficulties were measured on a pool of models, {report.rollouts:,} rollouts in all."
        )
    names = ("benchfill", "autogen-agentchat", "litellm", "sympy")
    versions = tuple((name, importlib.metadata.version(name)) for name in names)
    return Methods(paragraph, (FLAME, AUTOGEN, GUESSING), versions)


def _chapters(document: dict[str, Any]) -> str:
    count = len(document["sources"])
    return "a chapter" if count == 1 else f"{count} chapters"
