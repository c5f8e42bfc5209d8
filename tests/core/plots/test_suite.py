"""Pictures of a suite: legible at any size, whatever benchmarks are called."""

from __future__ import annotations

import numpy as np
import pytest

import benchfill as bf
from benchfill.plots import DARK, LIGHT
from benchfill.plots.suite_biplot import suite_biplot
from benchfill.plots.suite_coverage import coverage_curve
from benchfill.plots.suite_redundancy import redundancy_map
from benchfill.plots.suite_spectrum import suite_spectrum
from benchfill.plots.suite_swaps import swap_histogram
from support.fills import HOSTILE
from support.overlap import collisions


@pytest.mark.parametrize(
    ("benchmarks", "prefix"), [(2, ""), (5, HOSTILE), (12, "b" * 80), (50, "$x^2$ ")]
)
def test_at_any_size(benchmarks: int, prefix: str) -> None:
    rng = np.random.default_rng(benchmarks)
    values = rng.normal(size=(70, 4)) @ rng.normal(size=(4, benchmarks))
    values += rng.normal(size=values.shape)
    names = [f"{prefix}{k}" for k in range(benchmarks)]
    table = bf.ScoreTable([f"m{j}" for j in range(70)], names, values)
    found = bf.analyse_suite(table, bf.SuiteRequest(frontier=1, replicates=20))
    loadings = np.array([one.loadings for one in found.components[:2]]).T
    models = [(one.first, one.second) for one in found.models]
    kept = found.coverage.kept
    for theme in (LIGHT, DARK):
        for figure in (
            suite_spectrum(found.spectrum, theme=theme),
            coverage_curve(found.coverage, theme=theme),
            swap_histogram(found.swaps, theme=theme),
            suite_biplot(found.benchmarks, loadings, models, kept=kept, theme=theme),
            redundancy_map(found.benchmarks, found.correlations, kept=kept, theme=theme),
        ):
            assert collisions(figure) == []


def test_what_is_kept_is_bold_and_figures_stand_in_wide_cells() -> None:
    figure = redundancy_map(["a", "b"], [[1, -0.5], [-0.5, 1]], kept=["b"])
    texts = {text.get_text(): text for text in figure.axes[0].texts}
    assert texts["b  2"].get_fontweight() == "bold"
    assert texts["a  1"].get_fontweight() == "normal"
    assert {"1.00", "-.50"} <= set(texts)


def test_eigenvalues_above_the_edge_are_filled() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(200, 1)) + 0.5 * rng.normal(size=(200, 6))
    table = bf.ScoreTable([f"m{j}" for j in range(200)], list("abcdef"), values)
    found = bf.analyse_suite(table, bf.SuiteRequest(frontier=1, replicates=20)).spectrum
    drawn = {
        line.get_label(): len(line.get_xdata()) for line in suite_spectrum(found).axes[0].lines
    }
    assert drawn["above the edge"] == found.above_mp == 1
    assert drawn["within noise"] == 5
