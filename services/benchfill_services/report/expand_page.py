"""What an expansion did to a benchmark, in words, tables and pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchfill.plots import difficulty_distribution
from benchfill.plots.expansion import MeasureSeries, expansion_curve
from benchfill.plots.rulers import NewItem, Ruler, gap_rulers
from benchfill.targets import Uniform

from ..expand.record import UNREVIEWED
from .methods import AUTOGEN, MEASURE, fitted_methods
from .pictures import picture
from .result import Drawing, ResultPage, Section, Table
from .text import one_line
from .words import count_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchfill.diagnosis import Diagnosis, Estimate

    from ..expand.record import ExpandReport, GapTry, Standing
    from ..review.provenance import ItemProvenance
    from .methods import Methods
    from .pictures import Picture

_Z95 = 1.645  # a 90% interval of a normal distribution, in standard deviations


@dataclass(frozen=True)
class ShownExpansion:
    """All that the page tells of."""

    report: ExpandReport
    before: Diagnosis
    after: Diagnosis
    added: tuple[ItemProvenance, ...]

    @property
    def new(self) -> set[str]:
        """Ids of the items that entered."""
        return {one for done in self.report.rounds for one in done.entered}


def expand_page(shown: ShownExpansion) -> ResultPage:
    """Tell what became of a benchmark that was expanded."""
    report = shown.report
    return ResultPage(
        title="A benchmark expanded" + (" (unreviewed study)" if report.unreviewed else ""),
        lead=_lead(shown),
        caveats=_caveats(report),
        sections=(_pictures(shown), _course(report), _new_items(shown), _gaps(report)),
    )


def expand_methods(envelope: Mapping[str, Any], shown: ShownExpansion) -> Methods:
    """Describe the expansion so that it can be pasted into a paper."""
    report, rounds = shown.report, len(shown.report.rounds)
    how = (
        "All of them were taken without review."
        if report.unreviewed
        else "Each was approved by experts who judged it blind to one another."
    )
    sentence = (
        f"In {count_of(rounds, 'round')} the widest empty gaps were filled with BenchFill, and the "
        f"benchmark was fitted again with the new items; {count_of(len(shown.new), 'item')} "
        f"entered, with {report.spent.rollouts:,} rollouts. {how} The responses to new items are "
        "those of their calibration."
    )
    both = (shown.before, shown.after)
    return fitted_methods(envelope, both, [sentence], (MEASURE, AUTOGEN))


def _lead(shown: ShownExpansion) -> tuple[str, ...]:
    report = shown.report
    first, last = report.standings[0], report.standings[-1]
    said = [
        f"{first.items:,} items became {last.items:,} in {count_of(len(report.rounds), 'round')}, "
        f"with {report.spent.rollouts:,} rollouts and {report.spent.usd:.2f} US dollars.",
    ]
    if len(report.standings) > 1:
        said.append(
            f"The widest gap goes {_change(first.max_gap, last.max_gap)}, the mismatch (DDM) "
            f"{_change(first.ddm, last.ddm)}, the sum of the {last.top_k_sum.k} widest gaps "
            f"{_change(first.top_k_sum, last.top_k_sum)} (posterior medians, 90% intervals)."
        )
    return (*said, f"It stopped: {report.why}")


def _change(before: Estimate, after: Estimate) -> str:
    return f"from {_estimate(before)} to {_estimate(after)}"


def _estimate(one: Estimate) -> str:
    return f"{one.value:.3f} [{one.q05:.3f}, {one.q95:.3f}]"


def _caveats(report: ExpandReport) -> tuple[str, ...]:
    return (UNREVIEWED,) if report.unreviewed else ()


def _pictures(shown: ShownExpansion) -> Section:
    return Section(
        "Before and after",
        drawings=(
            Drawing(lambda: _rulers(shown), "Items as strokes, new ones as diamonds."),
            Drawing(
                lambda: _distribution(shown.before, "distribution-before.png", set()),
                "The distribution of difficulty before, against the uniform one.",
            ),
            Drawing(
                lambda: _distribution(
                    shown.after, _file(shown.report, "distribution-after"), shown.new
                ),
                "And after, the new items marked.",
            ),
        ),
    )


def _rulers(shown: ShownExpansion) -> Picture:
    new = shown.new
    places = [
        NewItem(one.z, one.z - _Z95 * one.sd / width, one.z + _Z95 * one.sd / width)
        for width in [_width(shown.after)]
        for one in shown.after.difficulties
        if one.item in new
    ]
    mark = ", new items unreviewed" if shown.report.unreviewed else ""
    before = _ruler("before", shown.before, set(), [])
    after = _ruler(f"after{mark}", shown.after, new, places)
    return picture(
        _file(shown.report, "rulers"),
        f"Difficulties as rulers with the empty gaps: {shown.before.items} items before, "
        f"{shown.after.items} after, {len(places)} of them new{mark}.",
        lambda theme: gap_rulers(before, after, theme=theme),
    )


def _width(diagnosis: Diagnosis) -> float:
    """Return the logits between the easiest and the hardest item."""
    b = [one.b for one in diagnosis.difficulties]
    return max(b) - min(b)


def _ruler(name: str, diagnosis: Diagnosis, new: set[str], places: list[NewItem]) -> Ruler:
    return Ruler(
        title=f"{name}: {diagnosis.items:,} items",
        items=[one.z for one in diagnosis.difficulties if one.item not in new],
        empty=[(gap.z_left, gap.z_right) for gap in diagnosis.gaps if gap.verdict == "empty"],
        new=places,
    )


def _file(report: ExpandReport, name: str) -> str:
    """Return the name of a picture's file; one that shows unreviewed items says so."""
    return f"{name}{'-unreviewed' if report.unreviewed else ''}.png"


