"""What `benchfill power` found, in words, tables and pictures."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchfill.plots.power import MOST_MAPS, power_picture
from benchfill.progress.power import WANTED

from .methods import MEASURE, fitted_methods
from .pictures import picture
from .progress_methods import MANTEL
from .result import Drawing, ResultPage, Section, Table
from .text import one_line
from .words import count_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchfill.progress import PowerMap
    from benchfill.progress.power import Detectable, PowerOfRollouts

    from .methods import Methods
    from .pictures import Picture

NAME = 50
EXAMPLE_WIDTH = 0.25
CELLS_FILE = "power.csv"
KOLASSA = (
    "Kolassa, J. E., & McCullagh, P. (1990). Edgeworth series for lattice distributions. The "
    "Annals of Statistics, 18(2), 981-985. doi:10.1214/aos/1176347637."
)


def power_page(power: PowerMap) -> ResultPage:
    """Tell which gains the benchmark can see, and which it cannot."""
    return ResultPage(
        title="Which gains can this benchmark see?",
        lead=(*(_lead(one) for one in power.maps), _invisible(power)),
        caveats=_caveats(power),
        sections=(
            Section(
                "The smallest gain that is seen",
                _how(power),
                (Drawing(partial(_draw, power), _caption(power)),),
                tuple(_detectable(one) for one in power.maps),
            ),
        ),
        files={CELLS_FILE: _cells_csv(power)},
    )


def power_methods(envelope: Mapping[str, Any], power: PowerMap) -> Methods:
    """Describe the simulation so that it can be pasted into a paper."""
    rollouts = " and ".join(f"{one.k:,}" for one in power.maps)
    sentences = (
        f"Power of the one-sided test at level {power.alpha:g} of a gain on a known interval was "
        f"simulated {power.simulations:,} times for each gain and place, with {rollouts} rollouts "
        "an item before and as many after; success rates before are those that the fit expects of "
        f"{one_line(power.model, NAME)} (ability {power.theta:+.2f} logits), after they are "
        "greater by the gain on the items of the interval, at most 1. The statistic is the sum of "
        "the successes after less their expectation given each item's total; its tail was "
        "approximated by the continuity-corrected Edgeworth series. Intervals move evenly over "
        "the scale.",
    )
    return fitted_methods(envelope, (power,), sentences, (MEASURE, MANTEL, KOLASSA))


def _lead(one: PowerOfRollouts) -> str:
    at = _example(one)
    head = f"With {_rollouts(one.k)} an item before and as many after"
    on = f"on an interval as wide as {at.width:g} of the difficulty scale"
    if at.mean_fitting is None:
        return (
            f"{head}, no gain {on} is seen with probability {WANTED:g}, on average over where it "
            "lies."
        )
    if at.invisible:
        tail = "; where the interval falls into a gap, none is"
    elif at.worst is None:
        tail = "; at the worst place none is"
    else:
        tail = f"; at the worst place it takes {at.worst:.3f}"
    return (
        f"{head}, a gain of {at.mean_fitting:.3f} in success rate {on} is seen with probability "
        f"{WANTED:g}, on average over where it lies{tail}."
    )


def _rollouts(k: int) -> str:
    return count_of(k, "rollout")


def _example(one: PowerOfRollouts) -> Detectable:
    return min(one.detectable, key=lambda at: abs(at.width - EXAMPLE_WIDTH))


def _invisible(power: PowerMap) -> str:
    return (
        "A gain of any size on an open interval of width <= G can be invisible however many "
        f"rollouts are taken; here G = {power.max_gap.plugin:.3f}."
    )


def _how(power: PowerMap) -> tuple[str, ...]:
    return (
        "Power is the probability that a gain is seen: that the test of the interval on which it "
        f"lies says so at level {power.alpha:g}. That interval is taken as known beforehand; a "
        "scan for it sees less.",
        f"The model before solves {power.score:.0%} of the benchmark, as the fit expects of "
        f"{one_line(power.model, NAME)}; another model has other room for gains. No success rate "
        "can exceed 1: places where a gain fits below that are told apart from all places, where "
        f"it ends at 1 and may be smaller than its name says. {CELLS_FILE} holds the whole map, "
        "with the share of places where a gain fits, and its mean over all places.",
    )


def _caveats(power: PowerMap) -> tuple[str, ...]:
    said = []
    gap = power.max_gap
    if not gap.q05 <= gap.plugin <= gap.q95:
        said.append(
            f"How wide the widest gap is is not certain: {gap.plugin:.3f} by the estimates of "
            f"difficulty, {gap.q05:.3f} to {gap.q95:.3f} (90% interval) when their uncertainty is "
            "counted; with more models or rollouts it would be known better."
        )
    if len(power.maps) > MOST_MAPS:
        said.append(f"The picture shows the first {MOST_MAPS} of {len(power.maps)} maps.")
    return tuple(said)


def _caption(power: PowerMap) -> str:
    error = 0.5 / np.sqrt(power.simulations)
    return (
        "Darker: more likely seen. Left the mean over all places of the interval, the gain ending "
        "at a success rate of 1; right the worst place where it fits. Lines where power is .5 and "
        ".8. Hatched: widths up to the widest gap G. Monte-Carlo standard error at one place at "
        f"most {error:.3f}."
    )


def _gain(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"


def _draw(power: PowerMap) -> Picture:
    best = "; ".join(
        f"{_rollouts(one.k)}: {_gain(_example(one).mean)} on an interval of {_example(one).width:g}"
        for one in power.maps[:MOST_MAPS]
    )
    return picture(
        "power.png",
        "Power by width of the interval and size of the gain, which grows with both. Smallest gain "
        f"seen with power .8 on average: {best}. Widths up to G = {power.max_gap.plugin:.3f} are "
        "hatched. The same figures stand in the tables.",
        lambda theme: power_picture(power, theme=theme),
    )


def _detectable(one: PowerOfRollouts) -> Table:
    return Table(
        f"{_rollouts(one.k)} an item: smallest gain in success rate that is seen with power .8, on "
        "average over the places where it fits, at the worst of them, and on average over all "
        "places. A dash: none.",
        ("width", "items inside", "mean", "worst", "all places", "can be invisible"),
        tuple(
            (
                *(at.width, at.items_inside, at.mean_fitting, at.worst, at.mean),
                "yes" if at.invisible else "no",
            )
            for at in one.detectable
        ),
    )


def _cells_csv(power: PowerMap) -> bytes:
    lines = ["k,width,gain,mean,mean_fitting,worst,fits,realised"]
    for one in power.maps:
        for cell in one.cells:
            figures = (cell.mean, cell.mean_fitting, cell.worst, cell.fits, cell.realised)
            shown = ("" if value is None else f"{value:.4f}" for value in figures)
            lines.append(f"{one.k},{cell.width:g},{cell.gain:g},{','.join(shown)}")
    return ("\n".join(lines) + "\n").encode()
