"""A fill as the service is asked for it, made of what the command line asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .jobs.record import FillBudget, FillSpec

if TYPE_CHECKING:
    from .fill_request import FillRequest


def spec_of(request: FillRequest, *, benchmark: str, version: int, pool: str) -> FillSpec:
    """Return the specification that asks for the same fill of a stored version."""
    return FillSpec(
        benchmark=benchmark,
        version=version,
        pool=pool,
        max_gaps=request.max_gaps,
        include_unresolved=request.include_unresolved,
        at=request.at,
        rounds=request.rounds,
        rewriter="template" if request.rewriter == "template" else "llm",
        writer=request.writer,
        judge=request.judge,
        calibration=request.calibration,
        min_p_in_gap=request.min_p_in_gap,
        anchors=request.anchors,
        seed=request.seed,
        budget=FillBudget(
            rollouts=request.budget_rollouts,
            tokens=request.budget_tokens,
            usd=request.budget_usd,
        ),
    )
