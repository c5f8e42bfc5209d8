"""Where new items go: the places that make the expected objective smallest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..diagnosis import TOP_K
from ..measure import DifficultyScale
from .calibration import new_item
from .coverage import coverage_draws, coverage_of, expected, mean_reach, spacing_profile
from .known import equal_parts, plain_midpoints
from .mismatch import MismatchDraws
from .result import AgainstPlain, ItemPlan
from .spacing import SpacingDraws, place_items

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..onepl import Fit1PL
    from .request import PlanRequest
    from .result import Objective

PLANNING_DRAWS = 300
MOST_PLANNED = 30_000  # new items times draws: what a thousand new items cost stays seconds
LEAST_DRAWS = 60
JUDGING_DRAWS = 400
STARTS = 6  # draws whose own best places are tried
TIE = 1e-9
# What is expected to be gained beyond plain midpoints may be less than what the model is wrong by:
# on simulated banks plans that promised less than 2% did no better in truth. Where midpoints bring
# less than the plan brings beyond them, though, they miss the gaps that are real.
LEAST_GAIN = 0.02
_COLUMN: dict[Objective, int] = {"max-gap": 0, "ddm": 1, "top-k": 2}


def plan_items(fit: Fit1PL, wanted: PlanRequest, rng: np.random.Generator) -> ItemPlan:
    """Place the new items; the plan is made on half of the draws and judged on the others.

    Where it is hardly better than plain midpoints, those are the plan.

    Raises
    ------
    FitError
        The benchmark has no difficulty scale.
    """
    scale = DifficultyScale.of(fit.b)
    z = np.asarray(scale.to_z(fit.b))
    count = wanted.items
    draws = int(np.clip(MOST_PLANNED // count, LEAST_DRAWS, PLANNING_DRAWS))
    planning = _draws(fit, scale, 0, draws)
    judging = _draws(fit, scale, 1, JUDGING_DRAWS)
    error = rng.normal(0, wanted.placement_sd, (len(planning), count))
    plain = plain_midpoints(z, count)
    places = choose_places(planning, z, error, wanted)
    shift = rng.normal(0, wanted.placement_sd, (len(judging), count))
    column = _COLUMN[wanted.objective]
    before = coverage_draws(judging, shift[:, :0], wanted.target)
    of_plain = coverage_draws(judging, plain + shift, wanted.target)
    after = coverage_draws(judging, places + shift, wanted.target)
    against = _against(plain, (before, of_plain, after), column)
    if not against.beaten:
        places, after = plain, of_plain
    # new items that are to share a place are no neighbours of one another
    apart, first, of = np.unique(places, return_index=True, return_inverse=True)
    reach = mean_reach(judging, apart + shift[:, first])[of]
    items = tuple(
        new_item(fit, float(place), float(wide) / 2)
        for place, wide in zip(places, reach, strict=True)
    )
    return ItemPlan(
        objective=wanted.objective,
        k=TOP_K,
        placement_sd=wanted.placement_sd,
        answers_per_item=int(np.median(fit.responses.n.sum(0, dtype=np.int64))),
        items=items,
        before=coverage_of(before),
        after=coverage_of(after),
        plain=against,
        profile=spacing_profile(judging, places + shift),
        rollouts=sum(item.rollouts or 0 for item in items),
    )


def choose_places(
    planning: NDArray[np.float64],
    z: NDArray[np.float64],
    error: NDArray[np.float64],
    wanted: PlanRequest,
) -> NDArray[np.float64]:
    """Return the places in [0, 1] that make the mean objective over the draws smallest, (T,).

    Parameters
    ----------
    planning
        Posterior draws of the items' difficulties on the frozen scale, shape (S, I).
    z
        Their posterior means, shape (I,).
    error
        Error of placement in each draw, shape (S, T).
    wanted
        What is to become small.
    """
    count = error.shape[1]
    if wanted.objective == "ddm":
        mismatch = MismatchDraws.of(planning, error, wanted.target)
        places = mismatch.thresholds()
        return places if wanted.placement_sd == 0 else mismatch.moved(places)
    k = 1 if wanted.objective == "max-gap" else TOP_K
    starts = [plain_midpoints(z, count), equal_parts(z, count, k)]
    spaced = np.linspace(0, len(planning) - 1, STARTS).round().astype(int)
    starts += [np.clip(equal_parts(planning[s], count, k), 0, 1) for s in spaced]
    return place_items(SpacingDraws.of(planning, error, k), starts, k)


def _draws(fit: Fit1PL, scale: DifficultyScale, first: int, count: int) -> NDArray[np.float64]:
    """Return every other draw from the first on, thinned, on the frozen scale, shape (S, I)."""
    every = np.arange(first, len(fit.draws.b), 2)
    kept = np.linspace(0, len(every) - 1, min(count, len(every))).round().astype(int)
    return scale.to_z(fit.draws.b[every[kept]])


def _against(
    plain: NDArray[np.float64],
    figures: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]],
    column: int,
) -> AgainstPlain:
    """Compare figures of the draws (S, 3) before, with plain midpoints and with the plan."""
    before, of_plain, after = (one[:, column] for one in figures)
    difference = after - of_plain
    error = float(difference.std() / np.sqrt(len(difference)))
    gain, of_midpoints = -float(difference.mean()), float((before - of_plain).mean())
    worth_it = gain > LEAST_GAIN * float(of_plain.mean()) or gain > of_midpoints
    return AgainstPlain(
        places=tuple(plain.tolist()),
        coverage=coverage_of(figures[1]),
        difference=expected(difference),
        standard_error=error,
        p_better=float(np.mean(difference < -TIE)),
        p_worse=float(np.mean(difference > TIE)),
        beaten=bool(gain > 2 * error and worth_it),
    )
