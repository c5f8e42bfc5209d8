"""A fitted 1PL model, whichever engine made it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from ..errors import FitError
from .draws import difficulty_moments, draw_difficulties
from .map import draw_parameters, fit_map
from .model import ItemPatterns, guessing_vector

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from ..responses import ResponseMatrix
    from .collapsed import Parameters
    from .map import MapEstimate

Engine = Literal["mcmc", "map", "plain"]
FittedBy = Literal["mcmc", "map", "plain", "laplace"]
MOST_DRAWS = {"mcmc": 2000, "plain": 2000, "map": 1000, "laplace": 1000}
MOST_DRAWN = 40_000_000  # difficulties in all draws together, 320 MB
MOST_GUESSED_ROWS = 1000  # beyond, a step of the sampler takes too long


def evenly(total: int, count: int) -> NDArray[np.int64]:
    """Return at most `count` positions, equally spaced over `total`."""
    return np.linspace(0, total - 1, min(count, total)).round().astype(np.int64)


class Draws(NamedTuple):
    """Joint posterior draws: theta (S, J), b (S, I), mu_b (S,), s_b (S,)."""

    theta: NDArray[np.float64]
    b: NDArray[np.float64]
    mu_b: NDArray[np.float64]
    s_b: NDArray[np.float64]

    def thin(self, count: int) -> Draws:
        """Return at most `count` draws, equally spaced over all."""
        kept = evenly(len(self.b), count)
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
        ``mcmc`` (NUTS with b integrated out), ``plain`` (NUTS on everything), ``map`` (mode,
        Laplace draws of abilities, exact conditional b), or ``laplace``: ``map`` where ``mcmc`` was
        asked for and would take too long.
    theta, theta_sd
        Posterior means and standard deviations of the abilities, logits, shape (J,), mean zero.
    b, b_sd
        Posterior means and standard deviations of the difficulties, logits, shape (I,).
    mu_b, s_b
        Posterior means of the mean and standard deviation of the difficulties.
    draw
        Makes the joint posterior draws, always the same; see `draws`.
    seconds
        Wall time of the fit, without the draws of b.
    max_rhat, min_ess_bulk, divergences
        Sampler diagnostics; None for ``map`` and ``laplace``, which have no chains.
    """

    responses: ResponseMatrix
    guessing: NDArray[np.float64]
    engine: FittedBy
    theta: NDArray[np.float64]
    theta_sd: NDArray[np.float64]
    b: NDArray[np.float64]
    b_sd: NDArray[np.float64]
    mu_b: float
    s_b: float
    draw: Callable[[], Draws]
    seconds: float
    max_rhat: float | None = None
    min_ess_bulk: float | None = None
    divergences: int | None = None

    @cached_property
    def draws(self) -> Draws:
        """Joint posterior draws, made when they are first asked for: at most 2,000 (``mcmc``)."""
        return self.draw()


