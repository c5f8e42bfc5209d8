"""What a test of progress means, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .text import one_line
from .words import count_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from benchfill.progress import ModelProgress, Progress

NAME = 50
LISTED = 3 * NAME
FEW_ITEMS = 3
SHOWN_NAMES = 5


@dataclass(frozen=True, eq=False)
class PlacedBy:
    """Where the difficulties come from: z of the items in use, and the models left out."""

    z: NDArray[np.float64]
    pooled: bool
    left_out: tuple[str, ...]


def lead(progress: Progress) -> tuple[str, ...]:
    """Give the answer in a sentence or two."""
    if len(progress.tests) == 1:
        return (_verdict(progress.tests[0], progress), _overall(progress.tests[0]))
    better = [one for one in progress.tests if one.detected]
    models = f"{len(progress.tests)} models"
    where = "somewhere" if progress.interval is None else _interval(progress)
    if not better:
        return (f"None of {models} shows a gain {where} that chance does not explain.",)
    named = _listed([one.after for one in better])
    verb = "has" if len(better) == 1 else "have"
    return (
        f"Of {models}, {len(better)} {verb} gained {where} (chance would say so of any of them "
        f"with probability at most {progress.alpha:g}): {named}.",
    )


def _verdict(one: ModelProgress, progress: Progress) -> str:
    name = pair_name(one)
    if one.local is None:
        return f"{name}: no part of the difficulty scale shows a gain."
    gain, where = one.local.gain, place(one)
    items = count_of(gain.items, "item")
    floor = progress.permutations is not None and one.p * (progress.permutations + 1) < 1.5
    chance_p = f"{'at most ' if floor else ''}{p_words(one.p)}"
    if one.detected:
        chance = "anywhere on the scale" if progress.interval is None else "there"
        return (
            f"{name} has become better at items {where}: of {items} there it solved "
            f"{gain.before:.0%} before and {gain.after:.0%} after ({gain.gain:+.3f}, limits "
            f"{gain.low:+.3f} to {gain.high:+.3f}); by chance alone so clear a gain {chance} has "
            f"probability {chance_p}."
        )
    if progress.interval is not None:
        return (
            f"{name} shows no gain at items {where} that chance does not explain: of {items} it "
            f"solved {gain.before:.0%} before and {gain.after:.0%} after (p = {p_words(one.p)})."
        )
    return (
        f"{name}: no part of the difficulty scale shows a gain that chance does not explain; the "
        f"clearest lies at items {where} ({items}, {gain.gain:+.3f}), and chance alone does as "
        f"well somewhere with probability {p_words(one.p)}."
    )


def _overall(one: ModelProgress) -> str:
    gain = one.overall
    return (
        f"Over all items ({gain.items:,}) its success rate went from {gain.before:.3f} to "
        f"{gain.after:.3f} ({gain.gain:+.3f}, limits {gain.low:+.3f} to {gain.high:+.3f}; "
        f"p of a gain {p_words(one.overall_p)})."
    )


def blind(progress: Progress) -> str:
    """Name the widest stretch without an item."""
    zone = progress.blind[0]
    lies = "lies" if zone.verdict == "empty" else "seems to lie"
    return (
        f"No item {lies} between {zone.z_left:.3f} and {zone.z_right:.3f} on the difficulty scale "
        "(0: easiest item, 1: hardest): a gain there leaves no trace."
    )


def invisible(progress: Progress) -> str:
    """Say what no number of rollouts can show (paper, section 2.2)."""
    return (
        "A gain of any size on an open interval of width <= G can be invisible however many "
        f"rollouts are taken; here G = {progress.max_gap:.3f}. Only items in the gap would show "
        "it. A gap is called empty when its items' difficulties are known well enough to say so."
    )


def how(progress: Progress) -> tuple[str, ...]:
    """Say what the p-value and the limits mean."""
    test = (
        "The p-value of the interval is exact, if it was chosen before these responses were looked "
        "at; else --scan is the test to take."
        if progress.interval is not None
        else "All intervals of at least three items next to one another in difficulty were tried, "
        "and the p-value is that of the best of them: how often chance alone does as well anywhere."
    )
    return (
        "Chance is what is left when each item's rollouts before and after are mixed up: then "
        "nothing has changed, and any gain is luck. " + test,
        f"Limits hold with probability {1 - progress.alpha:.3g} each"
        + (
            "."
            if progress.interval is not None
            else "; those of the best interval hold for all intervals at once, so they are wide."
        ),
    )


def caveats(progress: Progress, placed: PlacedBy) -> tuple[str, ...]:
    """Say what to keep in mind with these figures."""
    said = [*_caveats_of_tests(progress)]
    left = progress.left_out
    for names, what in (
        (left.items_only_before, "items stand only in the file before"),
        (left.items_only_after, "items stand only in the file after"),
        (left.items_without_difficulty, "items have no difficulty"),
        (left.models_only_before, "models stand only in the file before"),
        (left.models_only_after, "models stand only in the file after"),
        (left.models_untested, "models answered too few of these items both times"),
    ):
        if names:
            said.append(f"Left out, {len(names):,} {what}: {_listed(names)}.")
    if placed.pooled:
        said.append(
            "The items are placed by the responses before and after together, since those before "
            "alone would make luck look like a gain among hard items; --difficulties takes others."
        )
    if placed.left_out:
        said.append(
            f"{_listed(placed.left_out)} did not help to place the items: responses under test "
            "would make luck look like a gain among hard items."
        )
    if progress.blind[0].verdict == "unresolved":
        said.append(
            "Whether the widest gap is empty is not certain: the items' difficulties are known "
            "too roughly."
        )
    return tuple(said)


def _caveats_of_tests(progress: Progress) -> list[str]:
    said = []
    unchanged = [pair_name(one) for one in progress.tests if one.unchanged]
    if unchanged:
        said.append(f"The responses before and after are the very same: {_listed(unchanged)}.")
    unanswered = [
        f"{pair_name(one)} ({count_of(one.unanswered, 'item')})"
        for one in progress.tests
        if one.unanswered
    ]
    if unanswered:
        said.append(
            f"Items without a rollout at one of the two times are left out: {_listed(unanswered)}."
        )
    few = [
        f"{pair_name(one)} ({count_of(one.local.gain.items, 'item')})"
        for one in progress.tests
        if one.scanned is None and one.local and one.local.gain.items < FEW_ITEMS
    ]
    if few:
        said.append(
            f"Few items lie in the interval: {_listed(few)}; the test is exact, but speaks of "
            "hardly more than them."
        )
    if any(one.scanned and not one.scanned.complete for one in progress.tests):
        said.append(
            "With so many items the scan tried not all intervals: they begin and end at no more "
            "than 1,000 places, and beyond 32 places each width is a tenth greater than the last."
        )
    if progress.randomised_ties:
        said.append("Ties were decided by lot, so another seed can give another p-value.")
    return said


def pair_name(one: ModelProgress) -> str:
    """Name the model before and after, on one line."""
    before, after = one_line(one.before, NAME), one_line(one.after, NAME)
    return after if before == after else f"{before} → {after}"


def place(one: ModelProgress) -> str:
    """Say where the tested interval's items lie."""
    if one.local is None:
        return "nowhere"
    return f"of difficulty {one.local.z_left:.3f} to {one.local.z_right:.3f}"


def _interval(progress: Progress) -> str:
    left, right = progress.interval or (0.0, 1.0)
    return f"from z = {left:g} to {right:g}"


def p_words(p: float) -> str:
    """Write a p-value; a tiny one is not spelt out."""
    return "under 0.0001" if p < 1e-4 else f"{p:.4f}"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(one_line(name, LISTED) for name in names[:SHOWN_NAMES])
    more = len(names) - SHOWN_NAMES
    return f"{shown} and {more:,} more" if more > 0 else shown
