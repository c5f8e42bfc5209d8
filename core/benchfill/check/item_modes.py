"""Where each item's (b, log a) is most likely, given abilities and hyper-parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..onepl.curves import log_curves
from .cells import Cells

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .cells import Point

_STEPS, _HALVINGS = 40, 8
_CLOSE = 1e-5
_LONGEST = np.array([2.0, 1.0])  # of one step in b and log a


@dataclass(frozen=True)
class ItemModes:
    """Modes of b and log a, shape (I,), and the lower Cholesky factor (l11, l21, l22), (3, I).

    The factor is of the inverse information; with slopes fixed l21 and l22 are 0.
    """

    b: NDArray[np.float64]
    log_a: NDArray[np.float64]
    root: NDArray[np.float64]

    def nodes(
        self, x: NDArray[np.float64], y: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Place standard nodes (Q,) around each mode: b and log a (I, Q), and log volume (I,)."""
        l11, l21, l22 = self.root[:, :, None]
        log_volume = np.log(self.root[0]) + np.log(np.where(self.root[2] > 0, self.root[2], 1.0))
        return self.b[:, None] + l11 * x, self.log_a[:, None] + l21 * x + l22 * y, log_volume


def find_modes(cells: Cells, at: Point, start: ItemModes, *, close: float = _CLOSE) -> ItemModes:
    """Climb from `start` by Fisher scoring, each item by itself; with ``tau`` 0 log a stays 0.

    An item is done once its step is shorter than `close`; the others go on without it.
    """
    place = np.stack([start.b, start.log_a if at.tau else np.zeros_like(start.log_a)])
    information = np.empty((3, len(start.b)))
    rows, some, here = np.arange(len(start.b)), cells, place
    value, score, known = _derivatives(some, at, here)
    for _ in range(_STEPS):
        step = _solve(known, score)
        # shortened as a whole: cut by its parts it might lead downhill
        size = np.minimum(1, (_LONGEST / np.maximum(np.abs(step.T), 1e-300)).min(1))
        for _ in range(_HALVINGS):
            moved = here + size * step
            reached = _derivatives(some, at, moved)
            worse = reached[0] < value - 1e-9 * np.abs(value)
            if not worse.any():
                break
            size = np.where(worse, size / 2, size)
        here = np.where(worse, here, moved)
        value, score, known = (
            np.where(worse, old, new)
            for old, new in zip((value, score, known), reached, strict=True)
        )
        place[:, rows], information[:, rows] = here, known
        going = np.abs(np.where(worse, 0, size * step)).max(0) >= close
        if not going.any():
            break
        rows, here = rows[going], here[:, going]
        value, score, known = value[going], score[:, going], known[:, going]
        some = Cells(cells.right[rows], cells.wrong[rows], cells.guessing[rows])
    bb, ba, aa = information
    determinant = bb * aa - ba**2
    l11 = np.sqrt(aa / determinant)
    lower = [-ba / determinant / l11, 1 / np.sqrt(aa)] if at.tau else [0 * l11, 0 * l11]
    return ItemModes(place[0], place[1], np.stack([l11, *lower]))


def _solve(information: NDArray[np.float64], score: NDArray[np.float64]) -> NDArray[np.float64]:
    bb, ba, aa = information
    step = np.stack([aa * score[0] - ba * score[1], bb * score[1] - ba * score[0]])
    return np.asarray(step / (bb * aa - ba**2))


def _derivatives(
    cells: Cells, at: Point, place: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return log density (I,), score (2, I) and information (bb, ba, aa), (3, I), at (b, log a)."""
    b, log_a = place
    a = np.exp(log_a)[:, None]
    logit = a * (at.theta - b[:, None])
    curves = log_curves(logit, cells.guessing[:, None])
    value = (cells.right * curves.log_p + cells.wrong * curves.log_q).sum(1)
    value -= 0.5 * ((b - at.mu_b) / at.s_b) ** 2
    score = cells.right * curves.d_log_p + cells.wrong * curves.d_log_q
    # p'^2 / (p q) = -(d log p) (d log q)
    weight = (cells.right + cells.wrong) * -curves.d_log_p * curves.d_log_q
    by_b = -(a * score).sum(1) - (b - at.mu_b) / at.s_b**2
    bb = (a**2 * weight).sum(1) + at.s_b**-2
    if not at.tau:
        none, one = np.zeros_like(b), np.ones_like(b)
        return value, np.stack([by_b, none]), np.stack([bb, none, one])
    value -= 0.5 * (log_a / at.tau) ** 2
    by_a = (logit * score).sum(1) - log_a / at.tau**2
    ba = -(a * logit * weight).sum(1)
    aa = (logit**2 * weight).sum(1) + at.tau**-2
    return value, np.stack([by_b, by_a]), np.stack([bb, ba, aa])
