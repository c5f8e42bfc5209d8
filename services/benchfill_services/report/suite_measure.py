"""The part of a suite's report on what it measures, and what it is blind to."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from benchfill.plots.suite_biplot import suite_biplot
from benchfill.plots.suite_spectrum import suite_spectrum
from benchfill.plots.suite_swaps import swap_histogram

from .pictures import picture
from .result import Drawing, Section, Table
from .suite_parts import figure

if TYPE_CHECKING:
    from benchfill import SuiteAnalysis
    from benchfill.suite.result import SwapRate, Swaps

    from .pictures import Picture
    from .result import Cell


def measure_sections(analysis: SuiteAnalysis) -> tuple[Section, ...]:
    """Tell how many directions there are, whether leaders stay, and how blind the suite is."""
    sections = [_directions(analysis)]
    if analysis.swaps is not None:
        sections.append(_swaps(analysis.swaps))
    return (*sections, _hidden(analysis), _blind(analysis), _used(analysis))


def _directions(analysis: SuiteAnalysis) -> Section:
    rows: list[tuple[Cell, ...]] = []
    for who, one in (("in use", analysis.spectrum), ("everybody", analysis.everybody)):
        rows.append(
            (who, one.models, figure(one.d_eff, 2), figure(one.d_eff_spearman, 2),
             one.d_eff_independent, figure(one.d_eff_corrected, 2))
        )  # fmt: skip
    edges = tuple(
        (who, one.mp_edge, one.above_mp, one.permutation_edge, one.above_permutation,
         one.above_kaiser)
        for who, one in (("in use", analysis.spectrum), ("everybody", analysis.everybody))
    )  # fmt: skip
    return Section(
        "How many directions the suite measures",
        (
            "The number of directions is the participation ratio of the eigenvalues: as many "
            "unrelated benchmarks would tell as much. Part of it is noise, which makes directions "
            "of its own; what is left above the edge of noise is the corrected figure. Read both.",
        ),
        (
            Drawing(
                partial(_draw_spectrum, analysis),
                "Eigenvalues of the correlations between benchmarks; noise reaches up to the edge.",
            ),
            Drawing(
                partial(_draw_biplot, analysis),
                "Benchmarks that point the same way tell the same; bold: kept.",
            ),
        ),
        (
            Table(
                "Number of directions with 95% interval; by ranks; of unrelated benchmarks with as "
                "many models (permuted); of the eigenvalues above the Marchenko-Pastur edge.",
                ("models", "number", "d_eff", "by ranks", "unrelated", "corrected"),
                tuple(rows),
            ),
            Table(
                "Edges of noise, and eigenvalues above each.",
                ("models", "MP edge", "above", "permuted 95%", "above it", "above 1"),
                edges,
                on_terminal=False,
            ),
        ),
    )


def _swaps(swaps: Swaps) -> Section:
    def row(who: str, rate: SwapRate) -> tuple[Cell, ...]:
        return who, figure(rate.another_first), figure(rate.top_changed, 2)

    return Section(
        "Do the best models stay the best?",
        (
            f"The suite was split {swaps.splits} times at random into {swaps.visible} visible and "
            f"{swaps.held_out} held-out benchmarks. Made-up models with the same correlations "
            "change places too, since each half holds few benchmarks: only a difference from them "
            f"says something about these models. Of 100 such worlds {swaps.p_gaussian:.0%} have at "
            "least as many other first places.",
        ),
        (
            Drawing(
                partial(_draw_swaps, swaps),
                f"How many of the {swaps.top} best models of one half are not among those of the "
                "other.",
            ),
        ),
        (
            Table(
                f"Share of splits with another first, and how many of the {swaps.top} best change; "
                "95%: over splits for these models, over worlds for made-up ones.",
                ("models", "another first", "changed"),
                (
                    row("these", swaps.observed),
                    row("same correlations", swaps.gaussian),
                    row("one factor", swaps.single_factor),
                ),
            ),
        ),
    )


def _hidden(analysis: SuiteAnalysis) -> Section:
    return Section(
        "Would what nobody measures swap the best two?",
        (
            "Nobody can know: the answer depends on what is assumed of the abilities that no "
            "benchmark measures. The paper's closed form lets their spread follow from the "
            "assumption; the simulation gives them the spread that the models' scores have.",
        ),
        tables=(
            Table(
                "Probability that the second model is truly better, by assumption and number of "
                "abilities; simulated with 95% Monte-Carlo interval.",
                ("hidden abilities", "all", "closed form", "simulated"),
                tuple(
                    (one.prior, one.dimension, one.closed_form, figure(one.simulated))
                    for one in analysis.hidden_swaps
                ),
                on_terminal=False,
            ),
        ),
    )


def _blind(analysis: SuiteAnalysis) -> Section:
    one = analysis.blind_spot
    words = [
        "Two models that look alike on every benchmark may differ in a direction that none "
        "measures. The bound is eps + C R m^(-1/(d_eff - 1)) in standard deviations of a "
        "benchmark; it is a worst case over all models one could build, no estimate of these.",
        f"By the bound's rate it would take {one.times_to_halve:,.1f} times as many benchmarks to "
        "halve it.",
    ]
    rows: tuple[tuple[Cell, ...], ...] = (
        ("eps: residual of the linear model, largest", one.epsilon),
        ("eps, 95% of residuals", one.epsilon_q95),
        ("R: norm of a model's z-scores, largest", one.radius),
        ("R, 95% of models", one.radius_q95),
        ("omega: farthest direction, radians", one.omega),
        ("omega of random directions", figure(one.omega_random)),
        ("omega by signed cosines (the paper's)", one.omega_signed),
        ("bound, with the largest", one.bound),
        ("bound, with the 95%", one.bound_q95),
        ("gap between the best two models", one.runner_up_gap),
        ("standard error of that gap over benchmarks", one.gap_noise),
        ("bound / gap", one.bound_to_gap),
        ("bound / standard error", one.bound_to_noise),
    )
    return Section(
        "How blind the suite is",
        tuple(words),
        tables=(
            Table("The blind spot and its parts.", ("what", "figure"), rows, on_terminal=False),
            Table(
                "The direction that is farthest from every benchmark: its weight on z-scores, and "
                "the cosine of the angle to each benchmark.",
                ("benchmark", "weight", "cosine"),
                tuple((part.benchmark, part.weight, part.cosine) for part in one.direction),
                on_terminal=False,
            ),
            Table(
                "Is each benchmark linear in the leading components of the others? R² and what "
                "noise would have; what squares and products add, by chance, and p.",
                ("benchmark", "R²", "noise", "squares add", "by chance", "p"),
                tuple(
                    (line.benchmark, line.r2, line.r2_by_chance, line.quadratic_gain,
                     line.quadratic_by_chance, line.quadratic_p)
                    for line in analysis.linearity
                ),
                on_terminal=False,
            ),
        ),
    )  # fmt: skip


def _used(analysis: SuiteAnalysis) -> Section:
    data = analysis.data
    return Section(
        "What this rests on",
        (
            f"{data.models:,} of {data.models_given:,} models and {data.benchmarks} benchmarks. "
            f"Models in use are the best {data.frontier:.0%} by {data.overall_by}, ties included. "
            "A column is a benchmark when it holds numbers, unless its name stands for metadata or "
            "it is the mean of the others; --columns names them instead.",
        ),
        tables=(
            Table(
                "Columns that are not used.",
                ("column", "why"),
                tuple((one.name, one.reason) for one in data.left_out),
            ),
        ),
    )


def _draw_spectrum(analysis: SuiteAnalysis) -> Picture:
    one = analysis.spectrum
    return picture(
        "suite-spectrum.png",
        f"Eigenvalues {', '.join(f'{value:.2f}' for value in one.eigenvalues[:12])}; "
        f"{one.above_mp} above the Marchenko-Pastur edge {one.mp_edge:.3f}.",
        lambda theme: suite_spectrum(one, theme=theme),
    )


def _draw_biplot(analysis: SuiteAnalysis) -> Picture:
    first, second = analysis.components[:2]
    tips = list(zip(first.loadings, second.loadings, strict=True))
    told = "; ".join(
        f"{name} {x:.2f}, {y:.2f}"
        for name, (x, y) in list(zip(analysis.benchmarks, tips, strict=True))[:20]
    )
    return picture(
        "suite-biplot.png",
        f"Loadings of the benchmarks on the first two components: {told}.",
        lambda theme: suite_biplot(
            analysis.benchmarks,
            tips,
            [(one.first, one.second) for one in analysis.models],
            kept=analysis.coverage.kept,
            theme=theme,
        ),
    )


def _draw_swaps(swaps: Swaps) -> Picture:
    return picture(
        "suite-swaps.png",
        f"Histogram over splits of how many of the best {swaps.top} models change: on average "
        f"{swaps.observed.top_changed.value:.2f}, of made-up models "
        f"{swaps.gaussian.top_changed.value:.2f}.",
        lambda theme: swap_histogram(swaps, theme=theme),
    )
