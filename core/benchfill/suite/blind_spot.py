"""How far apart two models may be that the suite cannot tell apart.

docs/suite; paper arXiv 2606.05169, theorem 2: ``eps + C R m^(-1/(d_eff - 1))``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .directions import covering_radii, covering_radius, leading_components, loadings, unit_rows
from .result import BlindSpot, Resampled, Weight

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .correlated import CorrelatedBenchmarks

NULLS, _AT_ONCE = 100, 10
_ONE = 1e-6  # d_eff - 1 below this is 0


@dataclass(frozen=True)
class Standings:
    """What the blind spot is compared with.

    Parameters
    ----------
    overall
        Mean z-score of each model, shape (n,).
    whole
        z-scores of the models with every score, shape (n', k).
    residuals
        Of the linear fits, shape (n', k); empty where none could be made.
    """

    overall: NDArray[np.float64]
    whole: NDArray[np.float64]
    residuals: NDArray[np.float64]

    @property
    def runner_up_gap(self) -> float:
        """Mean z-score of the best model less that of the second."""
        best = np.sort(self.overall)[::-1]
        return float(best[0] - best[1])

    @property
    def gap_noise(self) -> float | None:
        """Standard error of that gap, were the benchmarks a sample; None without whole rows."""
        if len(self.whole) < 2:
            return None
        best = np.argsort(-self.whole.mean(1), kind="stable")[:2]
        apart = self.whole[best[0]] - self.whole[best[1]]
        return float(apart.std(ddof=1) / np.sqrt(len(apart)))


def blind_spot_of(
    benchmarks: CorrelatedBenchmarks,
    standings: Standings,
    rng: np.random.Generator,
    *,
    constant: float | None = None,
) -> BlindSpot:
    """Bound the distance of models that look alike, and find the direction nobody measures.

    Parameters
    ----------
    benchmarks
        The k benchmarks.
    standings
        The models' z-scores and the residuals of the width model.
    rng
        For directions.
    constant
        C of the bound; by default the one with which the covering radius is met.
    """
    matrix, spectrum = benchmarks.matrix, benchmarks.spectrum
    k, leading = len(matrix), spectrum.leading
    rows = unit_rows(loadings(matrix, leading))
    omega, farthest = covering_radius(rows, rng)
    signed, _ = covering_radius(rows, rng, signed=True)
    null = np.concatenate(
        [
            covering_radii(unit_rows(rng.standard_normal((_AT_ONCE, k, leading))), rng)[0]
            for _ in range(NULLS // _AT_ONCE)
        ]
    )
    exponent = spectrum.d_eff.value - 1
    shrink = k ** (-1 / exponent) if exponent > _ONE else None
    if constant is None:
        constant = None if shrink is None else omega / shrink
        spread = omega
    else:
        spread = 0.0 if shrink is None else constant * shrink
    epsilon, epsilon_q95 = _extremes(np.abs(standings.residuals).ravel())
    radius, radius_q95 = _extremes(np.linalg.norm(standings.whole, axis=1))
    bound = _bound(epsilon, spread, radius)
    gap, noise = standings.runner_up_gap, standings.gap_noise
    return BlindSpot(
        leading=leading,
        epsilon=epsilon,
        epsilon_q95=epsilon_q95,
        radius=radius,
        radius_q95=radius_q95,
        omega=omega,
        omega_signed=signed,
        omega_random=Resampled.of(float(null.mean()), null),
        constant=constant,
        bound=bound,
        bound_q95=_bound(epsilon_q95, spread, radius_q95),
        runner_up_gap=gap,
        gap_noise=noise,
        bound_to_gap=bound / gap if bound is not None and gap > 0 else None,
        bound_to_noise=bound / noise if bound is not None and noise else None,
        times_to_halve=float(2 ** max(exponent, 0.0)),
        direction=_direction(benchmarks, rows, farthest),
    )


def _bound(epsilon: float | None, spread: float, radius: float | None) -> float | None:
    return None if epsilon is None or radius is None else epsilon + spread * radius


def _extremes(values: NDArray[np.float64]) -> tuple[float | None, float | None]:
    if not len(values):
        return None, None
    return float(values.max()), float(np.quantile(values, 0.95))


def _direction(
    benchmarks: CorrelatedBenchmarks, rows: NDArray[np.float64], farthest: NDArray[np.float64]
) -> tuple[Weight, ...]:
    """Write a direction as the mixture of z-scores that measures it, with variance 1."""
    values, vectors = leading_components(benchmarks.matrix, len(farthest))
    weights = vectors @ (farthest / np.sqrt(np.maximum(values, 1e-12)))
    cosines = rows @ farthest
    if weights[np.argmax(np.abs(weights))] < 0:
        weights, cosines = -weights, -cosines
    return tuple(
        Weight(benchmark=benchmarks.names[j], weight=float(weights[j]), cosine=float(cosines[j]))
        for j in np.argsort(-np.abs(weights), kind="stable")
    )
