"""Gaps that noise alone would leave: tabulated and simulated banks agree, and the level holds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import ks_2samp, poisson_binom

from benchfill import chance as module
from benchfill import diagnose, find_gaps, fit_1pl, widest_by_chance
from support.simulated import abilities, matrix_of, respond


def test_totals_follow_the_poisson_binomial_distribution() -> None:
    p = expit(np.array([[-1.0], [0.3], [2.0]]))
    found = module._total_distribution(p, np.array([2, 0, 3]))
    wanted = poisson_binom([*[p[0, 0]] * 2, *[p[2, 0]] * 3]).pmf(np.arange(6))
    np.testing.assert_allclose(found, wanted, atol=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_tabulated_and_simulated_banks_agree(monkeypatch, missing: float) -> None:
    rng = np.random.default_rng(3)
    n = np.where(rng.random((6, 3)) < missing, 0, 2)[:, np.arange(60) % 3]
    fit = fit_1pl(respond(rng, abilities(rng, 6), rng.uniform(-2, 2, 60), n), engine="map")
    simulated = widest_by_chance(fit, nulls=300)
    monkeypatch.setattr(module, "_FEW_ANSWERS", 0)
    tabulated = widest_by_chance(fit, nulls=300, seed=1)
    assert simulated is not None
    assert tabulated is not None
    # both are discrete, so the p-value is on the safe side; equal atoms differ in their last digits
    assert ks_2samp(simulated.round(6), tabulated.round(6)).pvalue > 1e-3
    assert np.median(simulated) == pytest.approx(np.median(tabulated), rel=0.08)


def test_few_banks_without_holes_have_a_gap_wider_than_chance() -> None:
    wider = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        fit = fit_1pl(respond(rng, abilities(rng, 8), rng.uniform(-2, 2, 40), 4), engine="map")
        null = widest_by_chance(fit, seed=seed)
        assert null is not None
        gap = find_gaps(fit, count=1, chance_width=float(np.quantile(null, 0.95)))[0]
        wider.append(gap.wider_than_chance)
    assert sum(wider) <= 4  # 1 expected; P(more than 4 of 20 at 5%) < .003


def test_a_planted_hole_is_wider_than_chance_and_the_diagnosis_says_so() -> None:
    rng = np.random.default_rng(5)
    b = np.concatenate([rng.uniform(-2, -0.5, 30), rng.uniform(0.8, 2, 30)])
    found = diagnose(fit_1pl(respond(rng, abilities(rng), b, 32), engine="map"))
    assert found.gaps[0].wider_than_chance is True
    assert found.chance_width is not None
    assert [gap.wider_than_chance for gap in found.gaps] == [
        gap.width > found.chance_width for gap in found.gaps
    ]


def test_what_cannot_be_computed_is_unknown(monkeypatch) -> None:
    rng = np.random.default_rng(1)
    fit = fit_1pl(respond(rng, abilities(rng, 4), rng.normal(0, 1, 30), 2), engine="map")
    monkeypatch.setattr(module, "_MOST_ANSWERS", 0)
    monkeypatch.setattr(module, "_MOST_TABULATED", 0)
    assert widest_by_chance(fit) is None
    assert diagnose(fit).gaps[0].wider_than_chance is None
    alike = fit_1pl(matrix_of(np.full((3, 5), 2), 4), engine="map")
    assert widest_by_chance(alike) is None


def test_guessing_is_simulated() -> None:
    rng = np.random.default_rng(1)
    data = respond(rng, abilities(rng, 6), rng.uniform(-2, 2, 30), 4, 0.25)
    null = widest_by_chance(fit_1pl(data, engine="map", guessing=0.25), nulls=50)
    assert null is not None
    assert len(null) == 50
    assert ((null > 0) & (null <= 1)).all()
