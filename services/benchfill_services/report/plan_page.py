"""The page of `benchfill plan`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import plan_new_items, plan_reruns
from .methods import MEASURE, Methods, fitted_methods
from .result import ResultPage, Section

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchfill.plan import Plan, PlanRequest


def plan_page(plan: Plan, request: PlanRequest, z: Sequence[float]) -> ResultPage:
    """Tell a plan; `z` are the difficulties of the items that are there."""
    lead: list[str] = []
    caveats: list[str] = []
    sections: list[Section] = []
    files: dict[str, bytes] = {}
    if plan.new_items is not None:
        lead += plan_new_items.lead(plan.new_items, request)
        caveats += plan_new_items.caveats(plan.new_items)
        sections.append(plan_new_items.section(plan.new_items, z))
    if plan.reruns is not None:
        lead.append(plan_reruns.lead(plan.reruns))
        caveats += plan_reruns.caveats(plan.reruns)
        sections.append(plan_reruns.section(plan.reruns))
        files[plan_reruns.FILE] = plan_reruns.rerun_csv(plan.reruns.reruns)
    return ResultPage(
        title="A plan for a benchmark's difficulty",
        lead=tuple(lead),
        caveats=tuple(caveats),
        sections=tuple(sections),
        files=files,
    )


def plan_methods(envelope: Mapping[str, Any], plan: Plan, request: PlanRequest) -> Methods:
    """Describe how a plan came about."""
    sentences = []
    if plan.new_items is not None:
        sentences.append(plan_new_items.sentence(plan.new_items, request))
    if plan.reruns is not None:
        sentences.append(plan_reruns.sentence(plan.reruns))
    return fitted_methods(envelope, (plan,), sentences, (MEASURE,))
