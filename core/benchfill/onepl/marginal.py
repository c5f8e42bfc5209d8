"""1PL and 2PL fits by marginal maximum likelihood: fixed item parameters, abilities integrated out.

What most IRT software reports (Bock & Aitkin 1981, doi:10.1007/BF02293801), for comparison with it
and for BIC; a benchmark's own difficulties come from the Bayesian 1PL (docs/method, section 2).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import minimize

from ..errors import FitError
from .marginal_likelihood import MarginalData, MarginalLikelihood, Quadrature
from .model import guessing_vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ..responses import ResponseMatrix

MarginalModel = Literal["rasch", "1pl", "2pl"]
MAX_SLOPE, MAX_INTERCEPT = 10.0, 60.0
MOST_PARAMETERS = 1500  # with standard errors: their matrix is dense
_STEP, _REACH, _FINEST = 0.25, 5.0, 0.01
_ACCURATE = 0.8  # posterior sd of an ability in steps: its integral is right to 1e-5, relatively
_EM, _GAIN, _NEWTON = 60, 0.05, 6
_FINE, _ROUGH = 1e-8, 1e-7  # relative gain of a step that ends the search


@dataclass(frozen=True, eq=False)
class MarginalFit:
    """Item parameters by marginal maximum likelihood.

    ``P(Y=1) = g + (1 - g) sigmoid(a (theta - b))``. Abilities are ``theta ~ N(0, 1)``,
    so slopes are logits a standard deviation of the ability.

    Parameters
    ----------
    model
        ``rasch`` (slope 1), ``1pl`` (one slope for all items) or ``2pl`` (a slope for each).
    slope, slope_se
        Slopes and their standard errors, shape (I,); NaN where there is none.
    b, b_se
        Difficulties in standard deviations of the ability, and their standard errors, shape (I,).
        Infinite for items that every rollout solved (-) or none did (+), NaN for items without a
        rollout.
    log_likelihood
        Of the single rollouts, without binomial coefficients.
    parameters
        Number of free parameters.
    models, cells, rollouts
        What n may be in BIC.
    at_bound
        Items whose likelihood has no maximum within the bounds (slopes within +-10), shape (I,):
        they stand at a bound, and counting their parameters as information criteria do is moot.
    """

    model: MarginalModel
    slope: NDArray[np.float64]
    slope_se: NDArray[np.float64]
    b: NDArray[np.float64]
    b_se: NDArray[np.float64]
    log_likelihood: float
    parameters: int
    models: int
    cells: int
    rollouts: int
    at_bound: NDArray[np.bool_]

    @property
    def aic(self) -> float:
        """Akaike's information criterion."""
        return 2 * self.parameters - 2 * self.log_likelihood

    def bic(self, n: float | None = None) -> float:
        """Return Schwarz's information criterion; `n` is the number of models unless given."""
        return self.parameters * float(np.log(n or self.models)) - 2 * self.log_likelihood


def fit_marginal(
    responses: ResponseMatrix,
    *,
    model: MarginalModel = "1pl",
    guessing: ArrayLike = 0.0,
    standard_errors: bool = True,
) -> MarginalFit:
    """Fit item parameters by marginal maximum likelihood, with ``theta ~ N(0, 1)``.

    Parameters
    ----------
    responses
        Successes and rollouts of J models (the persons) on I items; cells may be missing.
    model
        ``1pl`` (one free slope), ``rasch`` (slope 1) or ``2pl`` (a slope for each item).
    guessing
        Known guessing probability, for all items or one an item, in [0, 1).
    standard_errors
        From the observed information; NaN beyond 1,500 distinct parameters, or where it is
        singular. Without them the search ends at a gain of 1e-7 of the log likelihood, not 1e-8:
        enough to compare models.

    Returns
    -------
    MarginalFit

    Raises
    ------
    FitError
        Fewer than two models, or no item that some rollouts solved and others did not.
    ValueError
        A guessing probability outside [0, 1).
    """
    guesses = guessing_vector(responses, guessing)
    if len(responses.models) < 2:
        raise FitError("a fit by marginal likelihood needs at least two models.")
    suffice = model != "2pl" and not guesses.any()
    data = MarginalData.of(responses, guesses, totals_suffice=suffice)
    if not len(data.copies):
        raise FitError("every item was solved by all rollouts or by none; there is nothing to fit.")
    space = _Space(model, len(data.copies))
    point, likelihood = _maximise(data, space, _FINE if standard_errors else _ROUGH)
    point, covariance = _polished(likelihood, space, point, wanted=standard_errors)
    return _result(responses, likelihood, space, point, covariance)


