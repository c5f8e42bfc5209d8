"""What the check's fits are made of: cells, response curves, a point, and items given it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..responses import ResponseMatrix

CHUNK = 1 << 15  # floats of scratch memory: what the processor keeps at hand


@dataclass(frozen=True)
class Cells:
    """Successes and failures (I, J), items in rows, and the items' guessing probability (I,)."""

    right: NDArray[np.float64]
    wrong: NDArray[np.float64]
    guessing: NDArray[np.float64]

    @classmethod
    def of(cls, responses: ResponseMatrix, guessing: NDArray[np.float64]) -> Cells:
        """Take the cells of a matrix."""
        right = responses.correct.T.astype(np.float64)
        return cls(right, responses.n.T - right, guessing)

    def where(self, kept: NDArray[np.bool_]) -> Cells:
        """Keep some cells (I, J), and empty the others."""
        return Cells(self.right * kept, self.wrong * kept, self.guessing)


@dataclass(frozen=True)
class Point:
    """Abilities (J,), their prior's sd (held fixed), and the hyper-parameters; tau 0 is the 1PL."""

    theta: NDArray[np.float64]
    s_theta: float
    mu_b: float
    s_b: float
    tau: float


@dataclass(frozen=True)
class ItemPosterior:
    """Nodes of each item's (b, log a) and the posterior mass on them, shapes (I, Q)."""

    b: NDArray[np.float64]
    log_a: NDArray[np.float64]
    mass: NDArray[np.float64]

    def mean(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Average values at the nodes (I, Q); shape (I,)."""
        return np.asarray(np.einsum("iq,iq->i", values, self.mass))


class Integral(Protocol):
    """The likelihood with each item's (b, log a) integrated out under its prior."""

    def derivatives(self, at: Point) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Return the log likelihood, and derivatives in theta (J,) and (mu_b, log s_b, log tau)."""
        ...

    def posterior(self, at: Point) -> ItemPosterior:
        """Return the items given all else."""
        ...
