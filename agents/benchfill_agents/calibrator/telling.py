"""How much rollouts tell about a child, and which models to ask for the next ones.

A model's ability is an estimate, so its n rollouts of information w each tell about the child with
variance 1 / (n w) + var(theta): repeated asking of one model pays less and less. Where models
deviate from 1PL by more than chance, each also has a deviation of its own on the child.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit
from scipy.stats import qmc, rankdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .bench import Bench

VAGUE = 0.5  # precision of a difficulty before anything is asked, logits


@dataclass(frozen=True, eq=False)
class Telling:
    """How much rollouts on each model tell about one child.

    Parameters
    ----------
    information
        Of a rollout on each of the P models, shape (P,).
    theta_variance
        Of their abilities, shape (P,): what no number of rollouts mends.
    misfit
        Variance of each model's own deviation on an item, logits squared. The deviations of all
        models of the matrix, weighted by their information, sum to zero
        (`benchfill.local_misfit`), so a model that is not asked leaves its own open.
    others
        Information of the models of the matrix that cannot be asked, shape (O,).
    prices
        Of a rollout on each model, shape (P,), 1 on average.
    """

    information: NDArray[np.float64]
    theta_variance: NDArray[np.float64]
    misfit: float = 0.0
    turn: NDArray[np.float64] | float = 0.5
    """Between 0 and 1: of models that were asked equally often, the lower come first."""
    others: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    prices: NDArray[np.float64] | float = 1.0

    def precision(self, n: NDArray[Any]) -> NDArray[np.float64]:
        """Return one over the variance of the difficulty by n rollouts; n (..., P) gives (...)."""
        floor = n * np.maximum(self.information, 1e-9)
        known = floor / (1 + floor * self.theta_variance)
        if self.misfit == 0:
            return np.asarray(known.sum(-1))
        whole = self.information.sum() + self.others.sum()
        share, rest = self.information / whole, self.others / whole
        # of the deviations, were the difficulty known; and how much of it then hangs on it
        left = 1 / (known + 1 / self.misfit)
        leaning = (share * left).sum(-1) / self.misfit + rest.sum()
        level = VAGUE + (known / (1 + known * self.misfit)).sum(-1)
        open_ = (share**2 * left).sum(-1) + (rest**2).sum() * self.misfit
        return np.asarray(1 / (open_ + leaning**2 / level))

    def allocate(self, asked: NDArray[np.int64], size: int) -> NDArray[np.int64]:
        """Share out rollouts one by one, each to the model where it tells most for its price.

        Shape (P,). With misfit the models are strata, all of which are sampled in proportion to the
        standard deviation of an answer over the root of its price (Neyman 1934, doi
        10.2307/2342192), whatever the deviations are.
        """
        then, one = asked.astype(np.float64), np.eye(len(asked))
        for _ in range(size):
            if self.misfit > 0:
                told = np.maximum(self.information, 1e-9) / self.prices
                behind = (then + self.turn) / np.sqrt(told)
                then[np.argmin(behind)] += 1
            else:
                gained = self.precision(then + one) - self.precision(then)
                then[np.argmax(gained / self.prices)] += 1
        return (then - asked).astype(np.int64)

    def rate(self, asked: NDArray[np.int64], size: NDArray[np.int64]) -> float:
        """Return the information of some further rollouts for their price."""
        gained = self.precision(asked + size) - self.precision(asked)
        return float(gained) / float((size * self.prices).sum())


def telling(
    bench: Bench, difficulty: NDArray[np.float64], mass: NDArray[np.float64], guessing: float
) -> Telling:
    """Return what rollouts on a child tell, averaged over a distribution of its difficulty."""
    return Telling(
        expected_information(bench.theta, difficulty, mass, guessing),
        bench.theta_variance,
        bench.misfit**2,
        _turns(bench.theta) if bench.misfit else 0.5,
        expected_information(bench.others, difficulty, mass, guessing),
        bench.prices,
    )


def _turns(theta: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return an order in which however many models are asked, they are spread over abilities."""
    return np.asarray(
        qmc.Halton(1, scramble=False).random(len(theta))[rankdata(theta, "ordinal") - 1, 0]
    )


def expected_information(
    theta: NDArray[np.float64],
    difficulty: NDArray[np.float64],
    mass: NDArray[np.float64],
    guessing: float,
) -> NDArray[np.float64]:
    """Return each ability's information a rollout, averaged over a distribution of difficulty.

    Shape (P,). It is p (1 - p) without guessing, and (dP/db)^2 / (P (1 - P)) in general.
    """
    p = expit(theta[:, None] - difficulty)
    information = (1 - guessing) * p**2 * (1 - p) / (guessing + (1 - guessing) * p)
    return np.asarray(information @ mass)
