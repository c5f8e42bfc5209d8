"""The verdicts of a check in words."""

from __future__ import annotations

import pytest

from benchfill_services.report.check_words import (
    caveats,
    how_stable,
    what_to_look_at,
    which_predicts_better,
)
from support.checks import make_check


@pytest.mark.parametrize(
    ("verdict", "difference", "said"),
    [
        ("2pl", 4.0, "predicts held-out cells better, by 4.00 ± 1.00 nats per 1,000 cells"),
        ("1pl", -4.0, "worse than difficulty alone, by 4.00 ± 1.00 nats per 1,000 cells"),
        ("unclear", -0.5, "about equally well (-0.50 ± 1.00 nats per 1,000 cells)"),
    ],
)
def test_each_verdict_has_its_sentence(verdict: str, difference: float, said: str) -> None:
    check = make_check()
    told = check.comparison.model_copy(
        update={"verdict": verdict, "difference": difference, "se": 1.0}
    )
    assert said in which_predicts_better(check.model_copy(update={"comparison": told}))


def test_bic_for_the_1pl_is_never_left_without_a_warning() -> None:
    check = make_check()
    ones = tuple(
        one.model_copy(update={"bic_1pl": 100.0, "bic_2pl": 200.0}) for one in check.comparison.bic
    )
    twos = tuple(one.model_copy(update={"bic_1pl": 300.0}) for one in ones)
    for bic, warned in ((ones, True), (twos, False), ((), False)):
        told = check.comparison.model_copy(update={"bic": bic})
        said = " ".join(caveats(check.model_copy(update={"comparison": told})))
        assert ("no evidence that the 1PL fits" in said) == warned


def test_nothing_to_look_at_and_nothing_to_leave_out() -> None:
    check = make_check()
    assert what_to_look_at(check).startswith("Look at 1 group of models with equal responses")
    assert "Nothing stands out" in what_to_look_at(check.model_copy(update={"findings": ()}))
    none = check.leave_one_out.model_copy(
        update={"models": (), "min_pearson": None, "mean_pearson": None}
    )
    assert "says nothing" in how_stable(check.model_copy(update={"leave_one_out": none}))


def test_what_weakens_the_figures_is_said() -> None:
    check = make_check()
    sampled = check.model_copy(update={"sample": "Only a part.", "typical_item_fit": 7.0})
    assert caveats(sampled)[0] == "Only a part."
    assert "The 1PL as such misfits" in caveats(sampled)[-1]
