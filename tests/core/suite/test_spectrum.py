"""Closed forms of the number of directions, and the edges of noise."""

from __future__ import annotations

import numpy as np
import pytest

from benchfill.suite.correlation import correlations, mean_ranks
from benchfill.suite.models_in_use import standardise
from benchfill.suite.resampling import (
    draw_models,
    resampled_correlations,
    resampled_rank_correlations,
)
from benchfill.suite.spectrum import (
    corrected_ratio,
    eigenvalues_of,
    leading_of,
    mp_edge,
    participation_ratio,
    permuted_eigenvalues,
    spectrum_of,
)


@pytest.mark.parametrize("k", [1, 2, 7, 50])
def test_identity_has_k_directions_and_rank_one_has_one(k: int) -> None:
    assert participation_ratio(eigenvalues_of(np.eye(k))) == pytest.approx(k)
    assert participation_ratio(eigenvalues_of(np.ones((k, k)))) == pytest.approx(1)


@pytest.mark.parametrize("rho", [0.1, 0.5, 0.9])
def test_equal_correlations(rho: float) -> None:
    k = 6
    matrix = np.full((k, k), rho) + (1 - rho) * np.eye(k)
    assert participation_ratio(eigenvalues_of(matrix)) == pytest.approx(k / (1 + (k - 1) * rho**2))
    blocks = np.kron(np.eye(3), np.ones((2, 2)))
    assert participation_ratio(eigenvalues_of(blocks)) == pytest.approx(3)


def test_known_spectra_and_the_correction() -> None:
    values = np.array([3.0, 1.5, 0.5, 0.5, 0.5])
    assert participation_ratio(values) == pytest.approx(36 / (9 + 2.25 + 0.75))
    assert corrected_ratio(values, 1.4) == pytest.approx(4.5**2 / (9 + 2.25))
    assert corrected_ratio(values, 3.0) == 0  # an eigenvalue at the edge is not above it
    assert [leading_of(d) for d in (1.0, 1.0 + 1e-12, 1.01, 4.8, 5.0)] == [1, 1, 2, 5, 5]


def test_edge_of_noise() -> None:
    """The largest eigenvalue of noise lies at the edge; one true factor stands out."""
    rng = np.random.default_rng(0)
    largest = []
    for _ in range(20):
        z = standardise(rng.normal(size=(800, 200)))
        largest.append(eigenvalues_of(z.T @ z / 800)[0])
    assert mp_edge(800, 200) == pytest.approx(2.25)
    assert np.mean(largest) == pytest.approx(2.25, abs=0.06)
    factor = rng.normal(size=(800, 1))
    z = standardise(rng.normal(size=(800, 200)) + 0.3 * factor)
    values = eigenvalues_of(z.T @ z / 800)
    assert (values > mp_edge(800, 200)).sum() == 1


def test_permuting_keeps_columns_and_breaks_what_binds_them() -> None:
    rng = np.random.default_rng(1)
    z = standardise(rng.normal(size=(300, 1)) + 0.2 * rng.normal(size=(300, 8)))
    noise = permuted_eigenvalues(z, rng, permutations=50)
    assert noise.sum(1) == pytest.approx(np.full(50, 8.0))
    assert noise[:, 0].max() < 1.7 < eigenvalues_of(z.T @ z / 300)[0]


def test_resamples_are_correlations_of_the_drawn_rows() -> None:
    rng = np.random.default_rng(2)
    z = standardise(rng.normal(size=(40, 5)) @ rng.normal(size=(5, 5)))
    tied = np.round(z, 0)  # many ties
    picks = draw_models(40, 6, rng)
    assert picks.sum(1).tolist() == [40] * 6
    for found, scores in (
        (resampled_correlations(z, picks), z),
        (resampled_rank_correlations(tied, picks), None),
    ):
        for matrix, times in zip(found, picks, strict=True):
            rows = np.repeat(z if scores is not None else tied, times, axis=0)
            wanted = np.corrcoef(rows if scores is not None else mean_ranks(rows), rowvar=False)
            np.testing.assert_allclose(matrix, wanted, atol=1e-12)


def test_resamples_without_variation_are_left_out() -> None:
    z = np.array([[1.0, -1], [-1, 1], [0, 0]])
    picks = np.array([[3, 0, 0], [1, 1, 1]])
    assert len(resampled_correlations(z, picks)) == 1
    assert len(resampled_rank_correlations(z, picks)) == 1


def test_ranks_share_their_mean() -> None:
    values = np.array([[3.0], [1.0], [3.0], [np.nan], [2.0]])
    np.testing.assert_array_equal(mean_ranks(values)[:, 0], [3.5, 1, 3.5, np.nan, 2])


def test_interval_covers_the_truth() -> None:
    """Of 40 samples of a known spectrum at n = 400, nearly all intervals hold the truth."""
    rng = np.random.default_rng(3)
    k = 6
    truth = k / (1 + (k - 1) * 0.25)
    root = np.linalg.cholesky(np.full((k, k), 0.5) + 0.5 * np.eye(k))
    names = tuple("abcdef")
    held = 0
    for _ in range(40):
        z = standardise(rng.normal(size=(400, k)) @ root.T)
        found = correlations(z, names)
        picks = draw_models(400, 200, rng)
        one, _ = spectrum_of(z, found, found, (picks, 0), rng)
        held += one.d_eff.q025 <= truth <= one.d_eff.q975
    assert held >= 33
