"""What models do on an item beyond ability and difficulty, and why it cancels when all are asked.

Where a matrix scatters more than 1PL explains, each model has a success rate of its own on each
item. Its mean is what 1PL says, P, and its variance (t dP/db)^2, with t the scatter in logits
(`benchfill.overdispersion`; Williams 1982, doi 10.2307/2347977); it is taken to be a Beta variable,
so that counts are beta-binomial and nothing has to be integrated.

An item's difficulty is the one that a fit to the responses of the matrix's models gives: the sum
of their rates is the sum of their P. So the deviations of all J models sum to zero, and rollouts
spread over all of them determine the difficulty however large the scatter is, whereas rollouts of a
few leave the others' deviations open. By the central limit theorem the sum is taken to be normal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.special import betaln, expit

if TYPE_CHECKING:
    from numpy.typing import NDArray

STEP = 0.0075  # logits
_LARGEST = 1e6  # of the Beta's two parameters together: so little scatter is none
_SMALLEST = 1e-3
_LEAST_VARIANCE = 1e-12


class LocalMisfit:
    """Likelihood of a child's difficulty where the models' rates scatter beyond 1PL.

    Parameters
    ----------
    theta
        Draws of the abilities of the J models that can be asked, shape (S, J).
    grid
        Difficulties, evenly spaced, shape (G,), logits.
    guessing
        Probability of a right answer by chance.
    sd
        Scatter t beyond 1PL, logits.
    others
        Abilities of the matrix's further models, which are not asked, shape (O,).
    """

    def __init__(
        self,
        theta: NDArray[np.float64],
        grid: NDArray[np.float64],
        guessing: float,
        sd: float,
        others: NDArray[np.float64],
    ) -> None:
        step = float(grid[1] - grid[0])
        self._stride = max(1, round(step / STEP))
        fine = step / self._stride
        low = float(theta.min()) - grid[-1]
        count = int(np.ceil((float(theta.max()) - grid[0] - low) / fine)) + 1
        count += -count % self._stride
        line = low + fine * np.arange(count)  # ability less difficulty
        self._first = np.rint((theta - grid[0] - low) / fine).astype(np.int64)
        self._guessing, self._sd = guessing, sd
        self._rows = count // self._stride
        self._p, self._size = self._beta(line)
        self._prior = self._p * (1 - self._p) / (self._size + 1)
        self._told: dict[tuple[float, float], NDArray[np.float64]] = {}
        p, size = self._beta(others[:, None] - grid)
        open_ = np.tile((p * (1 - p) / (size + 1)).sum(0), (len(theta), 1))
        back = self._stride * np.arange(len(grid))
        for first in self._first.T:
            open_ += self._prior[first[:, None] - back]
        self._before = open_  # variance of the sum of all deviations, nobody asked

    def log_likelihood(
        self, correct: NDArray[np.float64], n: NDArray[np.float64], draws: slice, window: slice
    ) -> NDArray[np.float64]:
        """Return the log likelihood of counts (J,) for some draws and a part of the grid."""
        before = self._before[draws, window]
        found = np.zeros((len(before), 3, before.shape[1]))
        for j in np.flatnonzero(n > 0):
            # a draw's part of the grid is a run of one of the interleaved lines: copied as it lies
            runs = sliding_window_view(self._of(correct[j], n[j]), found.shape[2], axis=-1)
            last, phase = np.divmod(self._first[draws, j], self._stride)
            found += runs[phase, :, self._rows - 1 - last + (window.start or 0)]
        total, off, less = np.moveaxis(found, 1, 0)
        after = np.maximum(before + less, _LEAST_VARIANCE)
        before = np.maximum(before, after)
        return np.asarray(total - off**2 / (2 * after) - 0.5 * np.log(after / before))

    def _of(self, correct: float, n: float) -> NDArray[np.float64]:
        """Return what counts say of a rate: log likelihood, how far off 1PL, change of variance.

        Shape (stride, 3, rows): the line, hardest first, dealt out to as many lines as the stride
        of the grid on it, so that neighbours on the grid are neighbours there.
        """
        if (correct, n) not in self._told:
            right, wrong = self._size * self._p, self._size * (1 - self._p)
            mean = (right + correct) / (self._size + n)
            log_likelihood = betaln(right + correct, wrong + n - correct) - betaln(right, wrong)
            less = mean * (1 - mean) / (self._size + n + 1) - self._prior
            told = np.stack([log_likelihood, mean - self._p, less])
            dealt = told.reshape(3, self._rows, self._stride)[:, ::-1].transpose(2, 0, 1)
            self._told[correct, n] = np.ascontiguousarray(dealt)
        return self._told[correct, n]

    def _beta(self, away: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return mean and size of the rates' distribution at ability less difficulty."""
        solved = expit(np.clip(away, -30, 30))
        p = self._guessing + (1 - self._guessing) * solved
        slope = (1 - self._guessing) * solved * (1 - solved)
        size = p * (1 - p) / (self._sd * slope) ** 2 - 1
        return p, np.clip(size, _SMALLEST, _LARGEST)
