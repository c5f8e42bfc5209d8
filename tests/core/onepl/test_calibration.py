"""The posterior is calibrated: ranks are uniform, intervals cover (minutes; `make slow`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import chisquare

from benchfill import Uniform, fit_1pl, max_gap, top_k_sum
from benchfill.measure import own_scale
from benchfill.onepl.draws import draw_difficulties
from benchfill.onepl.fit import evenly
from benchfill.onepl.map import fit_map
from benchfill.onepl.model import B_SCALE, MU_SCALE, THETA_SCALE, ItemPatterns
from benchfill.onepl.nuts import USUAL, Length, sample_collapsed
from support.simulated import abilities, respond

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchfill import ResponseMatrix

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]
DATASETS = 200
BANKS = 240  # the standard error of a share covered is .019
KEPT = 63  # draws a rank is taken among: 64 ranks, eight to a bin
BINS = 8
SHORT = Length(chains=2, tune=200, draws=250)


def ranks(seed: int, models: int, items: int, k: int) -> dict[str, int]:
    """Simulation-based calibration (Talts et al. 2018, arXiv:1804.06788): truth from the prior.

    The rank of each true value of one data set among 63 nearly independent posterior draws. The
    likelihood of all answers is ranked too: it sees what goes wrong with all parameters together
    (Modrák et al. 2023, doi:10.1214/23-BA1404).
    """
    rng = np.random.default_rng([7, seed])
    s_theta = abs(rng.normal(0, THETA_SCALE))
    theta = s_theta * rng.normal(size=models)
    theta -= theta.mean()
    mu_b, s_b = rng.normal(0, MU_SCALE), abs(rng.normal(0, B_SCALE))
    b = rng.normal(mu_b, s_b, items)
    data = respond(rng, theta, b, k)
    patterns = ItemPatterns.of(data, np.zeros(items))
    for length in (SHORT, USUAL):  # a rank needs draws that are nearly independent
        sample = sample_collapsed(patterns, fit_map(patterns), seed, length=length)
        if sample.min_ess_bulk >= KEPT:
            break
    assert sample.min_ess_bulk >= KEPT, seed
    drawn = tuple(sample.parameters[at] for at in evenly(len(sample.parameters), KEPT))
    drawn_theta = np.stack([at.theta for at in drawn])
    drawn_b = draw_difficulties(patterns, drawn, rng)
    pairs = {
        "theta": (drawn_theta[:, 0], theta[0]),
        "b": (drawn_b[:, 0], b[0]),
        "s_theta": (draw_s_theta(drawn_theta, rng), s_theta),
        "mu_b": (np.array([at.mu_b for at in drawn]), mu_b),
        "s_b": (np.array([at.s_b for at in drawn]), s_b),
        "likelihood": (
            log_likelihood(data, drawn_theta, drawn_b),
            log_likelihood(data, theta[None], b[None])[0],
        ),
    }
    return {name: int((draws < true).sum()) for name, (draws, true) in pairs.items()}


def draw_s_theta(theta: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """The scale of the abilities given them, which is all that the answers say about it; (S,)."""
    log_s = np.linspace(-12, np.log(6 * THETA_SCALE), 4000)
    freedom = theta.shape[1] - 1  # the sum is zero
    energy = (theta**2).sum(1)[:, None]
    log_density = (1 - freedom) * log_s - 0.5 * energy * np.exp(-2 * log_s)
    log_density = log_density - 0.5 * np.exp(2 * log_s) / THETA_SCALE**2
    below = np.cumsum(np.exp(log_density - log_density.max(1, keepdims=True)), axis=1)
    uniform = rng.random(len(theta)) * below[:, -1]
    return np.exp([np.interp(u, row, log_s) for u, row in zip(uniform, below, strict=True)])


def log_likelihood(
    data: ResponseMatrix, theta: NDArray[np.float64], b: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Of all answers, without the binomial coefficients; (S,)."""
    logit = theta[:, :, None] - b[:, None, :]
    each = data.correct * logit - data.n * np.logaddexp(0, logit)
    return np.asarray(each.sum((1, 2)))


@pytest.mark.parametrize(("models", "items", "k"), [(6, 12, 4), (3, 5, 2)])
def test_ranks_of_the_truth_are_uniform(models: int, items: int, k: int) -> None:
    p_values = {}
    found = [ranks(seed, models, items, k) for seed in range(DATASETS)]
    for name in found[0]:
        values = np.array([one[name] for one in found])
        counts = np.bincount(values * BINS // (KEPT + 1), minlength=BINS)
        p_values[name] = chisquare(counts).pvalue
        print(f"{models} x {items}, k = {k}, {name}: p {p_values[name]:.3f}, counts {counts}")  # noqa: T201
    assert min(p_values.values()) > 1e-3, p_values


def test_pooled_intervals_of_difficulties_cover() -> None:
    for engine in ("map", "mcmc"):
        inside = []
        for seed in range(50):
            rng = np.random.default_rng([3, seed])
            b = rng.normal(0, 1.5, 40)
            data = respond(rng, abilities(rng), b, 4)
            if engine == "map":
                drawn = fit_1pl(data, engine="map", seed=seed).draws.b
            else:  # as engine `mcmc`, in shorter chains
                patterns = ItemPatterns.of(data, np.zeros(40))
                sample = sample_collapsed(patterns, fit_map(patterns), seed, length=SHORT)
                drawn = draw_difficulties(patterns, sample.parameters, rng)
            low, high = np.quantile(drawn, [0.05, 0.95], axis=0)
            inside.append(np.mean((low <= b) & (b <= high)))
        print(f"{engine}: 90% intervals of b cover {np.mean(inside):.3f}")  # noqa: T201
        assert 0.87 <= np.mean(inside) <= 0.93


def test_intervals_of_the_measures_cover() -> None:
    """DDM, G and Top-5 of 240 banks with normal difficulties, as the model has them.

    Of 80 banks, whose share has a standard error of .034, one exact interval in eleven would fail.
    """
    covered = {"DDM": 0, "G": 0, "Top-5": 0}
    for seed in range(BANKS):
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
        print(f"{name}: 90% intervals cover {count / BANKS:.3f}")  # noqa: T201
        assert 0.85 <= count / BANKS <= 0.95
