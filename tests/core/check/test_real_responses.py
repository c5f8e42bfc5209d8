"""What the check says of real responses; skipped where the shared data are absent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchfill import check_fit, fit_1pl, read_responses

if TYPE_CHECKING:
    from pathlib import Path

    from benchfill import FitCheck


def checked(path: Path) -> FitCheck:
    return check_fit(fit_1pl(read_responses(path), engine="map"))


def names(found: FitCheck, kind: str) -> list[set[str]]:
    return [set(one.names) for one in found.findings if one.kind == kind]


@pytest.mark.slow
def test_gsm8k_has_wrong_keys_and_providers_of_one_model(shared_data: Path) -> None:
    found = checked(shared_data / "zeroeval_gsm8k/matrix.csv")
    unsolved = {f"gsm8k-main-test-#{k}" for k in (403, 454, 749, 768, 1048)}
    assert names(found, "all_wrong_items") == [unsolved]
    # as many negative correlations as chance gives; those listed are more than chance
    assert found.negative_item_rest == pytest.approx(35, abs=1)
    assert found.negative_item_rest_expected == pytest.approx(44, abs=4)
    inverted = set().union(*names(found, "inverted_item"))
    assert {f"gsm8k-main-test-#{k}" for k in (306, 515, 880, 984, 1019, 1097)} <= inverted
    assert names(found, "near_duplicate_models") == [
        {"Llama-3.1-405B-Instruct-Turbo", "Meta-Llama-3.1-405B-Instruct@hyperbolic"}
    ]
    assert found.comparison.verdict == "2pl"
    assert all(one.bic_1pl < one.bic_2pl for one in found.comparison.bic)


@pytest.mark.slow
def test_math_has_one_model_from_two_providers_twice(shared_data: Path) -> None:
    found = checked(shared_data / "zeroeval_math_l5/matrix.csv")
    assert (found.all_right, found.all_wrong) == (1, 18)
    assert found.negative_item_rest == pytest.approx(13, abs=1)
    assert found.negative_item_rest_expected < 3
    alike = names(found, "alike_models")
    assert {
        "Llama-3.1-405B-Inst@sambanova",
        "Meta-Llama-3.1-405B-Instruct@hyperbolic",
    } in alike
    assert {"Meta-Llama-3.1-70B-Instruct", "Meta-Llama-3.1-70B-Instruct@hyperbolic"} in alike
    assert found.comparison.b_pearson == pytest.approx(0.996, abs=0.002)
    assert found.leave_one_out.min_pearson == pytest.approx(0.998, abs=0.001)


@pytest.mark.slow
def test_evalperf_misfits_as_a_whole_and_has_a_model_with_two_prompts(shared_data: Path) -> None:
    found = checked(shared_data / "evalperf_100rollouts/responses.csv")
    assert found.misfit_items == 118
    assert found.typical_item_fit > 15
    o1 = "o1-mini-2024-09-12_openai_temp_1.0"
    assert {o1, f"{o1}-perf-instruct"} in names(found, "near_duplicate_models")
    assert found.duplicated
    assert found.comparison.verdict == "2pl"


@pytest.mark.slow
def test_swebench_has_two_runs_that_answer_as_one(shared_data: Path) -> None:
    found = checked(shared_data / "swebench_pro/matrix.csv")
    assert names(found, "near_duplicate_models") == [
        {"claude-opus-4-1-paper", "claude-sonnet-4-paper"}
    ]
    assert found.all_wrong == 469
