"""The check as a whole: every part in turn, on a sample where the matrix is huge."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..errors import FitError
from ..fitted import fit_facts
from ..onepl.marginal import fit_marginal
from .cells import Cells, Point
from .findings import FALSE_ALARMS, Judged, list_findings, typical
from .heldout import compare_held_out
from .hierarchical import fit_hierarchical
from .leave_out import correlation, leave_models_out, rank_correlation
from .pairs import identical_models, most_alike
from .reference import FittedModel, Simulated, family_chances, item_chances
from .result import (
    Comparison,
    FitCheck,
    InformationCriterion,
    ItemFit,
    LeaveOneOut,
    LeftOutModel,
    ModelFit,
    Range,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ..onepl import Fit1PL
    from ..responses import ResponseMatrix
    from .leave_out import LeftOut
    from .reference import ItemChances

MIN_MODELS, MIN_ITEMS = 3, 3
MOST_CELLS, MOST_MODELS = 200_000, 200
MOST_HELD_OUT, MOST_REFITS, MOST_BIC_ITEMS = 60_000, 60, 1500
_SIMULATED_CELLS = 2e7
_FEWEST_REPLICATES = 50
_CLEAR = 1e-4  # nats a cell that no verdict may rest on less of


def check_fit(fit: Fit1PL, *, folds: int = 5, replicates: int = 200, seed: int = 0) -> FitCheck:
    """Check whether the 1PL describes the responses of a fit, and which of them to look at.

    Parameters
    ----------
    fit
        A fit of at least three models and three items.
    folds
        Parts into which cells are dealt to be held out, at least 2.
    replicates
        Matrices to simulate from the fit, at least 20; fewer are when the matrix is large.
    seed
        Seed of folds, simulations and samples.

    Returns
    -------
    FitCheck
        1PL against 2PL by held-out cells with BIC beside it, difficulties without each model in
        turn, infit, outfit and item-rest correlations against simulated responses, pairs of models
        that agree too well, and a list of what to look at (docs/method, section 2).

    Raises
    ------
    FitError
        Fewer than three models or items, or no item that some solved and others did not.
    ValueError
        Too few folds or replicates.

    Notes
    -----
    Beyond 200 models or 200,000 cells everything but the search for identical models and unsolved
    items looks at a random sample, which `sample` describes; held-out cells are at most about
    60,000, BIC is of at most 1,500 items, and at most 60 models are left out in turn.
    """
    if folds < 2 or replicates < 20:
        raise ValueError("a check needs at least 2 folds and 20 replicates")
    _refuse_what_cannot_be_checked(fit.responses)
    rng = np.random.default_rng(seed)
    part = _Part.of(fit, rng)
    cells = Cells.of(part.responses, part.guessing)
    whole = fit_hierarchical(cells, part.at, slopes=False)
    comparison = _compare(part, whole.at, folds, rng)
    left_out = leave_models_out(cells, whole, _models_to_leave_out(part, rng))
    found = (comparison, left_out, whole.items.mean(whole.items.b))
    return _assemble(fit, part, found, _replicates(part, replicates), rng)


def _refuse_what_cannot_be_checked(responses: ResponseMatrix) -> None:
    models = int(np.count_nonzero(responses.n.any(1)))
    if models < MIN_MODELS or len(responses.items) < MIN_ITEMS:
        raise FitError(
            f"a check compares models and items with one another and needs at least {MIN_MODELS} "
            f"of each; models with responses: {models}, items: {len(responses.items)}."
        )
    if responses.extreme_items.all():
        raise FitError(
            "every item was solved by all rollouts or by none, so no response can contradict the "
            "model; a check needs items that tell models apart."
        )


@dataclass(frozen=True)
class _Part:
    """The part of the matrix that is looked at, with its abilities."""

    responses: ResponseMatrix
    guessing: NDArray[np.float64]
    at: Point
    sample: tuple[str, ...]

    @classmethod
    def of(cls, fit: Fit1PL, rng: np.random.Generator) -> _Part:
        data, said = fit.responses, []
        models, items = np.flatnonzero(data.n.any(1)), np.arange(len(data.items))
        if len(models) > MOST_MODELS:
            said.append(f"{MOST_MODELS} of {len(models):,} models")
            models = np.sort(rng.choice(models, MOST_MODELS, replace=False))
        most = max(MIN_ITEMS, MOST_CELLS // len(models))
        if len(items) > most:
            said.append(f"{most:,} of {len(items):,} items")
            items = np.sort(rng.choice(items, most, replace=False))
        whole = len(models) == len(data.models) and len(items) == len(data.items)
        some = data if whole else data.select(models=models.tolist(), items=items.tolist())
        theta = fit.theta[models]
        # the sd of the abilities as empirical Bayes has it
        s_theta = float(np.sqrt(np.mean(theta**2 + fit.theta_sd[models] ** 2)))
        shift = float(theta.mean())
        at = Point(theta - shift, s_theta, fit.mu_b - shift, fit.s_b, 0.0)
        return cls(some, fit.guessing[items], at, tuple(said))

    def of_items(self, most: int, rng: np.random.Generator) -> _Part:
        """Return a random part with at most `most` items, but those that any check needs."""
        items = np.arange(len(self.responses.items))
        if len(items) <= max(MIN_ITEMS, most):
            return self
        items = np.sort(rng.choice(items, max(MIN_ITEMS, most), replace=False))
        some = self.responses.select(items=items.tolist())
        return replace(self, responses=some, guessing=self.guessing[items])


def _replicates(part: _Part, wanted: int) -> int:
    cells = part.responses.n.size
    return min(wanted, max(_FEWEST_REPLICATES, int(_SIMULATED_CELLS / cells)))


def _compare(part: _Part, start: Point, folds: int, rng: np.random.Generator) -> Comparison:
    some = part.of_items(MOST_HELD_OUT // len(part.responses.models), rng)
    cells = Cells.of(some.responses, some.guessing)
    held = compare_held_out(cells, start, folds=folds, rng=rng)
    clear = abs(held.difference) > max(held.critical * held.se, _CLEAR)
    verdict = ("2pl" if held.difference > 0 else "1pl") if clear else "unclear"
    b_one, b_two = (one.items.mean(one.items.b) for one in (held.one, held.two))
    bic_part = part.of_items(MOST_BIC_ITEMS, rng)
    bic, at_bound = _bic(bic_part)
    return Comparison(
        verdict=verdict,
        difference=1000 * held.difference,
        se=1000 * held.se,
        critical=held.critical,
        folds=folds,
        cells=held.cells,
        items=len(some.responses.items),
        tau=held.two.at.tau,
        b_pearson=_known(correlation(b_one, b_two)),
        b_spearman=_known(rank_correlation(b_one, b_two)),
        bic=bic,
        bic_items=len(bic_part.responses.items),
        slopes_at_bound=at_bound,
    )


def _bic(part: _Part) -> tuple[tuple[InformationCriterion, ...], int | None]:
    if part.responses.extreme_items.all():
        return (), None
    one, two = (
        fit_marginal(part.responses, model=model, guessing=part.guessing, standard_errors=False)
        for model in ("1pl", "2pl")
    )
    choices = (("models", one.models), ("cells", one.cells), ("rollouts", one.rollouts))
    criteria = tuple(
        InformationCriterion(counted=counted, n=n, bic_1pl=one.bic(n), bic_2pl=two.bic(n))
        for counted, n in choices
    )
    return criteria, int(two.at_bound.sum())


def _models_to_leave_out(part: _Part, rng: np.random.Generator) -> NDArray[np.int64]:
    models = np.arange(len(part.responses.models))
    if len(models) <= MOST_REFITS:
        return models
    return np.sort(rng.choice(models, MOST_REFITS, replace=False))


def _assemble(
    fit: Fit1PL,
    part: _Part,
    found: tuple[Comparison, LeftOut, NDArray[np.float64]],
    replicates: int,
    rng: np.random.Generator,
) -> FitCheck:
    comparison, left_out, b = found
    model = FittedModel(Cells.of(part.responses, part.guessing), part.at)
    simulated = Simulated.of(model, replicates, rng)
    figures = model.item_figures(model.cells, model.residuals, model.every)
    chances = item_chances(model, figures, simulated.items, rng)
    names = part.responses.models
    model_fits = _model_fits(model, simulated, names)
    pairs = most_alike(model, simulated, names)
    judged = Judged(model, part.responses.items, names, figures, chances, model_fits, pairs)
    tried, data = fit.responses.n.any(0), fit.responses
    return FitCheck(
        **fit_facts(fit),
        sample=_sample_words(part, comparison, left_out),
        replicates=replicates,
        comparison=comparison,
        leave_one_out=_leave_one_out(left_out, names),
        findings=list_findings(judged, fit, identical_models(data)),
        false_alarms=FALSE_ALARMS,
        negative_item_rest=int(np.count_nonzero(figures[2] < 0)),
        negative_item_rest_expected=float((simulated.items[:, 2] < 0).sum(1).mean()),
        all_right=int(np.count_nonzero(tried & (data.correct == data.n).all(0))),
        all_wrong=int(np.count_nonzero(tried & ~data.correct.any(0))),
        typical_item_fit=typical(figures[1]),
        misfit_items=int(chances.misfit_found.sum()),
        item_fits=_item_fits(judged, simulated, b, left_out),
        model_fits=model_fits,
        pairs=pairs,
    )


def _sample_words(part: _Part, comparison: Comparison, left_out: LeftOut) -> str | None:
    said = [f"Figures are of a random sample: {' and '.join(part.sample)}."] if part.sample else []
    items, models = len(part.responses.items), len(part.responses.models)
    if comparison.items < items:
        said.append(f"Held-out cells are of {comparison.items:,} random items.")
    if comparison.bic and comparison.bic_items < items:
        said.append(f"BIC is of {comparison.bic_items:,} random items.")
    if len(left_out.refits) < models:
        said.append(f"{len(left_out.refits)} random models were left out in turn.")
    return " ".join(said) or None


def _leave_one_out(left_out: LeftOut, names: Sequence[str]) -> LeaveOneOut:
    pearson = [one.pearson for one in left_out.refits if not np.isnan(one.pearson)]
    spearman = [one.spearman for one in left_out.refits if not np.isnan(one.spearman)]
    return LeaveOneOut(
        mean_pearson=float(np.mean(pearson)) if pearson else None,
        min_pearson=min(pearson, default=None),
        mean_spearman=float(np.mean(spearman)) if spearman else None,
        min_spearman=min(spearman, default=None),
        models=tuple(
            LeftOutModel(
                model=names[one.model],
                pearson=_known(one.pearson),
                spearman=_known(one.spearman),
                shift=one.shift,
            )
            for one in sorted(left_out.refits, key=lambda one: -one.shift)
        ),
    )


def _model_fits(
    model: FittedModel, simulated: Simulated, names: Sequence[str]
) -> tuple[ModelFit, ...]:
    figures = model.residuals.mean_squares(0)
    # logarithms: mean squares are ratios, and their chance is skewed
    z, p = family_chances(
        np.log(figures).ravel(), np.log(simulated.models).reshape(len(simulated.models), -1)
    )
    z, p = z.reshape(2, -1), p.reshape(2, -1)
    low, high = np.quantile(simulated.models, [0.025, 0.975], axis=0)
    worst = np.argsort(-np.where(np.isnan(z), -np.inf, z).max(0), kind="stable")
    return tuple(
        ModelFit(
            model=names[j],
            infit=_known(figures[0, j]),
            outfit=_known(figures[1, j]),
            infit_range=_range(low[0, j], high[0, j]),
            outfit_range=_range(low[1, j], high[1, j]),
            p_misfit=_known(p[:, j].min()),
        )
        for j in worst
    )


def _item_fits(
    judged: Judged, simulated: Simulated, b: NDArray[np.float64], left_out: LeftOut
) -> tuple[ItemFit, ...]:
    infit, outfit, rest = judged.figures
    chances: ItemChances = judged.chances
    low, high = np.quantile(simulated.items[:, :2], [0.025, 0.975], axis=0)
    cells, tried = judged.model.cells, judged.model.n.sum(1)
    least = np.fmin(chances.misfit, chances.inverted)
    worst = np.lexsort((-np.nan_to_num(outfit), np.where(np.isnan(least), 2, least)))
    return tuple(
        ItemFit(
            item=judged.items[i],
            solved=float(cells.right[i].sum() / tried[i]) if tried[i] else None,
            b=float(b[i]),
            moved_low=float(left_out.moved[0, i]),
            moved_high=float(left_out.moved[1, i]),
            infit=_known(infit[i]),
            outfit=_known(outfit[i]),
            infit_range=_range(low[0, i], high[0, i]),
            outfit_range=_range(low[1, i], high[1, i]),
            p_misfit=_known(chances.misfit[i]),
            item_rest=_known(rest[i]),
            p_inverted=_known(chances.inverted[i]),
        )
        for i in worst
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _range(low: float, high: float) -> Range | None:
    return None if np.isnan(low) else Range(low=float(low), high=float(high))