def _distribution(diagnosis: Diagnosis, file: str, new: set[str]) -> Picture:
    z = [one.z for one in diagnosis.difficulties]
    chosen = [one.z for one in diagnosis.difficulties if one.item in new]
    return picture(
        file,
        f"Cumulative distribution of the difficulty of {len(z)} items, {len(chosen)} of them new, "
        f"against the uniform one; the area between them is {diagnosis.ddm.plugin:.3f}.",
        lambda theme: difficulty_distribution(
            z, Uniform(), diagnosis.gaps, chosen=chosen, theme=theme
        ),
    )


def _course(report: ExpandReport) -> Section:
    k = report.standings[0].top_k_sum.k
    rows = [_standing(one) for one in report.standings]
    return Section(
        "Round by round",
        drawings=(
            Drawing(
                lambda: _curve(report),
                "Widest gap G, mismatch DDM and the sum of the widest gaps by the number of "
                "items, with 90% intervals.",
            ),
        ),
        tables=(
            Table(
                "Measures after each round that brought items",
                (
                    "round", "items", "G", "5%", "95%", "DDM", "5%", "95%", f"top-{k} sum", "5%",
                    "95%", "empty gaps", "widest empty", "rollouts so far", "US dollars",
                ),
                tuple(rows),
                on_terminal=False,
            ),
            Table(
                "Measures after each round that brought items",
                ("round", "items", "G", "DDM", f"top-{k} sum", "empty gaps", "rollouts so far"),
                tuple((*row[:3], row[5], row[8], row[11], row[13]) for row in rows),
                on_page=False,
            ),
        ),
    )  # fmt: skip


def _standing(one: Standing) -> tuple[str | float | int | None, ...]:
    return (
        one.after_round,
        one.items,
        *(
            figure
            for measure in (one.max_gap, one.ddm, one.top_k_sum)
            for figure in (measure.value, measure.q05, measure.q95)
        ),
        one.empty,
        one.widest_empty,
        one.spent.rollouts,
        one.spent.usd,
    )


def _curve(report: ExpandReport) -> Picture:
    standings = report.standings
    named: dict[str, list[Estimate]] = {
        "widest gap G": [one.max_gap for one in standings],
        "mismatch DDM": [one.ddm for one in standings],
        f"top-{standings[0].top_k_sum.k} sum": [one.top_k_sum for one in standings],
    }
    series = [
        MeasureSeries(
            name, [m.value for m in found], [m.q05 for m in found], [m.q95 for m in found]
        )
        for name, found in named.items()
    ]
    return picture(
        _file(report, "curve"),
        "Widest gap, mismatch and sum of the widest gaps against the number of items; the same "
        "figures stand in the table.",
        lambda theme: expansion_curve([one.items for one in standings], series, theme=theme),
    )


def _new_items(shown: ShownExpansion) -> Section:
    place = {one.item: one for one in shown.after.difficulties}
    rounds = {item: done.number for done in shown.report.rounds for item in done.entered}
    rows = [
        (
            rounds.get(one.id),
            one.id,
            one.parent or "–",
            one.target_z,
            one.z,
            one.q05,
            one.q95,
            one.p_in_gap,
            one.rollouts,
            place[one.id].z if one.id in place else None,
            "unreviewed" if one.unreviewed else f"{len(one.reviews)} reviews",
        )
        for one in shown.added
        if one.id in rounds
    ]
    return Section(
        "New items",
        words=() if rows else ("No item came in.",),
        tables=(
            Table(
                "New items: as measured, on the scale of the version of their round, and where "
                "the last fit puts them",
                (
                    "round", "item", "parent", "aimed at", "z", "5%", "95%", "P(in gap)",
                    "rollouts", "z now", "review",
                ),
                tuple(rows),
                on_terminal=False,
            ),
        ),
    )  # fmt: skip


def _gaps(report: ExpandReport) -> Section:
    rows = [(one.number, *_gap(gap)) for one in report.rounds for gap in one.gaps]
    waiting = tuple((one,) for one in report.waiting)
    return Section(
        "Gaps that were tried",
        tables=(
            Table(
                "Gaps, on the scale of the version of their round",
                ("round", "from z", "to z", "easier item", "harder item", "outcome", "item"),
                tuple(rows),
                on_terminal=False,
            ),
            Table("Candidates that wait for reviewers", ("candidate",), waiting),
        ),
    )


def _gap(gap: GapTry) -> tuple[str | float | None, ...]:
    return (
        gap.z_left,
        gap.z_right,
        one_line(gap.left_item or "–", 60),
        one_line(gap.right_item or "–", 60),
        gap.outcome.replace("_", " "),
        gap.item or "–",
    )
