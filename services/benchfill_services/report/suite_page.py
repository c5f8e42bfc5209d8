"""What `benchfill suite` found: the answer first, then its parts, and the methods paragraph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .methods import fitted_methods
from .result import ResultPage
from .suite_keep import keep_sections
from .suite_measure import measure_sections
from .suite_parts import figure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchfill import SuiteAnalysis

    from .methods import Methods

ANSWER_FILE = "answer.md"
COVERAGE_PAPER = (
    "Evaluation blind spots: a stereological theory of LLM benchmark coverage (2026). "
    "arXiv:2606.05169."
)
MARCHENKO = (
    "Marchenko, V. A., & Pastur, L. A. (1967). Distribution of eigenvalues for some sets of random "
    "matrices. Mathematics of the USSR-Sbornik, 1(4), 457-483. doi:10.1070/SM1967v001n04ABEH001994."
)
HORN = (
    "Horn, J. L. (1965). A rationale and test for the number of factors in factor analysis. "
    "Psychometrika, 30(2), 179-185. doi:10.1007/BF02289447."
)
NEMHAUSER = (
    "Nemhauser, G. L., Wolsey, L. A., & Fisher, M. L. (1978). An analysis of approximations for "
    "maximizing submodular set functions - I. Mathematical Programming, 14, 265-294. "
    "doi:10.1007/BF01588971."
)
DAS = (
    "Das, A., & Kempe, D. (2011). Submodular meets spectral: greedy algorithms for subset "
    "selection, sparse approximation and dictionary selection. arXiv:1102.3975."
)
HIGHAM = (
    "Higham, N. J. (2002). Computing the nearest correlation matrix - a problem from finance. IMA "
    "Journal of Numerical Analysis, 22(3), 329-343. doi:10.1093/imanum/22.3.329."
)


def suite_page(analysis: SuiteAnalysis) -> ResultPage:
    """Tell which benchmarks to keep, which add nothing, and what nobody measures."""
    return ResultPage(
        title="Which benchmarks does this suite need?",
        lead=analysis.answer,
        caveats=analysis.cautions,
        sections=(*keep_sections(analysis), *measure_sections(analysis)),
        files={ANSWER_FILE: _answer_page(analysis)},
    )


def suite_methods(envelope: Mapping[str, Any], analysis: SuiteAnalysis) -> Methods:
    """Describe the analysis so that it can be pasted into a paper."""
    sentences = [_data(analysis), _spectrum(analysis), _coverage(analysis), _swaps(analysis)]
    references = [COVERAGE_PAPER, MARCHENKO, HORN, NEMHAUSER]
    if analysis.coverage.greedy_f.gamma is not None:
        references.append(DAS)
    if analysis.data.repair:
        references.append(HIGHAM)
    return fitted_methods(envelope, (), sentences, references)


def _data(analysis: SuiteAnalysis) -> str:
    data = analysis.data
    which = (
        f"Of {data.models_usable:,} models the {data.models:,} with the highest {data.overall_by} "
        "were used"
        if data.models < data.models_usable
        else f"All {data.models:,} models were used"
    )
    holes = ""
    if data.missing_cells:
        holes = (
            f"; {data.models_incomplete:,} models with missing scores were left out"
            if data.missing == "complete"
            else "; each pair of benchmarks was correlated over the models that have both scores, "
            f"and the matrix was moved by {data.repair:.3f} (Frobenius norm) to the nearest "
            "correlation matrix"
        )
    return f"{which}, with scores on {data.benchmarks} benchmarks standardised over them{holes}."


def _spectrum(analysis: SuiteAnalysis) -> str:
    one = analysis.spectrum
    return (
        "The effective dimension is the participation ratio of the eigenvalues of the "
        f"correlation matrix: {figure(one.d_eff, 2)}, 95% percentile interval over "
        f"{analysis.coverage.resamples:,} resamples of the models; {figure(one.d_eff_spearman, 2)} "
        f"by rank correlations; {one.d_eff_independent:.2f} after permuting each benchmark. "
        f"{one.above_mp} eigenvalues exceed the Marchenko-Pastur edge {one.mp_edge:.3f} (their "
        f"participation ratio is {one.d_eff_corrected.value:.2f}), {one.above_permutation} the 95% "
        f"quantile {one.permutation_edge:.3f} of the largest one of permuted scores."
    )


def _coverage(analysis: SuiteAnalysis) -> str:
    one = analysis.coverage
    how = (
        "the best of all subsets of that size" if one.exact else "the better of two greedy choices"
    )
    return (
        "The coverage of a subset T is f(T) = tr(P_T C) / tr C with P_T the projector on the "
        f"columns T of the correlation matrix C; {one.size} benchmarks, {how}, have "
        f"f = {figure(one.f)}; the mean R-squared of all benchmarks on them is "
        f"{figure(one.foretold)}. Greedy selection was also made by "
        f"F(T) = log det(I + C_TT / s^2), s^2 = {one.noise:.3f}, which is "
        "submodular, while f is not."
    )


def _swaps(analysis: SuiteAnalysis) -> str:
    one = analysis.swaps
    if one is None:
        return "Too few models had every score to compare halves of the suite."
    return (
        f"In {one.splits} random halves of the suite another model was first in "
        f"{one.observed.another_first.value:.1%}; with as many models drawn from a normal "
        f"distribution of the same correlations, in {one.gaussian.another_first.value:.1%}."
    )


def _answer_page(analysis: SuiteAnalysis) -> bytes:
    """Return the answer on one page of text, to be passed on."""
    lines = ["# Which benchmarks does this suite need?", "", *_spaced(analysis.answer)]
    if analysis.cautions:
        lines += ["## With care", "", *_spaced(analysis.cautions)]
    return ("\n".join(lines).rstrip() + "\n").encode(errors="replace")


def _spaced(sentences: tuple[str, ...]) -> list[str]:
    return [line for sentence in sentences for line in (" ".join(sentence.split()), "")]
