"""What the agents of a revision say in the thread: Markdown, with an item's text as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchfill_agents.messages import CalibrationRound, Rewriting, Validation

if TYPE_CHECKING:
    from benchfill_agents.calibrator import Calibration
    from benchfill_agents.rewriter import Child

    from .case import MessageKind

_OUTCOMES = {
    "accepted": "it fills the gap.",
    "outside": "it lies outside the gap.",
    "resolution_limited": "more rollouts would not place it better: the gap's ends are uncertain.",
    "undecided": "it may lie in the gap or beside it.",
}


def kind_of(content: Rewriting | Validation | CalibrationRound) -> MessageKind:
    """Return under which kind it stands in the thread."""
    if isinstance(content, Rewriting):
        return "rewriting"
    return "validation" if isinstance(content, Validation) else "calibration"


def words_of(content: Rewriting | Validation | CalibrationRound) -> str:
    """Say it in words."""
    if isinstance(content, Rewriting):
        return "\n\n".join(
            _rewriting(child, again=content.attempt > 0) for child in content.children
        )
    if isinstance(content, Validation):
        return _validation(content)
    if not content.calibrations:
        return "There is nothing to measure."
    return "\n\n".join(_calibration(one) for one in content.calibrations)


def _rewriting(child: Child, *, again: bool) -> str:
    item = child.item
    parts = [
        "I have mended it." if again else "I have written it anew.",
        f"**Question**\n\n{item.question}",
    ]
    if item.choices:
        parts.append("**Choices**\n\n" + "\n".join(f"- {choice}" for choice in item.choices))
    parts.append(f"**Answer**\n\n{item.answer}")
    if child.what_changed:
        parts.append(f"**What changed**\n\n{child.what_changed}")
    if child.rationale:
        parts.append(f"**Why**\n\n{child.rationale}")
    return "\n\n".join(parts)


def _validation(content: Validation) -> str:
    reasons = [reason for verdict in content.verdicts for reason in verdict.reasons]
    if not reasons:
        return "It passes all checks."
    ending = "The Rewriter shall mend it." if content.repair else "It goes no further."
    return " ".join(["It does not pass.", *reasons, ending])


def _calibration(measured: Calibration) -> str:
    return (
        f"Measured with {measured.rollouts} rollouts: z {measured.z:.3f}, 90% interval "
        f"{measured.q05:.3f} to {measured.q95:.3f}, P(in gap) {measured.p_in_gap:.2f}; "
        f"{_OUTCOMES[measured.outcome]}"
    )
