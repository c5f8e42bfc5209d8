"""What changed between two versions of a benchmark, in words, tables and one picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchfill.plots.rulers import NewItem, Ruler, gap_rulers

from .methods import MEASURE, fitted_methods
from .pictures import picture
from .result import Drawing, ResultPage, Section, Table
from .text import one_line
from .words import count_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchfill.diagnosis import Diagnosis, Estimate

    from ..review.diff import AddedItem, BeforeAfter, Measures, Place, VersionDiff
    from .methods import Methods
    from .pictures import Picture

NAME = 40


@dataclass(frozen=True)
class ShownDiff:
    """All that the page tells of; both versions are diagnosed."""

    diff: VersionDiff
    names: tuple[str, str]
    before: Diagnosis
    after: Diagnosis

    @property
    def measures(self) -> Measures:
        """The measures, which are there."""
        if self.diff.measures is None:
            raise TypeError(self.names)
        return self.diff.measures


def diff_page(shown: ShownDiff, *, lead: tuple[str, ...] = ()) -> ResultPage:
    """Tell what changed; `lead` comes before it."""
    return ResultPage(
        title="Two versions of a benchmark",
        lead=(*lead, _items_words(shown.diff), *_measure_words(shown.measures)),
        caveats=_caveats(shown),
        sections=(_measures(shown), _new_items(shown.diff), _others(shown.diff)),
    )


def diff_methods(envelope: Mapping[str, Any], shown: ShownDiff) -> Methods:
    """Describe the comparison so that it can be pasted into a paper."""
    measures = shown.measures
    sentence = (
        "Both versions of the benchmark were fitted apart, and each scaled to [0, 1] by its own "
        "easiest and hardest item. Posterior medians with 90% intervals: the 1-Wasserstein "
        f"distance to the uniform distribution {_change(measures.ddm)}; the widest gap "
        f"{_change(measures.max_gap)}; the sum of the {measures.k} widest "
        f"{_change(measures.top_k_sum)}."
    )
    return fitted_methods(envelope, (shown.before, shown.after), [sentence], [MEASURE])


def _items_words(diff: VersionDiff) -> str:
    changed = sum(one.content for one in diff.changed)
    parts = [
        f"{count_of(len(diff.added), 'item')} new",
        f"{len(diff.removed):,} gone",
        f"{len(diff.changed):,} changed" + (f" ({changed:,} in what is asked)" if changed else ""),
    ]
    return (
        f"{diff.items_before:,} items before, {diff.items_after:,} after: {', '.join(parts)}; "
        f"{diff.responses.cells_added:,} cells and "
        f"{diff.responses.rollouts_after - diff.responses.rollouts_before:+,} rollouts."
    )


def _measure_words(measures: Measures) -> tuple[str, ...]:
    said = [
        f"The mismatch (DDM) goes {_change(measures.ddm)}, the widest gap "
        f"{_change(measures.max_gap)} (posterior medians, 90% intervals)."
    ]
    widest = measures.widest
    if widest is None:
        return tuple(said)
    where = f"from {widest.z_left:.3f} to {widest.z_right:.3f}"
    if widest.closed is None:
        said.append(f"What became of the widest gap, {where}, cannot be said: a border is gone.")
    elif widest.closed:
        said.append(
            f"The widest gap, {where}, is closed: {count_of(len(widest.inside), 'item')} "
            f"{'lies' if len(widest.inside) == 1 else 'lie'} in it now, and the widest spacing "
            f"left is {widest.open_share or 0:.0%} of it."
        )
    else:
        said.append(f"The widest gap, {where}, is still open.")
    return tuple(said)


def _change(one: BeforeAfter) -> str:
    return f"from {_estimate(one.before)} to {_estimate(one.after)}"


def _estimate(one: Estimate) -> str:
    return f"{one.value:.3f} [{one.q05:.3f}, {one.q95:.3f}]"


def _caveats(shown: ShownDiff) -> tuple[str, ...]:
    said = []
    if not shown.measures.same_ends:
        said.append(
            "The easiest or the hardest item is another one now, so that the two scales are not "
            "of one piece: the same z is not the same difficulty."
        )
    asked = [one.id for one in shown.diff.changed if one.content]
    if asked:
        said.append(
            f"{one_line(asked[0], NAME)} {'and others ' if len(asked) > 1 else ''}asks something "
            "else now, but its old responses are counted: measure it again."
        )
    lost = shown.diff.responses.cells_removed + shown.diff.responses.cells_changed
    if lost:
        said.append(f"{count_of(lost, 'cell')} of the earlier responses changed or went.")
    return tuple(said)


def _measures(shown: ShownDiff) -> Section:
    one = shown.measures
    rows = [
        (name, *_numbers(pair.before), *_numbers(pair.after))
        for name, pair in (
            ("mismatch (DDM)", one.ddm),
            ("widest gap", one.max_gap),
            (f"top-{one.k} sum", one.top_k_sum),
        )
    ]
    gaps = [
        (when, gap.z_left, gap.z_right, gap.width, gap.width_q05, gap.left_item, gap.right_item)
        for when, found in (("before", one.empty_before), ("after", one.empty_after))
        for gap in found
    ]
    return Section(
        "Gaps",
        words=(f"Empty gaps: {len(one.empty_before)} before, {len(one.empty_after)} after.",),
        drawings=(
            Drawing(
                lambda: _rulers(shown),
                "Items as strokes, new ones as diamonds: hollow where they were measured to lie on "
                "the earlier scale, full where the refit puts them.",
            ),
        ),
        tables=(
            Table(
                "Measures, with 90% intervals",
                ("measure", "before", "5%", "95%", "after", "5%", "95%"),
                tuple(rows),
            ),
            Table(
                "Empty gaps",
                ("version", "from z", "to z", "width", "width 5%", "easier item", "harder item"),
                tuple(gaps),
                on_terminal=False,
            ),
        ),
    )


def _numbers(one: Estimate) -> tuple[float, float, float]:
    return one.value, one.q05, one.q95


def _new_items(diff: VersionDiff) -> Section:
    short = [
        (
            one.id,
            one.measured.z if one.measured else None,
            one.refitted.z if one.refitted else None,
            one.provenance.p_in_gap if one.provenance else None,
            one.provenance.rollouts if one.provenance else None,
        )
        for one in diff.added
    ]
    return Section(
        "New items",
        words=() if diff.added else ("No item came in.",),
        tables=(
            Table(
                "New items",
                ("item", "z measured", "z after refit", "P(in gap)", "rollouts"),
                tuple(short),
                on_page=False,
            ),
            Table(
                "New items as they were measured, on the earlier scale, with 90% intervals",
                ("item", "parent", "aimed at", "z", "5%", "95%", "P(in gap)", "rollouts"),
                tuple(_as_measured(one) for one in diff.added),
                on_terminal=False,
            ),
            Table(
                "New items after the refit, on the later scale, with 90% intervals",
                ("item", "z", "5%", "95%", "reviewers"),
                tuple((one.id, *_interval(one.refitted), _reviewers(one)) for one in diff.added),
                on_terminal=False,
            ),
        ),
    )


def _as_measured(one: AddedItem) -> tuple[str | float | int | None, ...]:
    origin = one.provenance
    return (
        one.id,
        (origin.parent if origin else None) or "–",
        origin.target_z if origin else None,
        *_interval(one.measured),
        origin.p_in_gap if origin else None,
        origin.rollouts if origin else None,
    )


def _reviewers(one: AddedItem) -> str:
    if one.provenance is None:
        return "–"
    names = sorted({said.reviewer for said in one.provenance.reviews})
    return ", ".join([*names, *(["adjudicated"] if one.provenance.adjudicated else [])])


def _interval(place: Place | None) -> tuple[float | None, float | None, float | None]:
    return (place.z, place.q05, place.q95) if place else (None, None, None)


def _others(diff: VersionDiff) -> Section:
    responses = diff.responses
    return Section(
        "Items and responses",
        tables=(
            Table(
                "Items that changed",
                ("item", "fields", "what is asked"),
                tuple(
                    (one.id, ", ".join(one.fields), "another" if one.content else "the same")
                    for one in diff.changed
                ),
            ),
            Table("Items that are gone", ("item",), tuple((one,) for one in diff.removed)),
            Table(
                "Responses",
                ("what", "count"),
                (
                    ("models added", len(responses.models_added)),
                    ("models removed", len(responses.models_removed)),
                    ("cells added", responses.cells_added),
                    ("cells removed", responses.cells_removed),
                    ("cells changed", responses.cells_changed),
                    ("rollouts before", responses.rollouts_before),
                    ("rollouts after", responses.rollouts_after),
                ),
                on_terminal=False,
            ),
        ),
    )


def _rulers(shown: ShownDiff) -> Picture:
    new = {one.id for one in shown.diff.added}
    measured = [one.measured for one in shown.diff.added if one.measured]
    refitted = [one.refitted for one in shown.diff.added if one.refitted]
    old = _ruler(shown.names[0], shown.before, new, measured)
    later = _ruler(shown.names[1], shown.after, new, refitted)
    widest = shown.measures.max_gap
    return picture(
        "rulers.png",
        f"Difficulties of the items of both versions as rulers with their empty gaps, "
        f"{len(new)} new items marked; the widest gap is {widest.before.value:.3f} before, "
        f"{widest.after.value:.3f} after. The same figures stand in the tables.",
        lambda theme: gap_rulers(old, later, theme=theme),
    )


def _ruler(name: str, diagnosis: Diagnosis, new: set[str], places: Sequence[Place]) -> Ruler:
    return Ruler(
        title=f"{name}: {diagnosis.items:,} items",
        items=[one.z for one in diagnosis.difficulties if one.item not in new],
        empty=[(gap.z_left, gap.z_right) for gap in diagnosis.gaps if gap.verdict == "empty"],
        new=[NewItem(one.z, one.q05, one.q95) for one in places],
    )
