"""What `benchfill progress` found, in words, tables and pictures."""

from __future__ import annotations

import csv
import io
from functools import partial
from typing import TYPE_CHECKING

from benchfill.plots.progress import progress_picture

from .pictures import picture
from .progress_words import blind, caveats, how, invisible, lead, p_words, pair_name, place
from .result import Drawing, ResultPage, Section, Table
from .words import probability

if TYPE_CHECKING:
    from benchfill.progress import Gain, ModelProgress, Progress

    from .pictures import Picture
    from .progress_words import PlacedBy
    from .result import Cell

DRAWN = 4
ITEMS_FILE = "interval-items.csv"


def progress_page(progress: Progress, placed: PlacedBy) -> ResultPage:
    """Tell whether the models have gained, where, and what no test can see."""
    sections = [
        Section(
            "Where it gained",
            (*how(progress), f"{ITEMS_FILE} lists the items of the interval, easiest first."),
            _drawings(progress, placed),
            (_tests(progress), _whole(progress), _thirds(progress)),
        ),
        Section("What cannot be seen", (invisible(progress),), tables=(_blind_table(progress),)),
    ]
    left_out = _left_out(progress)
    if left_out.rows:
        sections.append(Section("Left out", tables=(left_out,)))
    return ResultPage(
        title="Has the model become better, and where?",
        lead=(*lead(progress), blind(progress)),
        caveats=caveats(progress, placed),
        sections=tuple(sections),
        files={ITEMS_FILE: _items_csv(progress)},
    )


def _drawings(progress: Progress, placed: PlacedBy) -> tuple[Drawing, ...]:
    return tuple(
        Drawing(
            partial(_draw, progress, number, placed),
            f"{pair_name(one)}: success rates of bands of items next to one another in difficulty.",
        )
        for number, one in enumerate(progress.tests[:DRAWN])
    )


def _draw(progress: Progress, number: int, placed: PlacedBy) -> Picture:
    one = progress.tests[number]
    gain = one.overall
    where = f" The interval under test lies {place(one)}." if one.local else ""
    return picture(
        f"progress-{number + 1}.png",
        f"Success rates by difficulty before ({gain.before:.3f} over all {gain.items} items) and "
        f"after ({gain.after:.3f}), in {len(one.bands)} bands.{where} The same figures stand in "
        "report.json.",
        lambda theme: progress_picture(
            placed.z, one, progress.blind, title="Before and after, by difficulty", theme=theme
        ),
    )


def _whole(progress: Progress) -> Table:
    return Table(
        "Success rates over all items, and the p-value of a gain.",
        (*_head(progress), "items", "before", "after", "gain", "low", "high", "p"),
        tuple(
            (*_name(progress, one), *_gain_cells(one.overall), p_words(one.overall_p))
            for one in progress.tests
        ),
    )


def _tests(progress: Progress) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in progress.tests:
        local: tuple[Cell, ...] = (None, None, *_gain_cells(None))
        if one.local:
            local = (one.local.z_left, one.local.z_right, *_gain_cells(one.local.gain))
        corrected = (p_words(one.p_holm),) if len(progress.tests) > 1 else ()
        verdict = "yes" if one.detected else "no"
        rows.append((*_name(progress, one), *local, p_words(one.p), *corrected, verdict))
    holm = ("Holm's p",) if len(progress.tests) > 1 else ()
    heads = ("from z", "to z", "items", "before", "after", "gain", "low", "high", "p")
    return Table(
        f"The gain in {'the best' if progress.interval is None else 'the'} interval, and its test.",
        (*_head(progress), *heads, *holm, "gained"),
        tuple(rows),
    )


def _thirds(progress: Progress) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in progress.tests:
        for third in one.thirds:
            span = f"{third.name} ({third.z_left:.2f} to {third.z_right:.2f})"
            rows.append((*_name(progress, one), span, *_gain_cells(third.gain)))
    return Table(
        "By thirds of the difficulty scale, for orientation; these are not tested.",
        (*_head(progress), "third", "items", "before", "after", "gain", "low", "high"),
        tuple(rows),
    )


def _head(progress: Progress) -> tuple[str, ...]:
    return ("model",) if len(progress.tests) > 1 else ()


def _name(progress: Progress, one: ModelProgress) -> tuple[str, ...]:
    """Name the model in a table of several."""
    return (one.after,) if len(progress.tests) > 1 else ()


def _gain_cells(gain: Gain | None) -> tuple[Cell, ...]:
    if gain is None:
        return (0, *(None,) * 5)
    return (gain.items, gain.before, gain.after, gain.gain, gain.low, gain.high)


def _blind_table(progress: Progress) -> Table:
    return Table(
        "The widest stretches of the difficulty scale without an item.",
        ("from z", "to z", "width", "P(hole)", "verdict", "after the item", "before the item"),
        tuple(
            (
                *(zone.z_left, zone.z_right, zone.width, probability(zone.p_hole), zone.verdict),
                *(zone.left_item, zone.right_item),
            )
            for zone in progress.blind
        ),
    )


def _items_csv(progress: Progress) -> bytes:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(("before", "after", "item"))
    for one in progress.tests:
        if one.local:
            writer.writerows((one.before, one.after, item) for item in one.local.item_ids)
    return buffer.getvalue().encode("utf-8", "surrogatepass")


def _left_out(progress: Progress) -> Table:
    rows = [
        (name, why.replace("_", " "))
        for why, names in progress.left_out.model_dump().items()
        for name in names
    ]
    return Table(
        "Items and models that took no part.", ("name", "why"), tuple(rows), on_terminal=False
    )
