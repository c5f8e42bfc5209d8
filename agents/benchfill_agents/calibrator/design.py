"""Which child to ask about next, and when asking on is not worth it.

What a child is worth is what it takes off its gap: half the gap's width, less its distance from the
middle, and nothing outside (Frazier, Powell and Dayanik 2008, doi 10.1137/070693424, call the
expected rise of the best such value for a further measurement the knowledge gradient). The next
rollouts go to the child with the largest expected rise for a rollout.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchfill.child import ChildPosterior


DROP_BELOW = 0.05
RESOLVED = 1 / 8  # of the gap's width: finer than this a child's own rollouts decide nothing
_AHEAD = np.array([12.0, 24.0, 48.0, 96.0, 192.0])[:, None, None]  # rollouts looked ahead
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


@dataclass(frozen=True)
class Design:
    """Sizes of the sequential design, in rollouts."""

    first: int = 4
    batch: int = 6
    most: int = 480
    worth: float = 1.3e-5
    """Asking on ends when a rollout is expected to narrow the gap by less, on the z scale; a child
    that is not accepted yet is asked about while all that it may take off is worth it."""
    growth: float = 0.25
    """The more of a child is known, the less a few rollouts change: then more are asked at once."""

    def next(self, asked: int) -> int:
        """Return how many rollouts a child of so many gets next, and never more than `most`."""
        return min(max(self.batch, int(self.growth * asked)), max(self.most - asked, 1))


@dataclass(frozen=True)
class Standing:
    """What is known of one child against a gap, logits."""

    p_in_gap: float
    value: float
    """Expected reduction of the gap."""
    off: float
    """Expected distance from the middle of the gap, signed."""
    own_sd: float
    """What is left were abilities and borders known; rollouts on the child reduce this."""
    other_sd: float
    """What abilities and borders add; they do not."""
    information: float
    """Of the next rollout."""

    @classmethod
    def of(
        cls,
        posterior: ChildPosterior,
        borders: tuple[NDArray[np.float64], NDArray[np.float64]],
        information: float,
    ) -> Standing:
        """Look at a child's posterior; `information` is that of its next rollout."""
        left, right = borders
        middle = (left + right) / 2
        weight = np.maximum(posterior.mass.sum(1), 1e-300)
        means = posterior.mass @ posterior.grid / weight
        own = max(0.0, float(weight @ (posterior.mass @ posterior.grid**2 / weight - means**2)))
        off = float(weight @ (means - middle))
        return cls(
            p_in_gap=posterior.p_between(left, right),
            value=expected_gap_reduction(posterior, borders),
            off=off,
            own_sd=float(np.sqrt(own)),
            other_sd=float(np.sqrt(weight @ (means - middle - off) ** 2)),
            information=information,
        )


def expected_gap_reduction(
    posterior: ChildPosterior, borders: tuple[NDArray[np.float64], NDArray[np.float64]]
) -> float:
    """Return by how much a child narrows its gap, expected over the draws of both, logits.

    A gap (left, right) with a child at b is max(b - left, right - b) wide, if b is inside.
    """
    left, right = borders
    near = posterior.near(float(left.min()), float(right.max()))
    away = np.abs(posterior.grid[near] - ((left + right) / 2)[:, None])
    reduction = np.clip(((right - left) / 2)[:, None] - away, 0, None)
    return float((posterior.mass[:, near] * reduction).sum())


def gain_rates(standings: Sequence[Standing], half: float) -> NDArray[np.float64]:
    """Return for each child by how much a rollout on it is expected to raise the best value.

    Shape (N,), logits a rollout; the best over some numbers of rollouts ahead, posteriors taken as
    normal. `half` is half the gap's width, logits.
    """
    value = np.array([one.value for one in standings])
    off, own, other, information = (
        np.array([getattr(one, name) for one in standings])[:, None]
        for name in ("off", "own_sd", "other_sd", "information")
    )
    leader = int(np.argmax(value))
    rival = np.full(len(value), value[leader])
    rival[leader] = np.delete(value, leader).max(initial=0.0)
    own = np.maximum(own, 1e-6)
    left = 1 / (own**-2 + _AHEAD * information)
    moved = off + np.sqrt(own**2 - left) * _NODES
    then = expected_reduction(moved, np.sqrt(left + other**2), half)
    best = np.maximum(then, rival[:, None]) @ _WEIGHTS
    return np.asarray(((best - value[leader]) / _AHEAD[:, :, 0]).max(0))


def expected_reduction(
    off: NDArray[np.float64] | float, sd: NDArray[np.float64] | float, half: float
) -> NDArray[np.float64]:
    """Return E max(0, half - |d|) of d ~ N(off, sd)."""

    def beyond(edge: float) -> NDArray[np.float64]:
        u = (off - edge) / sd
        return np.asarray(sd * (np.exp(-0.5 * u**2) / np.sqrt(2 * np.pi) + u * ndtr(u)))

    return np.asarray(beyond(-half) - 2 * beyond(0.0) + beyond(half))
