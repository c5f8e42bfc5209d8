"""Tables as people have them: a right answer, or one clear sentence."""

from __future__ import annotations

import numpy as np
import pytest

import benchfill as bf
from benchfill.suite.models_in_use import models_in_use, overall_scores

ONE = bf.SuiteRequest(frontier=1, replicates=40)
FRONTIER = bf.SuiteRequest(replicates=40)


def scores(models: int = 60, benchmarks: int = 6, seed: int = 0) -> np.ndarray:
    """Percent, two factors and noise, all correlations positive."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(models, 2))
    loadings = rng.uniform(0.4, 1, (2, benchmarks))
    raw = factors @ loadings + 0.5 * rng.normal(size=(models, benchmarks))
    return np.clip(50 + 12 * raw, 0, 100)


def table(values: np.ndarray, names: str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ") -> bf.ScoreTable:
    models = tuple(f"m{j}" for j in range(len(values)))
    return bf.ScoreTable(models, tuple(names[: values.shape[1]]), values)


def said(analysis: bf.SuiteAnalysis) -> str:
    return " ".join(analysis.cautions)


def test_percent_beside_fractions_is_the_same_suite() -> None:
    values = scores()
    mixed = values.copy()
    mixed[:, [1, 3]] /= 100
    plain, found = (bf.analyse_suite(table(one), FRONTIER) for one in (values, mixed))
    assert found.data.overall_by == "mean score in percent"
    assert plain.data.overall_by == "mean score"
    assert [one.model for one in found.models] == [one.model for one in plain.models]
    assert found.spectrum.d_eff.value == pytest.approx(plain.spectrum.d_eff.value)
    assert found.coverage.kept == plain.coverage.kept
    assert "taken for fractions" in said(found)
    assert "fractions" not in said(plain)


def test_other_scales_go_by_z_scores() -> None:
    values = scores()
    values[:, 2] = values[:, 2] * 11 + 700  # an Elo rating
    found = bf.analyse_suite(table(values), FRONTIER)
    assert found.data.overall_by == "mean z-score"
    assert "not all on a scale" in said(found)


def test_a_reversed_scale_is_said_and_never_turned_round() -> None:
    values = scores()
    turned = values.copy()
    turned[:, 4] = 100 - turned[:, 4]
    plain, found = (bf.analyse_suite(table(one), ONE) for one in (values, turned))
    assert found.data.reversed == ("E",)
    assert "E falls where all other benchmarks rise" in said(found)
    assert plain.data.reversed == ()
    r = np.array(found.correlations)[4]
    np.testing.assert_allclose(np.delete(r, 4), -np.delete(np.array(plain.correlations)[4], 4))
    assert found.spectrum.d_eff.value == pytest.approx(plain.spectrum.d_eff.value)


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e90])
def test_any_scale_is_the_same_suite(scale: float) -> None:
    """Squares of 1e-300 are nothing, those of 1e200 beyond all numbers."""
    values = scores()
    request = bf.SuiteRequest(frontier=1, replicates=20, outside=("F",))
    plain, found = (bf.analyse_suite(table(one), request) for one in (values, scale * values))
    assert found.spectrum.d_eff.value == pytest.approx(plain.spectrum.d_eff.value)
    assert found.novelty[0].novelty.value == pytest.approx(plain.novelty[0].novelty.value)
    assert found.coverage.kept == plain.coverage.kept
    with pytest.raises(bf.InputError, match=r"model 'm0' scores .*e.* on 'A'; the most is 1e"):
        table(values * 1e150)


@pytest.mark.parametrize(("benchmarks", "exact", "gamma"), [(15, 1, 1), (16, 1, 0), (17, 0, 0)])
def test_where_enumeration_ends(benchmarks: int, exact: int, gamma: int) -> None:
    request = bf.SuiteRequest(frontier=1, replicates=20, select=3)
    found = bf.analyse_suite(table(scores(40, benchmarks)), request).coverage
    assert found.exact == (found.optimum_f is not None) == bool(exact)
    assert (found.greedy_f.gamma is not None) == bool(gamma)
    assert len(found.curve) == benchmarks


def test_every_benchmark_to_keep_or_drop_is_named() -> None:
    """An answer that ends in `and 14 more` cannot be acted on."""
    request = bf.SuiteRequest(frontier=1, replicates=20, select=12)
    found = bf.analyse_suite(table(scores(40, 26)), request)
    keep = next(one for one in found.answer if one.startswith("Keep"))
    assert all(f"{name}," in keep or f"{name} and" in keep or f"{name}." in keep
               for name in found.coverage.kept)  # fmt: skip
    drop = " ".join(one for one in found.answer if one.startswith("These add"))
    for place in found.places:
        if place.verdict in {"adds nothing", "adds little"}:
            assert place.benchmark in drop
    assert "more." not in keep


def test_constant_columns_are_left_out_by_name() -> None:
    values = np.column_stack([scores(), np.full(60, 3.3)])
    found = bf.analyse_suite(table(values), ONE)
    plain = bf.analyse_suite(table(scores()), ONE)
    assert found.benchmarks == tuple("ABCDEF")
    assert [(one.name, one.reason[:11]) for one in found.data.left_out] == [("G", "is the same")]
    assert found.spectrum == plain.spectrum


def test_a_column_that_is_constant_on_the_frontier_only() -> None:
    values = scores()
    best = values.mean(1) >= np.median(values.mean(1)) - 5
    values[best, 5] = 100
    found = bf.analyse_suite(table(values), FRONTIER)
    assert found.data.left_out[0].name == "F"
    assert found.data.benchmarks == 5


def test_duplicates_are_named_and_add_nothing() -> None:
    values = scores()
    values = np.column_stack([values, values[:, 0], 2 * values[:, 1] - 20])
    found = bf.analyse_suite(table(np.clip(values, 0, None)), ONE)
    assert found.data.duplicates[0] == ("A", "G")
    assert "A and G tell the models apart in the same way: one is enough." in found.cautions
    alone = {one.benchmark: one.irreplaceability.value for one in found.places}
    assert alone["A"] == pytest.approx(0, abs=1e-6)
    assert not {"A", "G"} <= set(found.coverage.kept)
    assert found.spectrum.benchmarks == 8


def test_more_benchmarks_than_models() -> None:
    found = bf.analyse_suite(table(scores(8, 20)), ONE)
    assert "no more models than benchmarks" in said(found)
    assert found.spectrum.d_eff.value <= 7
    assert all(one.irreplaceability.value == pytest.approx(0, abs=1e-6) for one in found.places)
    assert found.coverage.exact is False
    assert found.coverage.greedy_f.gamma is None


@pytest.mark.parametrize("models", [3, 4, 5])
def test_few_models_still_give_every_figure(models: int) -> None:
    found = bf.analyse_suite(table(scores(models, 4)), ONE)
    text = found.model_dump_json()
    assert "NaN" not in text
    assert "Infinity" not in text
    assert 1 <= found.spectrum.d_eff.value <= models - 1 + 1e-9


def test_two_benchmarks() -> None:
    found = bf.analyse_suite(table(scores(30, 2)), ONE)
    r = found.correlations[0][1]
    assert found.spectrum.d_eff.value == pytest.approx(2 / (1 + r**2))
    assert found.removal.disruption_and_mass.rho is None


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (scores(1), "the scores are of 1 model;"),
        (scores(2), "the scores are of 2 models;"),
        (scores(9, 1), "the scores are of 1 benchmark; a suite needs 2"),
        (np.full((9, 3), 7.0), "3 benchmarks and none of them tells the models"),
        (np.where(np.arange(6) < 5, np.nan, scores()), "only 1 of 6 benchmarks"),
        (np.where(np.arange(60)[:, None] < 58, np.nan, scores()), "2 models of 60 have all scores"),
        (scores(9, 201), "201 benchmarks and 200 is the most"),
    ],
)
def test_tables_that_cannot_be_analysed(values, message) -> None:
    names = [f"b{k}" for k in range(values.shape[1])]
    one = bf.ScoreTable([f"m{j}" for j in range(len(values))], names, values)
    with pytest.raises(bf.InputError) as error:
        bf.analyse_suite(one, ONE)
    assert message in error.value.message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"frontier": 0}, "--frontier: 0 is no share"),
        ({"frontier": 1.2}, "--frontier: 1.2 is no share"),
        ({"frontier": float("nan")}, "--frontier: nan is no share"),
        ({"frontier": 0.01}, "--frontier: leaves 1 of 60 models"),
        ({"select": 0}, "--select: 0 of 6 benchmarks"),
        ({"select": 7}, "--select: 7 of 6 benchmarks"),
        ({"coverage": 0}, "--coverage: 0 is no share"),
        ({"coverage": float("nan")}, "--coverage: nan is no share"),
        ({"select": 2, "coverage": 0.5}, "--select: give either"),
        ({"replicates": 5}, "--bootstrap: 5 resamples"),
        ({"constant": 0}, "--constant: 0 cannot be C"),
        ({"constant": float("nan")}, "--constant: nan cannot be C"),
        ({"outside": ("Z",)}, "--outside: there is no benchmark 'Z'"),
    ],
)
def test_options_that_cannot_be(options, message) -> None:
    with pytest.raises(bf.InputError) as error:
        bf.analyse_suite(table(scores()), bf.SuiteRequest(**options))
    assert message in error.value.message


def test_the_frontier_is_the_upper_half_ties_included() -> None:
    values = np.array([[1.0, 2], [1, 2], [3, 1], [3, 3], [5, 4]])
    used = models_in_use(table(values), frontier=0.5, missing="complete")
    assert used.models == ("m2", "m3", "m4")
    assert overall_scores(values)[0].tolist() == [1.5, 1.5, 2, 3, 4.5]


def test_the_same_seed_gives_the_same_analysis() -> None:
    first, again = (bf.analyse_suite(table(scores()), FRONTIER) for _ in range(2))
    assert first == again
    other = bf.analyse_suite(table(scores()), bf.SuiteRequest(replicates=40, seed=1))
    assert other.spectrum.d_eff.value == first.spectrum.d_eff.value
    assert other.spectrum.d_eff != first.spectrum.d_eff


def test_random_tables_with_holes_give_figures_or_one_sentence() -> None:
    """Tiny tables, constant, tied, of rank one, with holes: no warning, no NaN, no other error."""
    answered = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(3, 12)), int(rng.integers(2, 6))
        kinds = (
            rng.normal(size=(n, k)),
            np.round(rng.normal(size=(n, k))),
            rng.integers(0, 2, (n, k)).astype(float),
            np.outer(rng.normal(size=n), rng.normal(size=k)),
            3.0 * (rng.random(k) < 0.5) + rng.random((n, 1)),
        )
        values = kinds[seed % 5] * [1, 1e-6, 1e6][seed % 3]
        values[rng.random(values.shape) < [0, 0.1, 0.4][seed // 5 % 3]] = np.nan
        request = bf.SuiteRequest(
            frontier=[1, 0.5][seed % 2],
            replicates=20,
            missing=("complete", "pairwise")[seed // 3 % 2],
        )
        try:
            found = bf.analyse_suite(table(values), request)
        except bf.InputError:
            continue
        answered += 1
        assert "NaN" not in found.model_dump_json()
        assert all(np.isfinite(one) for one in _floats(found.model_dump()))
    assert answered > 20


def _floats(value: object) -> list[float]:
    if isinstance(value, float):
        return [value]
    if isinstance(value, dict):
        return [one for part in value.values() for one in _floats(part)]
    if isinstance(value, list | tuple):
        return [one for part in value for one in _floats(part)]
    return []
