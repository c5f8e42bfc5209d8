"""Does a benchmark rank the models as a reference does? Before and after it was pruned.

docs/method, section 4; paper arXiv 2610.29927, section D.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, Field
from scipy import stats

from .errors import InputError
from .quantile_matching import random_items

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from .responses import ResponseMatrix

Correlate: TypeAlias = "Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]"
FEWEST_COMMON = 3
RESAMPLES = 500
_NAMED = 3
_FLOATS = 1 << 22  # of one array of signs of pairs


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class Spread(_Frozen):
    """Mean, least and largest figure of random prunings."""

    mean: float
    min: float
    max: float

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Spread:
        """Summarise figures, shape (trials,)."""
        return cls(mean=float(values.mean()), min=float(values.min()), max=float(values.max()))


class Change(_Frozen):
    """After minus before, with the 90% interval over resampled models."""

    value: float
    q05: float
    q95: float


class Agreement(_Frozen):
    """A rank correlation of the models' scores with the reference; None where it has no value."""

    before: float | None
    after: float | None
    change: Change | None
    random: Spread | None = Field(description="after random pruning to the same size")


class ReferenceAgreement(_Frozen):
    """How the order of models agrees with a reference before and after pruning."""

    common: int = Field(description="models that are in both")
    only_in_responses: tuple[str, ...]
    only_in_reference: tuple[str, ...]
    spearman: Agreement
    kendall: Agreement = Field(description="tau-b")


def reference_agreement(
    data: ResponseMatrix,
    reference: Mapping[str, float],
    kept: Collection[str],
    *,
    seed: int = 0,
) -> ReferenceAgreement:
    """Compare the models' scores with reference scores.

    Parameters
    ----------
    data
        All responses. A model's score is its mean rate over the items it answered.
    reference
        Score by model, higher is better; matched by exact name.
    kept
        Items that were kept.
    seed
        Seed of the random prunings, those of `prune`, and of the resampling of models, 500 times,
        for the intervals of the changes.

    Raises
    ------
    InputError
        Fewer than three models are in both.
    """
    common = [j for j, model in enumerate(data.models) if model in reference]
    here = set(data.models)
    only_here = tuple(model for model in data.models if model not in reference)
    only_there = tuple(model for model in reference if model not in here)
    if len(common) < FEWEST_COMMON:
        raise InputError(
            f"{len(common)} of {len(reference):,} models have the name of one of the "
            f"{len(data.models):,} models of the responses, and at least {FEWEST_COMMON} are "
            f"needed; names must be equal to the letter. The reference has, for example, "
            f"{_some(only_there)}; the responses have {_some(only_here)}.",
            field="--reference",
        )
    wanted = np.array([reference[data.models[j]] for j in common])
    before = mean_rates(data, common)
    stays = frozenset(kept)
    stay = np.flatnonzero([item in stays for item in data.items])
    after = mean_rates(data, common, stay)
    trials = random_items(len(data.items), len(stay), seed)
    shuffled = [mean_rates(data, common, items) for items in trials]
    rng = np.random.default_rng(seed)
    again = rng.integers(0, len(common), (RESAMPLES, len(common)))

    def agreement(correlate: Correlate) -> Agreement:
        random = correlate(
            np.stack(shuffled), np.broadcast_to(wanted, (len(shuffled), len(wanted)))
        )
        random = random[~np.isnan(random)]
        first, last = (float(correlate(one[None], wanted[None])[0]) for one in (before, after))
        drawn = correlate(after[again], wanted[again]) - correlate(before[again], wanted[again])
        return Agreement(
            before=_known(first),
            after=_known(last),
            change=_change(last - first, drawn[~np.isnan(drawn)]),
            random=Spread.of(random) if len(random) else None,
        )

    return ReferenceAgreement(
        common=len(common),
        only_in_responses=only_here,
        only_in_reference=only_there,
        spearman=agreement(spearman),
        kendall=agreement(kendall),
    )


def mean_rates(
    data: ResponseMatrix, models: Sequence[int], items: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """Return the mean rate of each model over the items it answered, NaN for none; shape (J,)."""
    chosen = slice(None) if items is None else items
    rates = np.full(len(models), np.nan)
    for row, j in enumerate(models):
        n = data.n[j, chosen]
        there = n > 0
        if there.any():
            rates[row] = np.mean(data.correct[j, chosen][there] / n[there])
    return rates.round(12)


def spearman(scores: NDArray[np.float64], reference: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Spearman's rank correlation of rows (S, J), shape (S,).

    Over the scored models of each row; NaN where fewer than three are scored, or all equal.
    """
    return _by_row(_spearman, scores, reference)


def kendall(scores: NDArray[np.float64], reference: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Kendall's tau-b of rows (S, J), shape (S,); NaN as in `spearman`."""
    return _by_row(_kendall, scores, reference)


def _by_row(
    correlate: Correlate, scores: NDArray[np.float64], reference: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Correlate whole rows together, a block at a time, and each row with gaps by itself."""
    found = np.full(len(scores), np.nan)
    gaps = np.isnan(scores)
    whole = np.flatnonzero(~gaps.any(1))
    size = max(1, _FLOATS // scores.shape[1] ** 2)
    for start in range(0, len(whole), size):
        rows = whole[start : start + size]
        found[rows] = correlate(scores[rows], reference[rows])
    for row in np.flatnonzero(gaps.any(1)):
        scored = ~gaps[row]
        if scored.sum() >= FEWEST_COMMON:
            found[row] = correlate(scores[row, scored][None], reference[row, scored][None])[0]
    return found


def _spearman(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    a, b = (stats.rankdata(values, axis=1) for values in (one, other))
    a, b = (ranks - ranks.mean(1, keepdims=True) for ranks in (a, b))
    return _cosine(a, b)


def _kendall(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    # scipy's own takes one pair of rows at a time, a thousand times slower for a bootstrap
    a, b = (np.sign(values[:, :, None] - values[:, None, :]) for values in (one, other))
    return _cosine(a.reshape(len(a), -1), b.reshape(len(b), -1))


def _cosine(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    both = np.sqrt((a * a).sum(1) * (b * b).sum(1))
    unknown = np.full(len(a), np.nan)
    return np.asarray(np.divide((a * b).sum(1), both, out=unknown, where=both > 0))


def _change(value: float, drawn: NDArray[np.float64]) -> Change | None:
    if np.isnan(value) or not len(drawn):
        return None
    q05, q95 = np.quantile(drawn, [0.05, 0.95])
    return Change(value=value, q05=float(q05), q95=float(q95))


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name[:60]) for name in names[:_NAMED])
    return f"{shown} and {len(names) - _NAMED:,} more" if len(names) > _NAMED else shown or "none"
