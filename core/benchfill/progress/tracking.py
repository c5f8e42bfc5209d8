"""The test of whether a model has become better, and where on the difficulty scale."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import norm

from ..errors import InputError
from ..fitted import fit_facts
from ..measure import DifficultyScale
from .blind import blind_zones
from .gain import best_gain, mean_gain
from .null import TwoTimes, null_of_sum, upper_p
from .pairs import ModelPair, common_items, match_models, positions
from .result import (
    Band,
    Gain,
    LeftOut,
    LocalGain,
    ModelProgress,
    Progress,
    Scanned,
    Third,
    ThirdName,
)
from .scan import LEAST_ITEMS, scan_intervals, windows_of
from .setting import ProgressTest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ..onepl import Fit1PL
    from ..responses import ResponseMatrix


MOST_BANDS = 12
LEAST_IN_BAND = 4
THIRDS: tuple[ThirdName, ...] = ("easy", "middle", "hard")


@dataclass(frozen=True, eq=False)
class _Items:
    """Items sorted by difficulty: their places in the fit, ids and z."""

    at: NDArray[np.int64]
    ids: tuple[str, ...]
    z: NDArray[np.float64]

    def take(self, chosen: NDArray[np.int64] | slice) -> _Items:
        places = np.arange(len(self.ids))[chosen]
        return _Items(self.at[chosen], tuple(self.ids[i] for i in places), self.z[chosen])


@dataclass(frozen=True, eq=False)
class _Case:
    """A model under test: its names, the items that it answered both times, its responses."""

    pair: ModelPair
    items: _Items
    responses: TwoTimes
    unanswered: int


def measure_progress(
    fit: Fit1PL, before: ResponseMatrix, after: ResponseMatrix, test: ProgressTest | None = None
) -> Progress:
    """Test whether models have become better on an interval of difficulty, or anywhere.

    One test a model, matched by name, or of the only model of each file; Holm's correction over
    models. The null is exchangeability of an item's rollouts before and after, so the level holds
    whatever the difficulties, as long as these were not estimated from the responses before (or
    after) alone: see `pooled_responses` and `placing_models`.

    Parameters
    ----------
    fit
        The fit that places the items; matched by id.
    before, after
        Responses to the same items; rollouts may differ, items with none at one of both times are
        left out.
    test
        What to test; a scan at level .05 by default.

    Returns
    -------
    Progress

    Raises
    ------
    InputError
        No model or item in common, no item in the interval, or fewer than three to scan.
    FitError
        The items of the fit have no difficulty scale.

    Notes
    -----
    docs/method, section 5; paper arXiv 2610.29927, section 2.2.
    """
    test = test or ProgressTest()
    pairs = match_models(before, after)
    items = _common(fit, before, after)
    cases = [_case(pair, items, before, after) for pair in pairs]
    testable = [case for case in cases if _testable(case, test)]
    if not testable:
        raise _nothing_to_test(cases, test)
    results = [
        _test_model(case, test, np.random.default_rng([test.seed, number]))
        for number, case in enumerate(testable)
    ]
    drawn = any(one.scanned and one.scanned.method == "monte_carlo" for one in results)
    blind = blind_zones(fit, items.at)
    return Progress(
        **fit_facts(fit),
        mode="scan" if test.interval is None else "interval",
        interval=test.interval,
        alpha=test.alpha,
        permutations=test.permutations if drawn else None,
        randomised_ties=test.randomised_ties,
        common_items=len(items.ids),
        tests=_with_holm(results, test.alpha),
        max_gap=blind[0].width,
        blind=blind,
        left_out=LeftOut(
            items_only_before=_without(before.items, after.items),
            items_only_after=_without(after.items, before.items),
            items_without_difficulty=_without(common_items(before, after), fit.responses.items),
            models_only_before=_without(before.models, [pair.before for pair in pairs]),
            models_only_after=_without(after.models, [pair.after for pair in pairs]),
            models_untested=tuple(c.pair.before for c in cases if not _testable(c, test)),
        ),
    )


def _common(fit: Fit1PL, before: ResponseMatrix, after: ResponseMatrix) -> _Items:
    known = set(fit.responses.items)
    ids = [item for item in common_items(before, after) if item in known]
    if not ids:
        raise InputError(
            f"no item of the responses (such as {common_items(before, after)[0]!r}) is among those "
            f"with a difficulty (such as {fit.responses.items[0]!r}); items are matched by id."
        )
    z = DifficultyScale.of(fit.b).to_z(fit.b)
    at = positions(fit.responses.items, ids)
    # by id where difficulties are equal: the order of a file means nothing
    order = sorted(range(len(ids)), key=lambda i: (z[at[i]], ids[i]))
    at = at[order]
    return _Items(at, tuple(ids[i] for i in order), z[at])


def _case(pair: ModelPair, items: _Items, before: ResponseMatrix, after: ResponseMatrix) -> _Case:
    counts = []
    for matrix, name in ((before, pair.before), (after, pair.after)):
        row, columns = matrix.models.index(name), positions(matrix.items, items.ids)
        counts += [matrix.correct[row, columns], matrix.n[row, columns]]
    answered = np.flatnonzero((counts[1] > 0) & (counts[3] > 0))
    y0, n0, y1, n1 = (one[answered].astype(np.int64) for one in counts)
    unanswered = len(items.ids) - len(answered)
    return _Case(pair, items.take(answered), TwoTimes(y0, n0, y1, n1), unanswered)


def _inside(z: NDArray[np.float64], left: float, right: float) -> slice:
    return slice(int(np.searchsorted(z, left)), int(np.searchsorted(z, right, side="right")))


def _testable(case: _Case, test: ProgressTest) -> bool:
    if test.interval is None:
        return len(case.responses) >= LEAST_ITEMS
    return len(case.items.z[_inside(case.items.z, *test.interval)]) > 0


def _nothing_to_test(cases: list[_Case], test: ProgressTest) -> InputError:
    z = max((case.items.z for case in cases), key=len)
    if not len(z):
        return InputError("no model has a rollout on the same item both before and after.")
    if test.interval is None:
        return InputError(
            f"a scan takes at least {LEAST_ITEMS} items answered both before and after, but there "
            f"{'is 1' if len(z) == 1 else 'are 2'}; give an interval instead."
        )
    left, right = test.interval
    near = [f"{one:.3f}" for one in (*z[z < left][-1:], *z[z > right][:1])]
    return InputError(
        f"no item that was answered both times has a difficulty from {left:g} to {right:g} "
        f"(nearest: {' and '.join(near)}), so a gain there leaves no trace, however many rollouts "
        "are taken; choose another interval, or fill the gap."
    )


def _test_model(case: _Case, test: ProgressTest, rng: np.random.Generator) -> ModelProgress:
    responses = case.responses
    deviate = float(norm.isf(test.alpha))
    if test.interval is None:
        p, local, scanned = _scan(case, test, rng)
    else:
        inside = _inside(case.items.z, *test.interval)
        asked = responses.take(inside)
        p = _exact_p(asked, rng.random() if test.randomised_ties else None)
        local, scanned = _local(case, inside, mean_gain(asked, deviate)), None
    return ModelProgress(
        before=case.pair.before,
        after=case.pair.after,
        items=len(responses),
        unanswered=case.unanswered,
        unchanged=responses.same,
        overall=mean_gain(responses, deviate),
        overall_p=_exact_p(responses, None),
        thirds=_thirds(case, deviate),
        bands=_bands(case, deviate),
        local=local,
        scanned=scanned,
        p=p,
        p_holm=p,
        detected=p <= test.alpha,
    )


def _scan(
    case: _Case, test: ProgressTest, rng: np.random.Generator
) -> tuple[float, LocalGain | None, Scanned]:
    windows = windows_of(case.items.z, case.responses.variance)
    scan = scan_intervals(case.responses, windows, test, rng)
    best = None
    if scan.items is not None:
        chosen = slice(*scan.items)
        best = _local(case, chosen, best_gain(case.responses.take(chosen), scan.critical))
    return (
        scan.p,
        best,
        Scanned(
            intervals=windows.count,
            complete=windows.complete,
            method=scan.method,
            score=scan.score,
            critical=scan.critical,
        ),
    )


def _exact_p(responses: TwoTimes, lot: float | None) -> float:
    return upper_p(null_of_sum(responses), int(responses.y1.sum()), lot)


def _local(case: _Case, inside: slice, gain: Gain) -> LocalGain:
    items = case.items.take(inside)
    return LocalGain(
        z_left=float(items.z[0]), z_right=float(items.z[-1]), item_ids=items.ids, gain=gain
    )


def _thirds(case: _Case, deviate: float) -> tuple[Third, ...]:
    edges = (
        0,
        *(int(at) for at in np.searchsorted(case.items.z, [1 / 3, 2 / 3])),
        len(case.items.z),
    )
    parts = [case.responses.take(slice(a, b)) for a, b in itertools.pairwise(edges)]
    return tuple(
        Third(
            name=name,
            z_left=third / 3,
            z_right=(third + 1) / 3,
            gain=mean_gain(parts[third], deviate) if len(parts[third]) else None,
        )
        for third, name in enumerate(THIRDS)
    )


def _bands(case: _Case, deviate: float) -> tuple[Band, ...]:
    z = case.items.z
    count = max(1, min(MOST_BANDS, len(z) // LEAST_IN_BAND))
    cuts = z[np.arange(1, count) * len(z) // count]
    # items of equal difficulty stay together
    edges = np.unique([0, *np.searchsorted(z, cuts), len(z)])
    return tuple(
        Band(
            z_left=float(z[a]),
            z_right=float(z[b - 1]),
            gain=mean_gain(case.responses.take(slice(int(a), int(b))), deviate),
        )
        for a, b in itertools.pairwise(edges)
    )


def _with_holm(results: list[ModelProgress], alpha: float) -> tuple[ModelProgress, ...]:
    """Correct for the number of models: Holm (1979), p-values made monotone."""
    p = np.array([one.p for one in results])
    order = np.argsort(p, kind="stable")
    raised = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    corrected = np.empty(len(p))
    corrected[order] = raised
    return tuple(
        one.model_copy(update={"p_holm": float(holm), "detected": bool(holm <= alpha)})
        for one, holm in zip(results, corrected, strict=True)
    )


def _without(names: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    known = set(others)
    return tuple(name for name in names if name not in known)
