"""The check as a whole: quiet where the model holds, and finds what was planted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchfill import FitError, ResponseMatrix, check_fit, fit_1pl
from benchfill.check import fit_check
from support.flawed import flawed_matrix
from support.simulated import abilities, matrix_of, respond

if TYPE_CHECKING:
    from benchfill import FitCheck
    from support.flawed import Flaw


def checked(matrix: ResponseMatrix, replicates: int = 30) -> FitCheck:
    return check_fit(fit_1pl(matrix, engine="map"), folds=2, replicates=replicates)


@pytest.mark.parametrize(
    ("flaw", "kind"),
    [
        ("flipped key", "inverted_item"),
        ("copied model", "identical_models"),
        ("same weights", "near_duplicate_models"),
        ("guessing model", "odd_model"),
    ],
)
def test_what_is_planted_is_found(flaw: Flaw, kind: str) -> None:
    matrix, planted = flawed_matrix(np.random.default_rng(11), (14, 70, 2), flaw)
    found = checked(matrix)
    hit = [one for one in found.findings if planted <= set(one.names)]
    assert [one.kind for one in hit] == [kind]
    assert hit[0].p is not None
    assert hit[0].p <= 0.05
    assert hit[0].reason.endswith(".")
    if flaw == "flipped key":
        assert hit[0].surprise is not None
        assert "expected" in hit[0].surprise
    assert found.duplicated == (flaw in {"copied model", "same weights"})


def test_nothing_is_found_where_nothing_is_wrong() -> None:
    matrix, _ = flawed_matrix(np.random.default_rng(12), (14, 70, 2), "none")
    found = checked(matrix)
    assert {one.kind for one in found.findings} <= {"all_wrong_items"}
    assert found.comparison.verdict != "2pl"
    assert not found.duplicated
    assert found.sample is None
    # each figure within its own chance, nearly always
    inside = [
        one.infit_range.low <= one.infit <= one.infit_range.high
        for one in found.item_fits
        if one.infit is not None and one.infit_range is not None
    ]
    assert np.mean(inside) > 0.85
    timeless = {"fit": {"seconds"}}
    assert checked(matrix).model_dump(exclude=timeless) == found.model_dump(exclude=timeless)


def test_bic_stands_beside_for_three_choices_of_n() -> None:
    matrix, _ = flawed_matrix(np.random.default_rng(13), (12, 40, 3), "none")
    told = checked(matrix, 20).comparison
    assert [(one.counted, one.n) for one in told.bic] == [
        ("models", 12),
        ("cells", 480),
        ("rollouts", 1440),
    ]
    # 39 more parameters, each charged log n
    penalty = [one.bic_2pl - one.bic_1pl for one in told.bic]
    assert np.diff(penalty) == pytest.approx(39 * np.log([40, 3]))


def test_guessing_is_part_of_the_model() -> None:
    rng = np.random.default_rng(18)
    theta, b = abilities(rng, 10), rng.normal(0, 1.5, 40)
    matrix = respond(rng, theta, b, 2, guessing=0.25)
    fit = fit_1pl(matrix, engine="map", guessing=0.25)
    found = check_fit(fit, folds=2, replicates=20)
    assert found.comparison.verdict != "2pl"
    p = {one.item: one.p_misfit for one in found.item_fits}
    assert np.mean([value < 0.05 for value in p.values() if value is not None]) < 0.2


def test_unsolved_items_are_named_and_counted() -> None:
    rng = np.random.default_rng(14)
    inner = respond(rng, abilities(rng, 10), np.linspace(-1, 1, 20), 1)
    ends = np.repeat([[1, 0, 0]], 10, axis=0)
    found = checked(matrix_of(np.concatenate([inner.correct, ends], axis=1), 1), 20)
    assert (found.all_right, found.all_wrong) == (1, 2)
    listed = next(one for one in found.findings if one.kind == "all_wrong_items")
    assert listed.names == ("i21", "i22")
    assert (listed.value, listed.p) == (2, None)
    extreme = [one for one in found.item_fits if one.item in {"i20", "i21", "i22"}]
    assert {(one.p_misfit, one.item_rest) for one in extreme} == {(None, None)}


def test_leaving_a_model_out_is_fitting_without_it() -> None:
    rng = np.random.default_rng(15)
    matrix = respond(rng, abilities(rng, 6), rng.normal(0, 1.5, 25), 2)
    found = checked(matrix, 20).leave_one_out
    assert [one.shift for one in found.models] == sorted(
        (one.shift for one in found.models), reverse=True
    )
    b = fit_1pl(matrix, engine="map").b
    for one in found.models:
        rest = [j for j, name in enumerate(matrix.models) if name != one.model]
        without = fit_1pl(matrix.select(models=rest), engine="map").b
        # the refits keep the sd of the abilities of the fit of all, a fit of its own does not
        assert one.pearson == pytest.approx(np.corrcoef(b, without)[0, 1], abs=1e-3)
        assert one.shift == pytest.approx(np.std(without - b), abs=0.02)
    pearson = [one.pearson for one in found.models if one.pearson is not None]
    assert found.min_pearson == min(pearson)
    assert found.mean_pearson == pytest.approx(np.mean(pearson), abs=1e-12)


def test_strange_matrices_are_checked_all_the_same() -> None:
    rng = np.random.default_rng(16)
    theta, b = abilities(rng, 7), rng.normal(0, 1, 15)
    n = np.where(rng.random((7, 15)) < 0.3, 0, 2)
    n[0] = 0  # a model without a rollout
    n[1], n[1, :2] = 0, 1  # one with two cells
    n[2, 8:] = n[3, :8] = 0  # two without a common item
    n[:, 14] = 0  # an item without a rollout
    matrix = respond(rng, theta, b, n)
    hostile = ResponseMatrix(
        models=("a\n'\"", "\u202e", "ä" * 90, "$x$", "<b>", "A", "a"),
        items=tuple(f"{i}\n" for i in range(15)),
        correct=matrix.correct.copy(),
        n=matrix.n.copy(),
    )
    found = checked(hostile, 20)
    json.dumps(found.model_dump(mode="json"), allow_nan=False)
    assert len(found.model_fits) == 6
    assert len(found.item_fits) == 15
    all_right = matrix_of(np.ones((5, 6), dtype=int), 1)
    for refused, said in (
        (matrix_of([[1, 0, 1]], 1), "at least 3"),
        (matrix_of([[1, 0], [0, 1], [1, 1]], 1), "at least 3"),
        (all_right, "tell models apart"),
        (matrix_of(np.repeat([[1, 0, 1, 0]], 4, axis=0), 1), "tell models apart"),
    ):
        with pytest.raises(FitError, match=said):
            checked(refused)
    with pytest.raises(ValueError, match="folds"):
        check_fit(fit_1pl(hostile, engine="map"), folds=1)


def test_what_is_too_large_is_sampled_and_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit_check, "MOST_CELLS", 400)
    monkeypatch.setattr(fit_check, "MOST_MODELS", 10)
    monkeypatch.setattr(fit_check, "MOST_HELD_OUT", 200)
    monkeypatch.setattr(fit_check, "MOST_BIC_ITEMS", 15)
    monkeypatch.setattr(fit_check, "MOST_REFITS", 4)
    rng = np.random.default_rng(17)
    matrix = respond(rng, abilities(rng, 14), rng.normal(0, 1, 60), 1)
    correct = matrix.correct.copy()
    correct[13] = correct[0]
    found = checked(matrix_of(correct, 1), 20)
    assert found.sample == (
        "Figures are of a random sample: 10 of 14 models and 40 of 60 items. Held-out cells are of "
        "20 random items. BIC is of 15 random items. 4 random models were left out in turn."
    )
    assert (found.models, len(found.model_fits), len(found.item_fits)) == (14, 10, 40)
    # equal responses are looked for in everything
    assert ("m0", "m13") in [one.names for one in found.findings]
