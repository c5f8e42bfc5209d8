"""Real response matrices; skipped where the shared data are absent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchfill import diagnose, fit_1pl, read_responses

if TYPE_CHECKING:
    from pathlib import Path

    from benchfill import Diagnosis


def diagnosis_of(path: Path) -> Diagnosis:
    return diagnose(fit_1pl(read_responses(path), engine="map"))


def test_evalperf_has_one_real_gap_that_hangs_on_one_task(shared_data: Path) -> None:
    found = diagnosis_of(shared_data / "evalperf_100rollouts/responses.csv")
    assert (found.models, found.items, found.missing_cells) == (34, 118, 0)
    gap = found.gaps[0]
    assert (gap.verdict, gap.depends_on_item) == ("empty", gap.right_item)
    assert gap.p_hole == pytest.approx(1.0, abs=0.005)
    assert found.scale.max_item == gap.depends_on_item
    assert found.max_gap.plugin == pytest.approx(0.208, abs=0.0015)
    assert found.ddm.plugin == pytest.approx(0.114, abs=0.0015)
    without = next(one for one in found.scale.without if one.item == gap.depends_on_item)
    assert without.max_gap == pytest.approx(0.057, abs=0.0015)
    assert without.ddm == pytest.approx(0.052, abs=0.0015)


@pytest.mark.parametrize(
    ("name", "models", "items"), [("zeroeval_math_l5", 40, 721), ("zeroeval_gsm8k", 42, 1319)]
)
def test_one_sample_a_cell_leaves_the_widest_gap_unresolved(
    shared_data: Path, name: str, models: int, items: int
) -> None:
    found = diagnosis_of(shared_data / name / "matrix.csv")
    assert (found.models, found.items) == (models, items)
    assert found.missing_cells > 0
    gap = found.gaps[0]
    assert gap.verdict == "unresolved"
    assert gap.p_hole < 0.05
    assert gap.occupancy > 5
    assert gap.decide is not None
    assert gap.decide.rollouts > 1


@pytest.mark.parametrize("name", ["matrix.csv", "matrix_common_ge8.csv"])
def test_sparse_matrices_run(shared_data: Path, name: str) -> None:
    found = diagnosis_of(shared_data / "swebench_pro" / name)
    assert found.models == 9
    assert found.missing_cells > 0
    assert len(found.scale.extreme) > 100
    assert all(np.isfinite(one.sd) for one in found.difficulties)


def test_four_models_with_one_sample_have_no_gap_that_is_real(shared_data: Path) -> None:
    found = diagnosis_of(shared_data / "gsm8k_openai2021/matrix.csv")
    assert found.models == 4
    assert len(found.gaps) <= 4
    assert {gap.verdict for gap in found.gaps} == {"unresolved"}


def test_one_model_runs(shared_data: Path) -> None:
    found = diagnosis_of(shared_data / "tau_bench_airline/responses.csv")
    assert found.models == 1
    assert {gap.verdict for gap in found.gaps} <= {"unresolved", "empty"}
    assert {check.passed for check in found.checks if check.name == "model_inversion"} == {None}
