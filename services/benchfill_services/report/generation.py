"""The folder of `benchfill generate`: items, a record for each, the report as page and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .folder import json_bytes, jsonl_bytes, merged, write_folder
from .generation_figures import figures_of
from .generation_page import page_of
from .words import count_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchfill_agents.pool.rollout import RolloutKey
    from benchfill_agents.textbook.calls import Spent
    from benchfill_agents.textbook.generation_report import GenerationReport

    from ..textbook.request import GenerateInputs

ITEMS, RECORDS, LEFT_OUT = "items.jsonl", "records.jsonl", "left_out.jsonl"


def write_generation(  # noqa: PLR0913 - keyword-only but for four
    out: Path,
    envelope: dict[str, Any],
    inputs: GenerateInputs,
    report: GenerationReport,
    *,
    in_flight_lost: Sequence[RolloutKey],
    under_review: int,
) -> dict[str, Any]:
    """Write the folder; return what ``--json`` prints.

    Raises
    ------
    InputError
        The folder cannot be written.
    """
    figures = figures_of(report)
    result = _result(inputs, report, in_flight_lost, under_review) | {"metrics": figures.values}
    document = merged(envelope, result)
    files = {
        ITEMS: jsonl_bytes(
            one.item.model_dump(mode="json") for one in report.accepted if one.item is not None
        ),
        RECORDS: jsonl_bytes(one.model_dump(mode="json") for one in report.candidates),
        LEFT_OUT: jsonl_bytes(one.model_dump(mode="json") for one in inputs.reading.left_out),
        "report.json": json_bytes(document, indent=2),
        "report.html": page_of(document, inputs, report, figures),
    }
    write_folder(out, files)
    return result


def _result(
    inputs: GenerateInputs,
    report: GenerationReport,
    in_flight_lost: Sequence[RolloutKey],
    under_review: int,
) -> dict[str, Any]:
    shown = {"status", "why", "warnings", "duplicates_by", "cells", "gaps", "chapters_failed"}
    content = report.model_dump(mode="json", include={*shown, "spent", "rollouts", "seconds"})
    return content | {
        "models": {role.lower(): model.name for role, model in inputs.models.by_role.items()},
        "sources": [
            {"id": one.id, "title": one.title, "file": one.file, "passages": len(one.passages)}
            for one in inputs.reading.chapters
        ],
        "left_out": len(inputs.reading.left_out),
        "notes": list(inputs.reading.notes),
        "accepted": [one.item.id for one in report.accepted if one.item is not None],
        "candidates": [
            {
                "place": one.place,
                "outcome": one.outcome,
                "competency": one.cell.competency,
                "bloom": one.cell.bloom,
                "item": one.item.id if one.item else None,
                "retries": one.retries,
                "first_check_passed": one.first_check_passed,
                "why": list(one.why),
                "usd": one.usd,
            }
            for one in report.candidates
        ],
        "under_review": under_review,
        "in_flight_lost": [key.model_dump() for key in in_flight_lost],
    }


def cost_words(spent: Sequence[Spent]) -> str:
    """Say what the calls took."""
    calls = sum(one.calls for one in spent)
    tokens = sum(one.prompt_tokens + one.completion_tokens for one in spent)
    unpriced = sum(one.unpriced for one in spent)
    dollars = f"${sum(one.usd for one in spent):.4f}"
    if unpriced:
        dollars = "price unknown" if unpriced == calls else f"{dollars} and {unpriced:,} unpriced"
    done = count_of(calls, "call")
    return f"{done} of Designer, Verifier and Solver, {tokens:,} tokens, {dollars}."
