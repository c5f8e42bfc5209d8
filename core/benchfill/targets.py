"""Target distributions of difficulty on [0, 1]: uniform, Beta, or an empirical list."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betainc, betaincinv

from .errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Target(ABC):
    """A distribution mu over difficulty, as the Wasserstein distance needs it."""

    @abstractmethod
    def quantile(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the u-quantiles, for u in [0, 1]."""

    @abstractmethod
    def cdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the share of the target at or below x."""

    @abstractmethod
    def wasserstein(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return W1 between each row's equally weighted points and the target.

        Parameters
        ----------
        z
            Sorted along the last axis, shape (..., I).

        Returns
        -------
        Distances in units of z, shape (...).
        """


class ContinuousTarget(Target):
    """A target with a continuous distribution function F and known partial means."""

    @abstractmethod
    def partial_mean(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the integral of t dF(t) over t <= x."""

    def wasserstein(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Target.wasserstein`.

        W1 is the integral of |Q_nu(u) - Q_mu(u)| over u. Q_nu is z_(k) on [(k-1)/n, k/n], and Q_mu
        crosses it at u = F(z_(k)), so each piece is closed in F and in the partial mean.
        """
        n = z.shape[-1]
        edges = np.arange(n + 1) / n
        below, above = edges[:-1], edges[1:]
        mass = self.partial_mean(self.quantile(edges))
        crossing = np.clip(self.cdf(z), below, above)
        # where the crossing lies outside the piece the partial mean is the edge's own
        at_crossing = np.clip(self.partial_mean(z), mass[:-1], mass[1:])
        lower = z * (crossing - below) - (at_crossing - mass[:-1])
        upper = (mass[1:] - at_crossing) - z * (above - crossing)
        return np.asarray((lower + upper).sum(-1), dtype=np.float64)


@dataclass(frozen=True)
class Uniform(ContinuousTarget):
    """Uniform on [0, 1]: the maximin choice when nothing is known (paper, section 2.1)."""

    def quantile(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Target.quantile`."""
        return u

    def cdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Target.cdf`."""
        return np.clip(x, 0, 1)

    def partial_mean(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `ContinuousTarget.partial_mean`."""
        return np.clip(x, 0, 1) ** 2 / 2


@dataclass(frozen=True)
class Beta(ContinuousTarget):
    """Beta(a, b) on [0, 1], a and b positive."""

    a: float
    b: float

    def quantile(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Target.quantile`."""
        return np.asarray(betaincinv(self.a, self.b, u))

    def cdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Target.cdf`."""
        return np.asarray(betainc(self.a, self.b, np.clip(x, 0, 1)))

    def partial_mean(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `ContinuousTarget.partial_mean`."""
        mean = self.a / (self.a + self.b)
        return np.asarray(mean * betainc(self.a + 1, self.b, np.clip(x, 0, 1)))


@dataclass(frozen=True, eq=False)
class Empirical(Target):
    """Equally weighted points, for example the difficulties of another benchmark."""

    points: NDArray[np.float64]

    def quantile(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Target.quantile`."""
        return np.asarray(np.quantile(self.points, u, method="inverted_cdf"))

    def cdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Target.cdf`."""
        return np.searchsorted(np.sort(self.points), x, side="right") / len(self.points)

    def wasserstein(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Target.wasserstein`."""
        n, m = z.shape[-1], len(self.points)
        # both quantile functions are constant between the joint breakpoints, taken as integers
        edges = np.union1d(np.arange(n + 1) * m, np.arange(m + 1) * n)
        starts, length = edges[:-1], np.diff(edges) / (n * m)
        away = np.abs(z[..., starts // m] - np.sort(self.points)[starts // n])
        return np.asarray(away @ length, dtype=np.float64)


def parse_target(text: str) -> Target:
    """Read ``uniform``, ``beta:A,B``, or the path of a file with one number in [0, 1] a line.

    Raises
    ------
    InputError
        The words are none of these, or a line of the file is no number in [0, 1].
    """
    if text == "uniform":
        return Uniform()
    if text.startswith("beta:"):
        return _parse_beta(text)
    path = Path(text)
    try:
        known = path.is_file()
    except (OSError, ValueError):  # no possible name of a file
        known = False
    if not known:
        raise InputError(
            f"{text[:80]!r} is neither uniform, beta:A,B nor a file that exists.",
            field="--target-dist",
        )
    return Empirical(_read_points(path))


def _parse_beta(text: str) -> Beta:
    parts = [_number(part) for part in text.removeprefix("beta:").split(",")]
    if len(parts) != 2 or not all(0 < part < np.inf for part in parts):
        raise InputError(
            f"{text[:80]!r} is no Beta distribution; write beta:A,B with two positive numbers.",
            field="--target-dist",
        )
    return Beta(*parts)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _read_points(path: Path) -> NDArray[np.float64]:
    points: list[float] = []
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError):
        raise InputError(
            "cannot be read as text; expected one number a line.", source=str(path)
        ) from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        value = _number(line)
        if not 0 <= value <= 1:
            raise InputError(
                f"{line.strip()[:40]!r} is no number in [0, 1].", source=str(path), line=number
            )
        points.append(value)
    if not points:
        raise InputError("holds no number; expected one a line.", source=str(path))
    return np.array(points)
