"""What a plan says of items to run again."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from .result import Section, Table
from .text import one_line
from .words import count_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchfill.plan.result import Rerun, RerunPlan

FILE = "rerun.csv"
NAME = 60


def lead(plan: RerunPlan) -> str:
    """Say what the further answers are expected to decide."""
    if not plan.gaps:
        return (
            f"There is nothing to decide: of the {plan.empty + plan.occupied:,} widest gaps "
            f"{plan.empty:,} {_are(plan.empty)} surely empty, and in {plan.occupied:,} items "
            "surely lie. No further answers are planned."
        )
    items = count_of(len({one.item for one in plan.reruns}), "item")
    decided = f"{plan.expected_decided:.1f} of the {len(plan.gaps)} widest undecided gaps would"
    average = " on average"
    if len(plan.gaps) == 1:
        decided = "the one undecided gap would"
        average = f" with probability {plan.expected_decided:.2f}"
    return (
        f"With {plan.budget:,} further answers to {items} that are there, {decided} be decided"
        f"{average}: found surely empty, or surely not. {FILE} lists which model to ask which "
        "item how often."
    )


def caveats(plan: RerunPlan) -> tuple[str, ...]:
    """Say so when the budget will probably decide nothing."""
    if not plan.gaps or plan.expected_decided >= 0.5:
        return ()
    found = [gap.rollouts_for_even_chance for gap in plan.gaps]
    known = [rollouts for rollouts in found if rollouts is not None]
    cheapest = (
        f"to decide one gap with even odds takes about {min(known):,}"
        if known
        else "64 times as many would not decide one with even odds"
    )
    return (f"So few further answers will probably decide nothing: {cheapest}.",)


def section(plan: RerunPlan) -> Section:
    """Show the undecided gaps, and what to run again."""
    return Section(
        title="Items to run again",
        words=(
            f"Of the {plan.empty + plan.occupied + plan.undecided:,} widest gaps, {plan.empty:,} "
            f"{_are(plan.empty)} surely empty, in {plan.occupied:,} items surely lie, and "
            f"{plan.undecided:,} {_are(plan.undecided)} undecided. What further answers would show "
            "was simulated from what is known now. A gap with a border item that all or none "
            "solved can only be called empty once that item was seen otherwise.",
        ),
        tables=(_gaps_table(plan), _pairs_table(plan.reruns)),
    )


def sentence(plan: RerunPlan) -> str:
    """Say how the answers were given out, for the methods paragraph."""
    return (
        f"{plan.budget:,} further rollouts were given to (item, model) pairs so as to raise the "
        "chance that the widest undecided gaps are decided (P(hole) of at least .95 or at most "
        ".05), by preposterior analysis: responses were simulated under posterior draws, and each "
        f"item's draws weighed by their likelihood. Of {count_of(len(plan.gaps), 'gap')} "
        f"{plan.expected_decided:.2f} are expected to be decided."
    )


def rerun_csv(reruns: Sequence[Rerun]) -> bytes:
    """Return the pairs as CSV with the columns model, item and rollouts."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(("model", "item", "rollouts"))
    writer.writerows((one.model, one.item, one.rollouts) for one in reruns)
    return buffer.getvalue().encode("utf-8", "surrogatepass")


def _gaps_table(plan: RerunPlan) -> Table:
    return Table(
        "Undecided gaps: answers planned, what they will then be found to be (probability), and "
        "answers for even odds",
        ("from z", "to z", "P(hole)", "answers", "empty", "occupied", "even odds", "between"),
        tuple(
            (
                gap.z_left,
                gap.z_right,
                gap.p_hole,
                gap.rollouts,
                gap.p_empty,
                gap.p_occupied,
                gap.rollouts_for_even_chance,
                f"{one_line(gap.left_item, NAME)} and {one_line(gap.right_item, NAME)}",
            )
            for gap in plan.gaps
        ),
    )


def _pairs_table(reruns: Sequence[Rerun]) -> Table:
    return Table(
        f"What to run again (the lines of {FILE})",
        ("item", "model", "answers"),
        tuple((one.item, one.model, one.rollouts) for one in reruns),
    )


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
