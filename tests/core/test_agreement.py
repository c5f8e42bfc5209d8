"""Agreement of raters: published tables, undefined cases, and what must hold for any judgements."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import benchfill as bf
from benchfill.errors import InputError

# printed by SAS PROC FREQ (AGREE), as quoted in the tests of statsmodels' inter_rater
SAS = [[0, 4, 1], [0, 8, 0], [0, 1, 5]]
# Fleiss, Levin & Paik (2003), Statistical Methods for Rates and Proportions, table 18.1
DIAGNOSES = [[75, 1, 4], [5, 4, 1], [0, 0, 10]]


def test_a_printout_of_sas_is_met() -> None:
    found = bf.cohen_kappa(SAS)
    assert (found.kappa, found.se, found.low, found.high) == pytest.approx(
        (0.4842, 0.1380, 0.2137, 0.7547), abs=5e-5
    )
    assert (found.n, found.n_kappa, found.why) == (19, 19, None)


def test_the_table_of_a_textbook_is_met() -> None:
    found = bf.cohen_kappa(DIAGNOSES)
    assert found.raw == pytest.approx(0.89)
    assert found.kappa == pytest.approx(0.68, abs=5e-3)
    assert found.se == pytest.approx(0.087, abs=1e-3)


def judged(table: list[list[int]], raters: tuple[str, str] = ("a", "b")) -> list[dict[str, str]]:
    """The same judgements, one by one."""
    return [
        {raters[0]: f"c{i}", raters[1]: f"c{j}"}
        for i, row in enumerate(table)
        for j, count in enumerate(row)
        for _ in range(count)
    ]


@pytest.mark.parametrize("table", [SAS, DIAGNOSES])
def test_one_pair_is_what_its_table_says(table: list[list[int]]) -> None:
    one_by_one, whole = bf.rater_agreement(judged(table)), bf.cohen_kappa(table)
    for field in ("n", "raw", "kappa", "se", "low", "high"):
        assert getattr(one_by_one, field) == pytest.approx(getattr(whole, field))


def test_pairs_are_weighted_by_their_sizes() -> None:
    # Barlow, Lai & Azen (1991): sum of n kappa over sum of n, strata independent
    both = bf.rater_agreement(judged(SAS) + judged(DIAGNOSES, ("c", "d")))
    one, two = bf.cohen_kappa(SAS), bf.cohen_kappa(DIAGNOSES)
    assert both.kappa == pytest.approx((19 * one.kappa + 100 * two.kappa) / 119)
    assert both.se == pytest.approx(np.hypot(19 * one.se, 100 * two.se) / 119)
    assert both.raw == pytest.approx((19 * one.raw + 100 * two.raw) / 119)


def test_a_third_rater_who_copies_makes_nothing_surer() -> None:
    pair = judged(DIAGNOSES)
    three = bf.rater_agreement([one | {"c": one["b"]} for one in pair])
    assert three.n == 300
    # kappa of a-b, a-c and b-c (1): had the pairs passed for independent, se would be smaller
    single = bf.cohen_kappa(DIAGNOSES)
    assert three.kappa == pytest.approx((2 * single.kappa + 1) / 3)
    assert three.se == pytest.approx(2 * single.se / 3)


def test_the_standard_error_is_that_of_resampling() -> None:
    rng = np.random.default_rng(5)
    p = np.asarray(DIAGNOSES).ravel() / 100
    drawn = [bf.cohen_kappa(rng.multinomial(400, p).reshape(3, 3)).kappa for _ in range(1500)]
    expected = bf.cohen_kappa(4 * np.asarray(DIAGNOSES)).se
    assert np.std(drawn) == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize(
    ("table", "raw", "kappa", "said"),
    [
        ([[0, 0], [0, 0]], None, None, "nothing was judged"),
        ([[7, 0], [0, 0]], 1, None, "one category only"),
        ([[7, 0], [0, 2]], 1, 1, "agree on everything"),
        ([[0, 1], [0, 0]], 0, 0, "too few"),
    ],
)
def test_what_is_undefined_says_why(table, raw, kappa, said) -> None:
    for found in (bf.cohen_kappa(table), bf.rater_agreement(judged(table))):
        assert (found.raw, found.kappa) == (raw, kappa)
        assert (found.se, found.low, found.high) == (None, None, None)
        assert said in found.why


def test_pairs_without_a_kappa_count_as_raw_agreement_only() -> None:
    found = bf.rater_agreement(judged(SAS) + [{"c": "yes", "d": "yes"}] * 5 + [{"e": "no"}])
    assert (found.n, found.n_kappa) == (24, 19)
    assert found.kappa == pytest.approx(bf.cohen_kappa(SAS).kappa)
    assert found.raw == pytest.approx((13 + 5) / 24)


@pytest.mark.parametrize("table", [[[1, 2]], [[1.5, 0], [0, 1]], [[-1, 0], [0, 1]], [[np.nan]]])
def test_what_is_no_table_is_refused(table) -> None:
    with pytest.raises(InputError, match="table"):
        bf.cohen_kappa(table)


TABLES = st.integers(2, 4).flatmap(
    lambda k: st.lists(st.lists(st.integers(0, 12), min_size=k, max_size=k), min_size=k, max_size=k)
)


@given(TABLES, st.randoms(use_true_random=False))
def test_names_and_roles_do_not_matter(table, random) -> None:
    counts = np.asarray(table)
    found = bf.cohen_kappa(counts)
    order = list(range(len(counts)))
    random.shuffle(order)
    for other in (counts.T, counts[np.ix_(order, order)]):
        same = bf.cohen_kappa(other)
        assert (same.n, same.why) == (found.n, found.why)
        for field in ("raw", "kappa", "se", "low", "high"):
            assert getattr(same, field) == pytest.approx(getattr(found, field), abs=1e-9)


@given(TABLES)
def test_kappa_is_never_above_raw_agreement_and_its_interval_holds_it(table) -> None:
    found = bf.cohen_kappa(table)
    assume(found.kappa is not None)
    assert -1 <= found.kappa <= found.raw + 1e-12 <= 1 + 1e-12
    if found.se is not None:
        assert -1 <= found.low <= found.kappa <= found.high <= 1


@given(TABLES, st.integers(2, 5))
def test_more_of_the_same_makes_surer_and_changes_nothing_else(table, times) -> None:
    one, many = bf.cohen_kappa(table), bf.cohen_kappa(times * np.asarray(table))
    assume(one.se is not None)
    assert many.kappa == pytest.approx(one.kappa, abs=1e-9)
    assert many.se == pytest.approx(one.se / np.sqrt(times), rel=1e-6)


def test_one_rater_against_all_others() -> None:
    # a and b judge twice, a and c once more; what b and c say of each other is none of a's business
    judged_by = [
        {"a": "yes", "b": "yes", "c": "no"},
        {"a": "no", "b": "no", "c": "no"},
        {"b": "yes", "c": "no"},
    ]
    found = bf.rater_agreement(judged_by, rater="a")
    assert (found.n, found.raw) == (4, pytest.approx(3 / 4))
    assert bf.rater_agreement(judged_by).n == 7
    assert bf.rater_agreement(judged_by, rater="d").why is not None
