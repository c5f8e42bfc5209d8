"""The list "look at these": what chance would hardly do, and why it matters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .pairs import chance_of_identity
from .reference import ALPHA
from .result import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from ..onepl import Fit1PL
    from .reference import FittedModel, ItemChances
    from .result import ModelFit, PairFit

# Beyond chance is not enough where thousands of rollouts make any misfit certain: what is listed
# must also stand out from the other items, models or pairs.
ITEM_EXCESS, MODEL_EXCESS = 1.5, 1.2
NEAR_DUPLICATE, ALIKE, NAMED_ALIKE = 0.5, 0.25, 0.1
INVERTED = -0.05

FALSE_ALARMS = (
    "Items are listed at a false discovery rate of 5%: of those listed as inverted or misfitting, "
    "at most about one in twenty is expected to be there by chance. Models and pairs are listed so "
    "that chance alone puts any model on the list in 5% of matrices, any pair in 10%."
)


@dataclass(frozen=True)
class Judged:
    """What the list is drawn from; items and models are those of `model`, by name."""

    model: FittedModel
    items: tuple[str, ...]
    models: tuple[str, ...]
    figures: NDArray[np.float64]
    chances: ItemChances
    model_fits: Sequence[ModelFit]
    pairs: Sequence[PairFit]

    @property
    def inverted(self) -> NDArray[np.bool_]:
        """Items on which better models do worse, beyond chance, shape (I,)."""
        return np.asarray(self.chances.inverted_found & (self.figures[2] < INVERTED))


def list_findings(
    judged: Judged, fit: Fit1PL, identical: Iterable[tuple[int, ...]]
) -> tuple[Finding, ...]:
    """Return what to look at: copies first, then items without a right answer, then misfits.

    `fit` and `identical` are of the whole matrix.
    """
    copies = tuple(_identical(fit, identical))
    known = {name for one in copies for name in one.names}
    odd = tuple(_odd_models(judged))
    return (
        *copies,
        *_pairs(judged, known, near=True),
        *_all_wrong(fit),
        *_inverted(judged),
        *_misfits(judged, odd),
        *odd,
        *_pairs(judged, known, near=False),
    )


def typical(values: Iterable[float | None]) -> float:
    """Return the median of the known values, but at least 1: what fits is typical enough."""
    known = [value for value in values if value is not None and not np.isnan(value)]
    return max(1.0, float(np.median(known))) if known else 1.0


def _identical(fit: Fit1PL, groups: Iterable[tuple[int, ...]]) -> Iterator[Finding]:
    models = len(fit.responses.models)
    for group in groups:
        first, second = group[:2]
        g = fit.guessing
        p, q = (g + (1 - g) / (1 + np.exp(fit.b - fit.theta[j])) for j in (first, second))
        chance = min(1.0, chance_of_identity(fit.responses.n[first], p, q) * models**2 / 2)
        if chance > ALPHA:
            continue  # few cells: models may be equal by chance
        yield Finding(
            kind="identical_models",
            names=tuple(fit.responses.models[j] for j in group),
            reason="The responses are the same in every cell: one model under several names.",
            value=float(len(group)),
            p=chance,
        )


def _pairs(judged: Judged, known: set[str], *, near: bool) -> Iterator[Finding]:
    for pair in judged.pairs:
        if {pair.first, pair.second} <= known:
            continue
        surprising = pair.p <= ALPHA and pair.stands_out and pair.correlation >= ALIKE
        named = (pair.p_named_alike or 1.0) <= ALPHA and pair.correlation >= NAMED_ALIKE
        is_near = surprising and pair.correlation >= NEAR_DUPLICATE
        if is_near != near or not (surprising or named):
            continue
        yield Finding(
            kind="near_duplicate_models" if near else "alike_models",
            names=(pair.first, pair.second),
            reason=f"They agree in {pair.agreement:.0%} of {pair.items:,} items, where their "
            f"abilities explain {pair.expected:.0%} (residual correlation {pair.correlation:.2f}).",
            value=pair.correlation,
            p=pair.p if pair.p <= ALPHA else pair.p_named_alike,
        )


def _all_wrong(fit: Fit1PL) -> Iterator[Finding]:
    data = fit.responses
    tried = data.n.any(0)
    wrong = np.flatnonzero(tried & ~data.correct.any(0))
    if len(wrong):
        yield Finding(
            kind="all_wrong_items",
            names=tuple(data.items[i] for i in wrong),
            reason="No model ever solved "
            + ("this item." if len(wrong) == 1 else f"any of these {len(wrong):,} items."),
            value=float(len(wrong)),
            p=None,
        )


def _inverted(judged: Judged) -> Iterator[Finding]:
    rest = judged.figures[2]
    order = np.argsort(rest, kind="stable")
    for i in order[judged.inverted[order]]:
        yield Finding(
            kind="inverted_item",
            names=(judged.items[i],),
            reason="Models that are better on all other items do worse on this one "
            f"(correlation {rest[i]:.2f}).",
            surprise=_surprise(judged, int(i)),
            value=float(rest[i]),
            p=float(judged.chances.inverted[i]),
        )


def _misfits(judged: Judged, odd: Sequence[Finding]) -> Iterator[Finding]:
    infit, outfit, _ = judged.figures
    names = {name for one in odd for name in one.names}
    # what an odd model does to many items is its own doing
    others = np.array([name not in names for name in judged.models])
    without = judged.model.residuals.where(others).mean_squares(1)
    excess = np.fmax(without[0] / typical(infit), without[1] / typical(outfit))
    listed = judged.chances.misfit_found & (excess >= ITEM_EXCESS) & ~judged.inverted
    for i in np.argsort(-np.where(np.isnan(excess), 0, excess), kind="stable"):
        if listed[i]:
            yield Finding(
                kind="misfit_item",
                names=(judged.items[i],),
                reason="Strong models fail it or weak ones solve it more than chance explains "
                f"(infit {infit[i]:.2f}, outfit {outfit[i]:.2f}).",
                surprise=_surprise(judged, int(i)),
                value=float(outfit[i]),
                p=float(judged.chances.misfit[i]),
            )


def _surprise(judged: Judged, item: int) -> str:
    """Name the model whose answer to an item surprises most."""
    j = _least_expected(judged, (item, slice(None)))
    return f"{judged.models[j]} {_got(judged, item, j)}"


def _own_surprise(judged: Judged, model: int) -> str:
    """Name the item whose answer by a model surprises most."""
    i = _least_expected(judged, (slice(None), model))
    return f"{judged.items[i]}: {_got(judged, i, model)}"


def _least_expected(judged: Judged, part: tuple[int | slice, int | slice]) -> int:
    residuals = judged.model.residuals
    scaled = residuals.residual[part] ** 2 / np.maximum(residuals.variance[part], 1e-12)
    return int(np.argmax(np.where(residuals.observed[part], scaled, -1)))


def _got(judged: Judged, item: int, model: int) -> str:
    right, n = judged.model.cells.right[item, model], int(judged.model.n[item, model])
    got = f"solved {right:.0f} of {n}" if n > 1 else "solved" if right else "failed"
    return f"{got}, expected {judged.model.residuals.p[item, model]:.0%}"


def _odd_models(judged: Judged) -> Iterator[Finding]:
    usual = [
        typical(getattr(one, name) for one in judged.model_fits) for name in ("infit", "outfit")
    ]
    # a wrong key makes the best models look odd
    right_keys = judged.model.residuals.where(~judged.inverted[:, None]).mean_squares(0)
    excess = right_keys / np.array(usual)[:, None]
    for one in judged.model_fits:
        j = judged.models.index(one.model)
        if one.infit is None or one.outfit is None or one.p_misfit is None:
            continue
        if one.p_misfit <= ALPHA and excess[:, j].max() >= MODEL_EXCESS:
            why = (
                "Its successes follow the items' difficulty less than other models' do"
                if excess[0, j] >= MODEL_EXCESS
                else "It fails a few items that it should solve, or solves a few far beyond it"
            )
            yield Finding(
                kind="odd_model",
                names=(one.model,),
                reason=f"{why} (infit {one.infit:.2f}, outfit {one.outfit:.2f}).",
                surprise=_own_surprise(judged, j),
                value=max(one.infit, one.outfit),
                p=one.p_misfit,
            )