@dataclass(frozen=True)
class _Space:
    """The free parameters: intercepts d (R,), then no slope, one, or R."""

    model: MarginalModel
    rows: int
    slopes: int = field(init=False)

    def __post_init__(self) -> None:
        slopes = {"rasch": 0, "1pl": 1, "2pl": self.rows}[self.model]
        object.__setattr__(self, "slopes", slopes)

    def split(self, x: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return intercepts and slopes of all rows."""
        d, a = x[: self.rows], x[self.rows :] if self.slopes else np.ones(1)
        return d, np.broadcast_to(a, (self.rows,))

    def score(self, by_d: NDArray[np.float64], by_a: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the score of the free parameters."""
        slopes = by_a if self.model == "2pl" else by_a.sum(keepdims=True)[: self.slopes]
        return np.concatenate([by_d, slopes])

    def information(self, full: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the information of the free parameters from that of all (d, a)."""
        if self.model == "2pl":
            return full
        onto = np.zeros((2 * self.rows, self.rows + self.slopes))
        onto[: self.rows, : self.rows] = np.eye(self.rows)
        onto[self.rows :, self.rows :] = 1
        return np.asarray(onto.T @ full @ onto)

    @property
    def bound(self) -> NDArray[np.float64]:
        """Largest size of each parameter."""
        return np.repeat([MAX_INTERCEPT, MAX_SLOPE], [self.rows, self.slopes])


def _maximise(
    data: MarginalData, space: _Space, tolerance: float
) -> tuple[NDArray[np.float64], MarginalLikelihood]:
    """Climb to the maximum; then refine the grid of abilities until it is fine enough there."""
    tried = (data.persons @ (data.right + data.wrong)) + 1
    rate = (data.persons @ data.right + 0.5) / tried
    rate = np.clip((rate - data.guessing) / (1 - data.guessing), 0.02, 0.98)
    point = np.concatenate([np.log(rate / (1 - rate)), np.ones(space.slopes)])
    rollouts = (data.right + data.wrong).sum(1).max()
    step, reach = max(min(_STEP, 1 / np.sqrt(1 + rollouts / 4)), _FINEST), _REACH
    near = space.model != "2pl"
    while True:
        likelihood = MarginalLikelihood(data, Quadrature.of(step, reach))
        if near:
            point = _climb(likelihood, space, point, tolerance)
        else:
            point = _expect_and_maximise(likelihood, space, point)
        sd, end = likelihood.abilities(*space.split(point))
        if end > 1e-8 and reach < 4 * _REACH:
            reach *= 1.4
        elif sd.min() < _ACCURATE * step and step > _FINEST:
            step = max(step / 1.5, _FINEST)
        elif near:
            return point, likelihood
        near = True


def _expect_and_maximise(
    likelihood: MarginalLikelihood, space: _Space, point: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Come near the maximum in a few steps, where items without one would take very many."""
    for rescale in (True, False):  # slopes at their bound cannot follow a new scale
        best, highest = point, -np.inf
        for _ in range(_EM):
            value, d, a = likelihood.em_step(*space.split(point), MAX_SLOPE, rescale=rescale)
            if value > highest:
                best = point
            if value < highest + _GAIN:
                break
            highest = value
            point = np.clip(np.concatenate([d, a]), -space.bound, space.bound)
        point = best
    return point


def _climb(
    likelihood: MarginalLikelihood,
    space: _Space,
    start: NDArray[np.float64],
    tolerance: float,
) -> NDArray[np.float64]:
    def loss(x: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, by_d, by_a = likelihood.value_and_score(*space.split(x))
        return -value, -space.score(by_d, by_a)

    found = minimize(
        loss,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=np.stack([-space.bound, space.bound], 1),
        options={"maxiter": 3000, "maxfun": 6000, "maxcor": 20, "ftol": tolerance, "gtol": 1e-4},
    )
    return np.asarray(found.x, dtype=np.float64)


def _polished(
    likelihood: MarginalLikelihood, space: _Space, point: NDArray[np.float64], *, wanted: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Take the last steps by Newton's method, whose matrix is what standard errors need."""
    free = np.flatnonzero(np.abs(point) < space.bound - 1e-9)
    if not wanted or len(point) > MOST_PARAMETERS or not len(free):
        return point, None
    best, factor = likelihood.value_and_score(*space.split(point))[0], None
    for _ in range(_NEWTON):
        d, a = space.split(point)
        information = space.information(likelihood.information(d, a)[0])[np.ix_(free, free)]
        try:
            factor = cho_factor(information)
        except LinAlgError:
            return point, None
        _, by_d, by_a = likelihood.value_and_score(d, a)
        moved = point.copy()
        moved[free] += cho_solve(factor, space.score(by_d, by_a)[free])
        value = likelihood.value_and_score(*space.split(moved))[0]
        if value < best or (np.abs(moved) > space.bound).any():
            break
        size, point, best = float(np.abs(moved - point).max()), moved, value
        if size < 1e-9:
            break
    covariance = np.full((len(point), len(point)), np.nan)
    covariance[np.ix_(free, free)] = cho_solve(factor, np.eye(len(free)))
    return point, covariance


def _result(
    responses: ResponseMatrix,
    likelihood: MarginalLikelihood,
    space: _Space,
    point: NDArray[np.float64],
    covariance: NDArray[np.float64] | None,
) -> MarginalFit:
    d, a = space.split(point)
    value = likelihood.value_and_score(d, a)[0]
    with np.errstate(divide="ignore"):
        b = -d / a
    b_se, slope_se = _standard_errors(likelihood, space, (d, a), covariance)
    row, tried = likelihood.data.row, responses.n.sum(0, dtype=np.int64)
    none = responses.correct.sum(0, dtype=np.int64) == 0
    limit = np.where(tried == 0, np.nan, np.where(none, np.inf, -np.inf))
    bound = (np.abs(d) > 0.99 * MAX_INTERCEPT) | (np.abs(a) > 0.99 * MAX_SLOPE)
    items = int(np.count_nonzero(tried))
    own = space.model == "2pl"

    def of_items(values: NDArray[np.float64], other: NDArray[np.float64] | float) -> Any:
        return np.where(row >= 0, values[row], other)

    return MarginalFit(
        model=space.model,
        slope=of_items(a, np.nan if own else float(a[0])),
        slope_se=of_items(slope_se, np.nan),
        b=of_items(b, limit),
        b_se=of_items(b_se, np.nan),
        log_likelihood=value,
        parameters=2 * items if own else items + space.slopes,
        models=len(responses.models),
        cells=int(np.count_nonzero(responses.n)),
        rollouts=int(responses.n.sum(dtype=np.int64)),
        at_bound=(row >= 0) & bound[row],
    )


def _standard_errors(
    likelihood: MarginalLikelihood,
    space: _Space,
    at: tuple[NDArray[np.float64], NDArray[np.float64]],
    covariance: NDArray[np.float64] | None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the standard errors of b and a of one item of each row, by the delta method.

    What items of one row share is uncertain as the row is; how they differ is known from each
    one's own data at given abilities: ``cov = cov_row + (1 - 1/copies) information_one^-1``.
    """
    d, a = at
    rows = space.rows
    if covariance is None:
        return np.full(rows, np.nan), np.full(rows, np.nan)
    _, one = likelihood.information(d, a)
    apart = 1 - 1 / likelihood.data.copies
    index = np.arange(rows)
    slope = rows + index if space.model == "2pl" else np.full(rows, rows)
    var_d = covariance[index, index]
    if space.model == "2pl":
        inverse = np.linalg.pinv(one) * apart[:, None, None]
        var_a = covariance[slope, slope] + inverse[:, 1, 1]
        both = covariance[index, slope] + inverse[:, 0, 1]
        var_d = var_d + inverse[:, 0, 0]
    else:
        var_d = var_d + apart / one[:, 0, 0]
        free = space.slopes == 1
        var_a = np.full(rows, covariance[rows, rows] if free else 0.0)
        both = covariance[index, slope] if free else np.zeros(rows)
    var_b = (var_d - 2 * both * (d / a) + var_a * (d / a) ** 2) / a**2
    return np.sqrt(var_b), np.sqrt(var_a)
