"""Tables of real benchmarks: every figure that was worked out independently (SOURCE.md)."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest

import benchfill as bf
from benchfill.suite.coverage import all_coverages, coverage, greedy_coverage
from benchfill.suite.hidden import hidden_swaps
from benchfill.suite.models_in_use import models_in_use
from benchfill.suite.swaps import split_swaps

if TYPE_CHECKING:
    from pathlib import Path

GREEDY = ("MMLU", "HellaSwag", "IFEval", "MUSR", "GSM8K", "MATH Lvl 5", "BBH")
F_GREEDY = (0.339, 0.580, 0.680, 0.761, 0.836, 0.875, 0.911)


@pytest.fixture(scope="module")
def table(shared_data: Path) -> bf.ScoreTable:
    return bf.read_score_table(shared_data / "bench_table_openllm_12" / "scores.csv")


@pytest.fixture(scope="module")
def analysis(table: bf.ScoreTable) -> bf.SuiteAnalysis:
    return bf.analyse_suite(table)


@pytest.fixture(scope="module")
def matrix(analysis: bf.SuiteAnalysis) -> np.ndarray:
    return np.array(analysis.correlations)


def test_columns_of_the_paper(table: bf.ScoreTable) -> None:
    assert len(table.models) == 295
    assert len(table.benchmarks) == 12
    assert {one.column: one.reason.split(",")[0] for one in table.skipped} == {
        "params_b": "has a name that stands for metadata or an average",
        "type": "holds text",
        "arch": "holds text",
    }


def test_directions(analysis: bf.SuiteAnalysis) -> None:
    one = analysis.spectrum
    assert one.models == 148
    assert one.d_eff.value == pytest.approx(4.80, abs=0.005)
    assert one.mp_edge == pytest.approx(1.651, abs=0.0005)
    assert one.above_mp == 2
    assert one.eigenvalues[:2] == pytest.approx((4.262, 2.808), abs=0.0005)
    assert one.d_eff_corrected.value == pytest.approx(1.92, abs=0.005)
    assert one.d_eff.q025 < 4.80 < one.d_eff.q975
    everybody = analysis.everybody
    assert everybody.models == 295
    assert everybody.mp_edge == pytest.approx(1.444, abs=0.0005)
    assert everybody.above_mp == 1
    assert everybody.d_eff_corrected.value == 1.0


def test_blind_spot(analysis: bf.SuiteAnalysis) -> None:
    one = analysis.blind_spot
    assert one.radius == pytest.approx(7.304, abs=0.0005)
    assert 1.7 < one.omega_signed / one.omega < 2.2  # the paper's overstates it about twice
    assert one.bound == pytest.approx(one.epsilon + one.omega * one.radius)
    c = one.constant * 12 ** (-1 / (analysis.spectrum.d_eff.value - 1))
    assert c == pytest.approx(one.omega)


def test_greedy_order_and_f(matrix: np.ndarray, analysis: bf.SuiteAnalysis) -> None:
    order, values = greedy_coverage(matrix[None], 7)
    assert tuple(analysis.benchmarks[j] for j in order[0]) == GREEDY
    assert values[0] == pytest.approx(F_GREEDY, abs=0.0005)
    assert analysis.coverage.greedy_f.benchmarks == GREEDY
    assert analysis.coverage.size_for_90 == 7


def test_optima_and_random_subsets(analysis: bf.SuiteAnalysis) -> None:
    curve = {point.size: point for point in analysis.coverage.curve}
    found = [curve[size].optimum for size in (4, 5, 6, 7)]
    assert found == pytest.approx([0.764, 0.839, 0.880, 0.917], abs=0.0005)
    assert curve[7].random == pytest.approx(0.864, abs=0.0005)
    assert analysis.coverage.f.value == pytest.approx(0.917, abs=0.0005)
    # f flatters: from the kept benchmarks alone less can be foretold
    assert analysis.coverage.foretold.value == pytest.approx(0.862, abs=0.0005)


def test_f_is_not_submodular_on_the_papers_own_matrix(analysis: bf.SuiteAnalysis) -> None:
    one = analysis.coverage.returns
    assert (one.triples_growing, one.triples) == (186, 1320)
    assert one.pairs_growing == 12
    assert analysis.coverage.greedy_f.gamma < 1
    assert analysis.coverage.greedy_log_det.gamma == 1.0


def test_removal(analysis: bf.SuiteAnalysis) -> None:
    one = analysis.removal.disruption_and_mass
    assert one.rho == pytest.approx(-0.690, abs=0.0005)
    assert one.p == pytest.approx(0.013, abs=0.0005)


def test_swaps_and_their_null(table: bf.ScoreTable, analysis: bf.SuiteAnalysis) -> None:
    one = analysis.swaps
    z = models_in_use(table, frontier=0.5, missing="complete").z
    halves = np.array([[j in half for half in combinations(range(12), 6)] for j in range(12)])
    first, changed = split_swaps(z, halves, 5)  # all 924 of them
    assert 0.92 <= first.mean() < 0.945
    assert changed.mean() == pytest.approx(2.83, abs=0.015)
    assert one.observed.another_first.value == pytest.approx(first.mean(), abs=0.036)  # 3 se
    assert one.observed.top_changed.value == pytest.approx(changed.mean(), abs=0.13)
    # the null of the table rests on 500 draws (se .018), this one on 100 worlds
    assert one.gaussian.another_first.value == pytest.approx(0.81, abs=0.06)
    assert one.p_gaussian > 0.05


def test_closed_form_has_the_papers_range(analysis: bf.SuiteAnalysis) -> None:
    forms = [one.closed_form for one in analysis.hidden_swaps]
    assert len(forms) == 24
    assert min(forms) == pytest.approx(0.38, abs=0.005)
    assert max(forms) == pytest.approx(0.49, abs=0.005)


def test_hidden_variance_as_observed_leaves_little_to_the_prior(
    analysis: bf.SuiteAnalysis,
) -> None:
    """By the closed form a swap is rarest when isotropic; calibrated, likeliest."""
    at_100 = {one.prior: one for one in analysis.hidden_swaps if one.dimension == 100}
    assert at_100["isotropic"].closed_form < at_100["one direction"].closed_form - 0.1
    assert at_100["isotropic"].simulated.q025 > at_100["one direction"].simulated.q975


def test_a_gap_of_nothing_swaps_half_the_time() -> None:
    found = hidden_swaps(0.0, 1.0, [2.0, 1.0], 2, np.random.default_rng(0))
    assert {one.closed_form for one in found} == {0.5}
    assert all(abs(one.simulated.value - 0.5) < 0.03 for one in found)  # se .008


def test_all_coverages_agree_with_one_by_one(matrix: np.ndarray) -> None:
    values = all_coverages(matrix[:8, :8])
    for mask in (0, 1, 5, 77, 255):
        members = [j for j in range(8) if mask >> j & 1]
        assert values[mask] == pytest.approx(coverage(matrix[:8, :8], members))


def test_zeroeval_by_complete_rows_and_by_pairs(shared_data: Path) -> None:
    table = bf.read_score_table(shared_data / "bench_table_zeroeval" / "scores.csv")
    whole = bf.analyse_suite(table, bf.SuiteRequest(frontier=1))
    assert whole.data.models == 30
    assert whole.spectrum.eigenvalues == pytest.approx(
        (4.439, 0.371, 0.087, 0.061, 0.043), abs=5e-4
    )
    assert whole.spectrum.d_eff.value == pytest.approx(1.26, abs=0.005)
    pairs = bf.analyse_suite(table, bf.SuiteRequest(frontier=1, missing="pairwise"))
    assert pairs.data.models > 50
    assert pairs.data.d_eff_complete == pytest.approx(1.26, abs=0.005)
    assert pairs.data.d_eff_pairwise == pytest.approx(pairs.spectrum.d_eff.value)
    assert whole.data.d_eff_pairwise == pairs.data.d_eff_pairwise
    assert any("44 scores are missing" in said for said in whole.cautions)


def test_mmlu_pro_categories(shared_data: Path) -> None:
    table = bf.read_score_table(shared_data / "bench_table_mmlu_pro_categories" / "scores.csv")
    found = bf.analyse_suite(table, bf.SuiteRequest(frontier=1)).spectrum
    assert found.d_eff.value == pytest.approx(1.17, abs=0.005)
    assert found.eigenvalues[0] == pytest.approx(12.93, abs=0.005)
