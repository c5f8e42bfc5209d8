"""How far a mismatch of difficulties can move the difference of two models' scores.

docs/method, section 4; paper arXiv 2610.29927, sections 2.1 and B.1:
``|D_B - D_mu| <= L W1(nu_B, mu)``, plus what chance does to rollouts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from ..measure import DifficultyScale

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..onepl import Fit1PL

GRID = 512


def slopes(fit: Fit1PL) -> NDArray[np.float64]:
    """Return how steeply each model's fitted curve falls along z, on a grid, shape (J, 513).

    ``(1 - g) R sigma'(theta_j - b)``, in score per unit of z, with R the logits that z spans. The
    smallest guessing probability is taken for all items, which makes the curves steepest. Where
    items differ in it the expected score is no function of z alone, and the bound holds for the
    curves with that common g.
    """
    scale = DifficultyScale.of(fit.b)
    p = expit(fit.theta[:, None] - np.linspace(scale.low, scale.high, GRID + 1))
    return np.asarray((1 - fit.guessing.min()) * scale.width * p * (1 - p))


def lipschitz(
    slope: NDArray[np.float64], first: NDArray[np.int64], second: NDArray[np.int64], fit: Fit1PL
) -> NDArray[np.float64]:
    """Return L of the differences of pairs of fitted curves on z in [0, 1], shape (P,).

    The largest value on the grid plus the most by which it can be exceeded between grid points:
    the third derivative of the logistic function is at most 1/8, so a difference of two of its
    slopes bends by at most 1/4.
    """
    width = DifficultyScale.of(fit.b).width
    slack = (1 - float(fit.guessing.min())) * width * (width / GRID) ** 2 / 32
    return np.asarray(np.abs(slope[first] - slope[second]).max(1) + slack)


def rollout_limit(spread: NDArray[np.float64], delta: float) -> NDArray[np.float64]:
    """Return the distance between observed and expected difference that has probability delta.

    Hoeffding's inequality for a sum of independent rollouts of which number r can move the
    difference by c_r: ``P(|error| >= t) <= 2 exp(-2 t^2 / sum c_r^2)``. A rollout of model j on one
    of I items counts ``1 / (I n_ji)``, so ``spread = sum c_r^2 = sum_i (1/n_1i + 1/n_2i) / I^2``,
    whatever the n. With n = k everywhere this is the paper's ``sqrt(log(2/delta) / (I k))``.

    Parameters
    ----------
    spread
        The sum of squares, shape (P,).
    delta
        Probability of error of one pair, in (0, 1).
    """
    return np.asarray(np.sqrt(np.log(2 / delta) * spread / 2))
