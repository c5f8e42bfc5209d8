"""What a plan says of new items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchfill.plots import plan_picture

from .methods import target_words
from .pictures import Picture, picture
from .result import Drawing, Section, Table
from .words import count_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchfill.plan import PlanRequest
    from benchfill.plan.result import Coverage, Expected, ItemPlan

PLACES_SAID = 5
MODELS_NAMED = 3
HARDLY = 0.02  # of what a plan is to make small
FEW_ANSWERS = 24  # simulated: 12 an item are too few for a plan, 96 are enough
_FIELDS = {"max-gap": "max_gap", "ddm": "ddm", "top-k": "top_k_sum"}
_NAMES = {"max-gap": "widest gap", "ddm": "mismatch", "top-k": "sum of the five widest gaps"}
_FIGURES = (("max_gap", "widest gap"), ("ddm", "mismatch"), ("top_k_sum", "5 widest gaps"))


def lead(plan: ItemPlan, request: PlanRequest) -> tuple[str, ...]:
    """Say where new items go, what that brings, and whether plain midpoints would do."""
    before, after, plain = (
        _aim(one, plan).mean for one in (plan.before, plan.after, plan.plain.coverage)
    )
    target = f" with {target_words(request.target)}" if plan.objective == "ddm" else ""
    placed = (
        f"{count_of(len(plan.items), 'new item')} at {_places(plan)} (0 is the benchmark's "
        f"easiest item, 1 its hardest) would bring the {_NAMES[plan.objective]}{target} from "
        f"{before:.3f} to an expected {after:.3f}."
    )
    if plan.plain.beaten:
        against = (
            f"Midpoints of the widest gaps would leave {plain:.3f}; of the difficulties that fit "
            f"the answers, the plan is better under {plan.plain.p_better:.0%} and worse under "
            f"{plan.plain.p_worse:.0%}."
        )
    else:
        against = (
            "Plain midpoints of the widest gaps do as well as anything else that was found, so "
            "these are they."
        )
    return (placed, against, *_measuring(plan))


def _measuring(plan: ItemPlan) -> tuple[str, ...]:
    known = sum(item.rollouts is not None for item in plan.items)
    if not known:
        return ()
    those = f"{known:,} of them lie"
    if known == len(plan.items):
        those = "it lies" if known == 1 else "they lie"
    return (
        f"To measure where {those}, with a standard error of an eighth of the room between the "
        f"neighbours, takes about {plan.rollouts:,} answers.",
    )


def caveats(plan: ItemPlan) -> tuple[str, ...]:
    """Say what the plan takes for granted, and what it cannot promise."""
    said = []
    before, after = (_aim(one, plan).mean for one in (plan.before, plan.after))
    if before - after < HARDLY * before:
        said.append(
            f"So few new items hardly change the {_NAMES[plan.objective]}: by "
            f"{max(1 - after / before, 0):.1%}."
        )
    if plan.plain.beaten and plan.answers_per_item < FEW_ANSWERS:
        said.append(
            f"An item was answered {plan.answers_per_item:,} times: on simulated benchmarks with "
            "12 answers an item, plans for the widest gaps did no better in truth than midpoints."
        )
    if plan.placement_sd == 0:
        said.append(
            "The plan takes every new item to land where it was planned; --placement-sd 0.025 "
            "would reckon with what simulated fills show."
        )
    unsure, count = sum(item.rollouts_in_gap is None for item in plan.items), len(plan.items)
    if unsure:
        which = "The new item" if count == 1 else f"Of the new items {unsure:,}"
        said.append(
            f"{which} cannot be told apart from the neighbouring items with probability .9, "
            "however often it is answered: those are too uncertain themselves and should be run "
            "again."
        )
    return tuple(said)


def section(plan: ItemPlan, z: Sequence[float]) -> Section:
    """Show the places, and what is expected of the whole; `z` are the items that are there."""
    return Section(
        title="New items",
        words=(
            "The scale runs from the benchmark's easiest item (0) to its hardest (1). Since the "
            "answers leave every difficulty uncertain, the figures are means over many "
            "difficulties that fit the answers, with the range that holds 90% of them. The widest "
            "gap is the widest stretch of difficulty without an item; the mismatch is how far "
            "difficulties must move on average to follow the target. The plan was made on half of "
            "those difficulties and is judged here on the other half.",
        ),
        drawings=(
            Drawing(
                lambda: _picture(plan, z),
                "Above: how wide the stretch without an item is around each difficulty, on "
                "average. Middle: the items that are there and the planned ones. Below: what is "
                "expected of the whole.",
            ),
        ),
        tables=(_coverage_table(plan), _items_table(plan), _models_table(plan)),
    )


def sentence(plan: ItemPlan, request: PlanRequest) -> str:
    """Say how the places came about, for the methods paragraph."""
    target = f" ({target_words(request.target)})" if plan.objective == "ddm" else ""
    before, after, plain = (
        _interval(_aim(one, plan)) for one in (plan.before, plan.after, plan.plain.coverage)
    )
    return (
        f"Places for {count_of(len(plan.items), 'new item')} were chosen on the z scale, where 0 "
        "and 1 are the posterior means of the easiest and the hardest item, so that the expected "
        f"{_NAMES[plan.objective]}{target} over joint posterior draws is smallest (sample-average "
        f"approximation; errors of placement normal with sd {plan.placement_sd:g}), and judged on "
        f"other draws: {after} against {plain} with midpoints of the widest gaps and {before} "
        "without new items (posterior means with 90% intervals)."
    )


def _places(plan: ItemPlan) -> str:
    places = [f"{item.z:.3f}" for item in plan.items]
    if len(places) > PLACES_SAID:
        return f"difficulties from {places[0]} to {places[-1]}"
    joined = places[0] if len(places) == 1 else f"{', '.join(places[:-1])} and {places[-1]}"
    return f"difficulty {joined}"


def _coverage_table(plan: ItemPlan) -> Table:
    states = (plan.before, plan.plain.coverage, plan.after)
    return Table(
        "What is expected (mean, and the range that holds 90%)",
        ("", "now", "plain midpoints", "the plan"),
        tuple(
            (title, *(_interval(getattr(one, name)) for one in states)) for name, title in _FIGURES
        ),
    )


def _items_table(plan: ItemPlan) -> Table:
    return Table(
        "Where new items go, and the answers it takes to measure z, and to be sure (.9) that the "
        "new item lies between its neighbours",
        ("z", "room", "to measure", "to be sure", "easier", "harder"),
        tuple(
            (
                item.z,
                None if item.half_width is None else 2 * item.half_width,
                item.rollouts,
                item.rollouts_in_gap,
                item.left_item,
                item.right_item,
            )
            for item in plan.items
        ),
    )


def _models_table(plan: ItemPlan) -> Table:
    named = min(MODELS_NAMED, *(len(item.models) for item in plan.items))
    return Table(
        "Models that tell most about each new item (more in report.json)",
        ("z", "logits", "best", "second", "third")[: 2 + named],
        tuple((item.z, item.b, *item.models[:named]) for item in plan.items),
        on_terminal=False,
    )


def _picture(plan: ItemPlan, z: Sequence[float]) -> Picture:
    figures = "; ".join(
        f"{title} {_interval(getattr(plan.before, name))} now, "
        f"{_interval(getattr(plan.plain.coverage, name))} with plain midpoints, "
        f"{_interval(getattr(plan.after, name))} with the plan"
        for name, title in _FIGURES
    )
    return picture(
        "plan.png",
        "Expected spacing around each difficulty before and after "
        f"{count_of(len(plan.items), 'new item')} at {_places(plan)}; {figures}.",
        lambda theme: plan_picture(z, plan, theme=theme),
    )


def _aim(coverage: Coverage, plan: ItemPlan) -> Expected:
    """Return the figure that the plan makes small."""
    figure: Expected = getattr(coverage, _FIELDS[plan.objective])
    return figure


def _interval(figure: Expected) -> str:
    return f"{figure.mean:.3f} ({figure.q05:.3f}–{figure.q95:.3f})"
