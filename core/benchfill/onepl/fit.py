"""A fitted 1PL model, whichever engine made it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from ..errors import FitError
from .draws import draw_difficulties
from .map import draw_parameters, fit_map
from .model import ItemPatterns, guessing_vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ..responses import ResponseMatrix

Engine = Literal["mcmc", "map"]
MAP_DRAWS = 1000
MAX_DRAWS = 2000


class Draws(NamedTuple):
    """Joint posterior draws: theta (S, J), b (S, I), mu_b (S,), s_b (S,)."""

    theta: NDArray[np.float64]
    b: NDArray[np.float64]
    mu_b: NDArray[np.float64]
    s_b: NDArray[np.float64]

    def thin(self, count: int) -> Draws:
        """Return at most `count` draws, equally spaced over all."""
        total = len(self.b)
        kept = np.linspace(0, total - 1, min(count, total)).round().astype(int)
        return Draws(self.theta[kept], self.b[kept], self.mu_b[kept], self.s_b[kept])


@dataclass(frozen=True, eq=False)
class Fit1PL:
    """Abilities and difficulties of a response matrix with their joint uncertainty.

    Parameters
    ----------
    responses
        The data of the fit.
    guessing
        Guessing probability of each item, shape (I,), in [0, 1).
    engine
        ``mcmc`` (NUTS) or ``map`` (mode, Laplace draws of abilities, exact conditional b).
    theta, theta_sd
        Posterior means and standard deviations of the abilities, logits, shape (J,), mean zero.
    b, b_sd
        Posterior means and standard deviations of the difficulties, logits, shape (I,).
    mu_b, s_b
        Posterior means of the mean and standard deviation of the difficulties.
    draws
        Joint posterior draws.
    seconds
        Wall time of the fit.
    max_rhat, min_ess_bulk, divergences
        Sampler diagnostics; None for ``map``, which has no chains.
    """

    responses: ResponseMatrix
    guessing: NDArray[np.float64]
    engine: Engine
    theta: NDArray[np.float64]
    theta_sd: NDArray[np.float64]
    b: NDArray[np.float64]
    b_sd: NDArray[np.float64]
    mu_b: float
    s_b: float
    draws: Draws
    seconds: float
    max_rhat: float | None = None
    min_ess_bulk: float | None = None
    divergences: int | None = None


def fit_1pl(
    responses: ResponseMatrix,
    *,
    engine: Engine = "mcmc",
    guessing: ArrayLike = 0.0,
    seed: int = 0,
) -> Fit1PL:
    """Fit the Bayesian 1PL model of docs/method, section 2.

    Parameters
    ----------
    responses
        Successes and rollouts of J models on I items; cells may be missing.
    engine
        ``mcmc`` samples everything with NUTS (seconds to minutes); ``map`` takes the mode and a
        normal approximation (well under a second).
    guessing
        Probability of a right answer by chance, for all items or one an item: 1 / number of
        choices for multiple choice, 0 otherwise.
    seed
        Seed of all draws; the same seed and data give the same fit.

    Returns
    -------
    Fit1PL

    Raises
    ------
    FitError
        No rollout at all, or a fit that did not converge.
    ValueError
        A guessing probability outside [0, 1).
    """
    guesses = guessing_vector(responses, guessing)
    if not responses.n.any():
        raise FitError("no cell of the response matrix holds a rollout; there is nothing to fit.")
    start = time.perf_counter()
    if engine == "mcmc":
        return _fit_mcmc(responses, guesses, seed, start)
    return _fit_map(responses, guesses, seed, start)


def _fit_map(
    responses: ResponseMatrix, guessing: NDArray[np.float64], seed: int, start: float
) -> Fit1PL:
    rng = np.random.default_rng(seed)
    patterns = ItemPatterns.of(responses, guessing)
    estimate = fit_map(patterns)
    parameters = draw_parameters(estimate, MAP_DRAWS, rng)
    draws = Draws(
        theta=np.stack([at.theta for at in parameters]),
        b=draw_difficulties(patterns, parameters, rng),
        mu_b=np.array([at.mu_b for at in parameters]),
        s_b=np.array([at.s_b for at in parameters]),
    )
    at = estimate.parameters
    return Fit1PL(
        responses=responses,
        guessing=guessing,
        engine="map",
        theta=at.theta,
        theta_sd=np.sqrt(np.clip(np.diag(estimate.covariance)[:-2], 0, None)),
        b=estimate.b[patterns.row],
        b_sd=estimate.b_sd[patterns.row],
        mu_b=at.mu_b,
        s_b=at.s_b,
        draws=draws,
        seconds=time.perf_counter() - start,
    )


def _fit_mcmc(
    responses: ResponseMatrix, guessing: NDArray[np.float64], seed: int, start: float
) -> Fit1PL:
    # PyMC takes 3 s to import: not a price for reading a file or a MAP fit
    from .mcmc import sample_plain  # noqa: PLC0415

    sample = sample_plain(responses, guessing, seed)
    draws = Draws(sample.theta, sample.b, sample.mu_b, sample.s_b)
    return Fit1PL(
        responses=responses,
        guessing=guessing,
        engine="mcmc",
        theta=sample.theta.mean(0),
        theta_sd=sample.theta.std(0),
        b=sample.b.mean(0),
        b_sd=sample.b.std(0),
        mu_b=float(sample.mu_b.mean()),
        s_b=float(sample.s_b.mean()),
        draws=draws.thin(MAX_DRAWS),
        seconds=time.perf_counter() - start,
        max_rhat=sample.max_rhat,
        min_ess_bulk=sample.min_ess_bulk,
        divergences=sample.divergences,
    )