def fit_1pl(
    responses: ResponseMatrix,
    *,
    engine: Engine = "mcmc",
    guessing: ArrayLike = 0.0,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Fit1PL:
    """Fit the Bayesian 1PL model of docs/method, section 2.

    Parameters
    ----------
    responses
        Successes and rollouts of J models on I items; cells may be missing.
    engine
        ``mcmc`` samples abilities and hyper-parameters with NUTS, with the difficulties integrated
        out; ``plain`` samples everything with PyMC, the slow reference; ``map`` takes the mode and
        a normal approximation (well under a second).
    guessing
        Probability of a right answer by chance, for all items or one an item: 1 / number of
        choices for multiple choice, 0 otherwise.
    seed
        Seed of all draws; the same seed and data give the same fit.
    progress
        Called by ``mcmc`` with the draws made and those to come in all.

    Returns
    -------
    Fit1PL
        With guessing and more than 1,000 distinct items ``mcmc`` would take too long; the fit is
        then the one of ``map`` and labelled ``laplace``.

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
    if engine == "plain":
        return _fit_plain(responses, guesses, seed, start)
    patterns = ItemPatterns.of(responses, guesses)
    estimate = fit_map(patterns)
    guessed_rows = int(np.count_nonzero(patterns.guessing))
    if engine == "map" or guessed_rows > MOST_GUESSED_ROWS:
        label: FittedBy = "map" if engine == "map" else "laplace"
        return _fit_map(responses, guesses, patterns, estimate, (label, seed, start))
    # nutpie and ArviZ take seconds to import: not a price for reading a file or a MAP fit
    from .nuts import sample_collapsed  # noqa: PLC0415

    sample = sample_collapsed(patterns, estimate, seed, progress)
    theta = np.stack([at.theta for at in sample.parameters])
    b, b_sd = difficulty_moments(patterns, sample.parameters)
    return Fit1PL(
        responses=responses,
        guessing=guesses,
        engine="mcmc",
        theta=theta.mean(0),
        theta_sd=theta.std(0),
        b=b[patterns.row],
        b_sd=b_sd[patterns.row],
        mu_b=float(np.mean([at.mu_b for at in sample.parameters])),
        s_b=float(np.mean([at.s_b for at in sample.parameters])),
        draw=lambda: _draws(patterns, sample.parameters, "mcmc", np.random.default_rng(seed)),
        seconds=time.perf_counter() - start,
        max_rhat=sample.max_rhat,
        min_ess_bulk=sample.min_ess_bulk,
        divergences=sample.divergences,
    )


def _draws(
    patterns: ItemPatterns,
    parameters: tuple[Parameters, ...],
    engine: FittedBy,
    rng: np.random.Generator,
) -> Draws:
    """Draw the difficulties given the parameters, fewer times where there are very many items."""
    count = min(MOST_DRAWS[engine], max(MOST_DRAWN // len(patterns.row), 200))
    kept = tuple(parameters[k] for k in evenly(len(parameters), count))
    return Draws(
        theta=np.stack([at.theta for at in kept]),
        b=draw_difficulties(patterns, kept, rng),
        mu_b=np.array([at.mu_b for at in kept]),
        s_b=np.array([at.s_b for at in kept]),
    )


def _fit_map(
    responses: ResponseMatrix,
    guessing: NDArray[np.float64],
    patterns: ItemPatterns,
    estimate: MapEstimate,
    how: tuple[FittedBy, int, float],
) -> Fit1PL:
    engine, seed, start = how
    at = estimate.parameters

    def draw() -> Draws:
        rng = np.random.default_rng(seed)
        return _draws(patterns, draw_parameters(estimate, MOST_DRAWS[engine], rng), engine, rng)

    return Fit1PL(
        responses=responses,
        guessing=guessing,
        engine=engine,
        theta=at.theta,
        theta_sd=np.sqrt(np.clip(np.diag(estimate.covariance)[:-2], 0, None)),
        b=estimate.b[patterns.row],
        b_sd=estimate.b_sd[patterns.row],
        mu_b=at.mu_b,
        s_b=at.s_b,
        draw=draw,
        seconds=time.perf_counter() - start,
    )


def _fit_plain(
    responses: ResponseMatrix, guessing: NDArray[np.float64], seed: int, start: float
) -> Fit1PL:
    # PyMC takes 3 s to import
    from .mcmc import sample_plain  # noqa: PLC0415

    sample = sample_plain(responses, guessing, seed)
    draws = Draws(sample.theta, sample.b, sample.mu_b, sample.s_b).thin(MOST_DRAWS["plain"])
    return Fit1PL(
        responses=responses,
        guessing=guessing,
        engine="plain",
        theta=sample.theta.mean(0),
        theta_sd=sample.theta.std(0),
        b=sample.b.mean(0),
        b_sd=sample.b.std(0),
        mu_b=float(sample.mu_b.mean()),
        s_b=float(sample.s_b.mean()),
        draw=lambda: draws,
        seconds=time.perf_counter() - start,
        max_rhat=sample.max_rhat,
        min_ess_bulk=sample.min_ess_bulk,
        divergences=sample.divergences,
    )
