"""The posterior is calibrated: ranks are uniform, intervals cover (minutes; `make slow`)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from benchfill import Uniform, fit_1pl, max_gap, top_k_sum
from benchfill.measure import own_scale
from benchfill.onepl.model import B_SCALE, MU_SCALE, THETA_SCALE
from support.simulated import abilities, respond

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]
DATASETS = 200
BINS = 10


def ranks(models: int, items: int, k: int) -> dict[str, np.ndarray]:
    """Simulation-based calibration (Talts et al. 2018, arXiv:1804.06788): truth from the prior.

    The rank of each true value among 99 nearly independent posterior draws.
    """
    found: dict[str, list[int]] = {"theta": [], "b": [], "mu_b": [], "s_b": []}
    for seed in range(DATASETS):
        rng = np.random.default_rng([7, seed])
        theta = abs(rng.normal(0, THETA_SCALE)) * rng.normal(size=models)
        theta -= theta.mean()
        mu_b, s_b = rng.normal(0, MU_SCALE), abs(rng.normal(0, B_SCALE))
        b = rng.normal(mu_b, s_b, items)
        draws = fit_1pl(respond(rng, theta, b, k), seed=seed).draws.thin(99)
        found["theta"].append(int((draws.theta[:, 0] < theta[0]).sum()))
        found["b"].append(int((draws.b[:, 0] < b[0]).sum()))
        found["mu_b"].append(int((draws.mu_b < mu_b).sum()))
        found["s_b"].append(int((draws.s_b < s_b).sum()))
    return {name: np.array(values) for name, values in found.items()}


@pytest.mark.parametrize(("models", "items", "k"), [(6, 12, 4), (3, 5, 2)])
def test_ranks_of_the_truth_are_uniform(models: int, items: int, k: int) -> None:
    for name, values in ranks(models, items, k).items():
        counts = np.bincount(values * BINS // 100, minlength=BINS)
        p = chisquare(counts).pvalue
        print(f"{models} x {items}, k = {k}, {name}: chi-square p {p:.3f}, counts {counts}")  # noqa: T201
        assert p > 1e-3, name


def test_pooled_intervals_of_difficulties_cover() -> None:
    for engine in ("map", "mcmc"):
        inside = []
        for seed in range(50):
            rng = np.random.default_rng([3, seed])
            b = rng.normal(0, 1.5, 40)
            fit = fit_1pl(respond(rng, abilities(rng), b, 4), engine=engine, seed=seed)
            low, high = np.quantile(fit.draws.b, [0.05, 0.95], axis=0)
            inside.append(np.mean((low <= b) & (b <= high)))
        print(f"{engine}: 90% intervals of b cover {np.mean(inside):.3f}")  # noqa: T201
        assert 0.87 <= np.mean(inside) <= 0.93


def test_intervals_of_the_measures_cover() -> None:
    """DDM, G and Top-5 of 80 banks with normal difficulties, as the model has them."""
    covered = {"DDM": 0, "G": 0, "Top-5": 0}
    for seed in range(80):
        rng = np.random.default_rng([5, seed])
        b = rng.normal(0, 1.5, 60)
        fit = fit_1pl(respond(rng, abilities(rng), b, 8), engine="map", seed=seed)
        drawn, true = own_scale(fit.draws.b), own_scale(b[None])
        for name, measure in (
            ("DDM", Uniform().wasserstein),
            ("G", max_gap),
            ("Top-5", lambda z: top_k_sum(z, 5)),
        ):
            low, high = np.quantile(measure(drawn), [0.05, 0.95])
            covered[name] += bool(low <= measure(true)[0] <= high)
    for name, count in covered.items():
        print(f"{name}: 90% intervals cover {count / 80:.3f}")  # noqa: T201
        assert 0.85 <= count / 80 <= 0.95
