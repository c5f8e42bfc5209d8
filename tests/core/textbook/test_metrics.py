"""Metrics against values worked out by hand."""

from __future__ import annotations

import math

import pytest

from benchfill.errors import InputError
from benchfill.textbook.metrics import (
    CandidateRow,
    difficulty,
    generation_metrics,
    normalised_entropy,
    separability,
    wrong_keys,
)
from benchfill.textbook.rouge import rouge_l
from benchfill.textbook.shares import difference, share


@pytest.mark.parametrize(
    ("counts", "entropy"),
    [
        ([5, 5, 5, 5], 1.0),
        ([7, 0, 0], 0.0),
        ([9], 0.0),
        ([], None),
        ([0, 0], None),
        # H = -(3/4 ln 3/4 + 1/4 ln 1/4) = .562335, over ln 2 = .693147
        ([3, 1], 0.8112781244591328),
        # the same over three categories, one of them empty: .562335 / ln 3
        ([3, 1, 0], 0.5118595071429148),
    ],
)
def test_normalised_entropy(counts: list[int], entropy: float | None) -> None:
    assert normalised_entropy(counts) == (None if entropy is None else pytest.approx(entropy))


def test_a_negative_count_is_refused() -> None:
    with pytest.raises(InputError, match="below 0"):
        normalised_entropy([1, -1])


def test_difficulty_and_separability() -> None:
    assert difficulty([0.4, 0.75, 0.6]) == pytest.approx(0.25)
    # mean .5; deviations .3, .1, .1, .3
    assert separability([0.2, 0.4, 0.6, 0.8]) == pytest.approx(0.2)
    assert separability([0.5, 0.5]) == 0
    assert difficulty([]) is None
    assert separability([]) is None
    with pytest.raises(InputError, match="outside 0 to 1"):
        difficulty([1.2])


def test_shares_and_their_intervals() -> None:
    # Wilson: (p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n), z = 1.959964
    got = share(8, 10)
    z, n, p = 1.959963984540054, 10, 0.8
    centre, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    assert got.low == pytest.approx((centre - half) / (1 + z * z / n))
    assert got.high == pytest.approx((centre + half) / (1 + z * z / n))
    # Clopper-Pearson with no wrong key in 100: upper end 1 - .025^(1/100)
    none = wrong_keys(0, 100)
    assert (none.low, none.high) == (0.0, pytest.approx(1 - 0.025**0.01))
    assert share(0, 0).share is None
    with pytest.raises(InputError, match="3 of 2"):
        share(3, 2)


def test_newcombe_s_example() -> None:
    # Newcombe (1998), table II, contrast (a), method 10: 56/70 - 48/80 is .0524 to .3339
    got = difference(share(56, 70), share(48, 80))
    assert got.difference == pytest.approx(0.2)
    assert got.low == pytest.approx(0.0524, abs=5e-5)
    assert got.high == pytest.approx(0.3339, abs=5e-5)
    assert difference(share(1, 2), share(0, 0)).low is None


def row(bloom: str, outcome: str, first: bool, retries: int = 0, **more: object) -> CandidateRow:
    fields = {"competency": "slicing", "cost": 0.25, "knowledge": ()} | more
    return CandidateRow(
        bloom=bloom, outcome=outcome, first_check_passed=first, retries=retries, **fields
    )


def test_metrics_of_a_run() -> None:
    rows = [
        row("Apply", "accepted", True, knowledge=("k1", "k2", "k1")),
        row("Apply", "duplicate", True),
        row("Apply", "dropped", False, 3),
        row("Create", "accepted", False, 1, competency="loops", knowledge=("k1",)),
        row("Create", "failed", False, cost=0.0),
    ]
    got = generation_metrics(rows, ["slicing", "loops"], ["k1", "k2", "k3"])
    assert (got.candidates, got.accepted, got.dropped, got.duplicates, got.failed) == (
        5,
        2,
        1,
        1,
        1,
    )
    assert got.entropy_competencies == pytest.approx(1)
    # k1 twice, k2 once, k3 never: -(2/3 ln 2/3 + 1/3 ln 1/3) / ln 3
    assert got.entropy_knowledge == pytest.approx(0.5793801642856950)
    assert got.cost_per_item == pytest.approx(0.5)
    apply, create = got.by_bloom
    assert (apply.first.count, apply.final.count, apply.final.n) == (2, 2, 3)
    assert apply.mean_retries == pytest.approx(1)
    assert (create.first.share, create.final.share, create.mean_retries) == (0, 1, 1)


def test_a_price_that_is_not_known_is_not_taken_for_nothing() -> None:
    rows = [row("Apply", "accepted", True), row("Apply", "dropped", False, cost=None)]
    got = generation_metrics(rows, ["slicing"], [])
    assert got.cost is None
    assert got.cost_per_item is None
    assert generation_metrics([], ["slicing"], []).by_bloom == ()


@pytest.mark.parametrize(
    ("text", "reference", "score"),
    [
        # the example of Lin (2004): police killed the gunman / police kill the gunman
        ("police kill the gunman", "police killed the gunman", 0.75),
        ("the gunman kill police", "police killed the gunman", 0.5),
        ("", "a b", 0.0),
        ("A, b!", "a b", 1.0),
        ("a b c d", "b d", 2 * 2 / 6),
    ],
)
def test_rouge_l(text: str, reference: str, score: float) -> None:
    assert rouge_l(text, reference) == pytest.approx(score)
