"""The hierarchical 2PL: its integrals, its limit the 1PL, and what it recovers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from benchfill.check.adaptive_nodes import AdaptiveNodes
from benchfill.check.cells import Cells, Point
from benchfill.check.hierarchical import MIN_TAU, fit_hierarchical, log_predictive
from benchfill.check.item_modes import ItemModes, find_modes
from benchfill.check.shared_grid import SharedGrid
from benchfill.onepl.map import fit_map
from benchfill.onepl.model import ItemPatterns
from support.simulated import abilities, matrix_of


def simulated(
    seed: int,
    size: tuple[int, int, int],
    spread: float,
    guessing: float = 0.0,
    missing: float = 0.0,
) -> tuple[Cells, Point, ItemPatterns]:
    models, items, rollouts = size
    rng = np.random.default_rng(seed)
    theta, b = abilities(rng, models), rng.normal(0.3, 1.2, items)
    a = np.exp(spread * rng.standard_normal(items))
    p = guessing + (1 - guessing) * expit(a * (theta[:, None] - b))
    n = np.where(rng.random(p.shape) < missing, 0, rollouts)
    matrix = matrix_of(rng.binomial(n, p), n)
    guesses = np.full(items, guessing)
    return (
        Cells.of(matrix, guesses),
        Point(theta, 1.5, 0.3, 1.2, spread),
        ItemPatterns.of(matrix, guesses),
    )


@pytest.mark.parametrize("guessing", [0.0, 0.25])
@pytest.mark.parametrize("kind", ["grid", "nodes"])
def test_derivatives_are_those_of_the_value(kind: str, guessing: float) -> None:
    rollouts = 1 if kind == "grid" else 40
    cells, at, _ = simulated(1, (8, 12, rollouts), 0.4, guessing, missing=0.2)
    cells.guessing[:4] = 0  # two classes of guessing in one matrix
    integral = (
        SharedGrid(cells, at.s_b, slopes=True) if kind == "grid" else AdaptiveNodes(cells, at.mu_b)
    )
    _, by_theta, by_hyper = integral.derivatives(at)

    def value(theta: float = 0, mu: float = 0, s: float = 0, tau: float = 0) -> float:
        moved = at.theta.copy()
        moved[2] += theta
        point = Point(moved, 1.5, at.mu_b + mu, at.s_b * np.exp(s), at.tau * np.exp(tau))
        return integral.derivatives(point)[0]

    h = 1e-4
    found = [by_theta[2], *by_hyper]
    numeric = [
        (value(**{name: h}) - value(**{name: -h})) / (2 * h) for name in ("theta", "mu", "s", "tau")
    ]
    # quadrature around modes that move has a gradient of its own, nearly the expected one
    assert found == pytest.approx(numeric, abs=1e-5 if kind == "grid" else 0.05)


def test_both_integrals_agree_where_both_are_exact() -> None:
    cells, at, _ = simulated(2, (20, 15, 3), 0.3)
    grid = SharedGrid(cells, at.s_b, slopes=True)
    nodes = AdaptiveNodes(cells, at.mu_b)
    assert nodes.derivatives(at)[0] == pytest.approx(grid.derivatives(at)[0], abs=0.1)
    on_grid, on_nodes = grid.posterior(at), nodes.posterior(at)
    for values in ("b", "log_a"):
        means = [one.mean(getattr(one, values)) for one in (on_grid, on_nodes)]
        assert means[0] == pytest.approx(means[1], abs=0.01)
    assert on_grid.mass.sum(1) == pytest.approx(1)


@pytest.mark.parametrize("rollouts", [1, 20])
def test_without_slopes_it_is_the_map_fit_of_the_1pl(rollouts: int) -> None:
    cells, _, patterns = simulated(3, (8, 40, rollouts), 0.0)
    estimate = fit_map(patterns)
    start = Point(np.zeros(8), estimate.s_theta, 0.0, 1.0, 0.0)
    fit = fit_hierarchical(cells, start, slopes=False)
    assert fit.at.tau == 0
    assert fit.at.theta == pytest.approx(estimate.parameters.theta, abs=0.01)
    assert (fit.at.mu_b, fit.at.s_b) == pytest.approx(
        (estimate.parameters.mu_b, estimate.parameters.s_b), abs=0.01
    )
    assert fit.items.mean(fit.items.b) == pytest.approx(estimate.b[patterns.row], abs=0.02)


def test_the_spread_of_slopes_is_recovered() -> None:
    cells, at, _ = simulated(4, (15, 120, 12), 0.5)
    fit = fit_hierarchical(cells, at, slopes=True)
    assert fit.at.tau == pytest.approx(0.5, abs=0.12)
    cells, at, _ = simulated(5, (15, 120, 12), 0.0)
    assert MIN_TAU <= fit_hierarchical(cells, at, slopes=True).at.tau < 0.1


def test_modes_are_found_where_clipped_steps_would_lead_downhill() -> None:
    """Items that everybody solves half of the time, whatever the ability: slopes near 0."""
    theta = np.linspace(-2, 2, 10)
    right = np.array([np.full(10, 50.0), np.linspace(80, 20, 10), np.linspace(0, 100, 10)])
    cells = Cells(right, 100 - right, np.zeros(3))
    at = Point(theta, 1.0, -2.0, 2.0, 0.9)
    start = ItemModes(np.full(3, -2.0), np.zeros(3), np.zeros((3, 3)))
    found = find_modes(cells, at, start)

    def density(b: float, log_a: float, i: int) -> float:
        p = expit(np.exp(log_a) * (theta - b))
        likelihood = right[i] @ np.log(p) + (100 - right[i]) @ np.log1p(-p)
        return float(likelihood - 0.5 * ((b + 2) / 2) ** 2 - 0.5 * (log_a / 0.9) ** 2)

    for i in range(3):
        best = density(found.b[i], found.log_a[i], i)
        around = [
            density(found.b[i] + x, found.log_a[i] + y, i)
            for x in (-0.02, 0.02)
            for y in (-0.01, 0.01)
        ]
        assert best > max(around)


def test_predictions_are_averages_over_items() -> None:
    cells, at, _ = simulated(6, (6, 5, 2), 0.3, guessing=0.2)
    out = np.zeros(cells.right.shape, dtype=bool)
    out[[0, 3], [1, 4]] = True
    fit = fit_hierarchical(cells.where(~out), at, slopes=True)
    found = log_predictive(fit, cells.where(out))
    assert np.isnan(found[~out]).all()
    for i, j in ((0, 1), (3, 4)):
        logit = np.exp(fit.items.log_a[i]) * (fit.at.theta[j] - fit.items.b[i])
        p = 0.2 + 0.8 * expit(logit)
        chance = p ** cells.right[i, j] * (1 - p) ** cells.wrong[i, j]
        assert found[i, j] == pytest.approx(np.log(fit.items.mass[i] @ chance))
