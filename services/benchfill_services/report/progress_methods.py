"""The methods paragraph of a test of progress."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .methods import MEASURE, fitted_methods

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchfill.progress import Progress

    from .methods import Methods
    from .progress_words import PlacedBy

MANTEL = (
    "Mantel, N., & Haenszel, W. (1959). Statistical aspects of the analysis of data from "
    "retrospective studies of disease. Journal of the National Cancer Institute, 22(4), 719-748. "
    "doi:10.1093/jnci/22.4.719."
)
NEWCOMBE = (
    "Newcombe, R. G. (1998). Improved confidence intervals for the difference between binomial "
    "proportions based on paired data. Statistics in Medicine, 17(22), 2635-2650. "
    "doi:10.1002/(SICI)1097-0258(19981130)17:22<2635::AID-SIM954>3.0.CO;2-C."
)
PHIPSON = (
    "Phipson, B., & Smyth, G. K. (2010). Permutation p-values should never be zero. Statistical "
    "Applications in Genetics and Molecular Biology, 9(1), 39. doi:10.2202/1544-6115.1585."
)
HOLM = (
    "Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian "
    "Journal of Statistics, 6(2), 65-70."
)


def progress_methods(envelope: Mapping[str, Any], progress: Progress, placed: PlacedBy) -> Methods:
    """Describe the test so that it can be pasted into a paper."""
    source = (
        "The items were placed by the pooled responses before and after, which no permutation of "
        "the two changes."
        if placed.pooled
        else "The items were placed by responses that hold before and after alike, or neither."
    )
    null = (
        "Given each item's total, before and after are exchangeable if nothing has changed, so "
        "that the successes after are hypergeometric; the statistic is their sum less its mean "
        f"(one-sided, level {progress.alpha:g})."
    )
    references = [MEASURE, MANTEL, NEWCOMBE]
    sentences = [source, null, *_test_sentences(progress)]
    if progress.permutations is not None:
        references.append(PHIPSON)
    if len(progress.tests) > 1:
        references.append(HOLM)
        sentences.append(
            f"p-values of {len(progress.tests)} models were corrected by Holm's method."
        )
    return fitted_methods(envelope, (progress,), sentences, references)


def _test_sentences(progress: Progress) -> list[str]:
    limits = (
        "Limits of a gain are Newcombe's for paired proportions, extended to several rollouts, "
        f"each at level {progress.alpha:g}."
    )
    ties = " Ties were decided by lot." if progress.randomised_ties else ""
    if progress.interval is not None:
        left, right = progress.interval
        return [
            f"The interval from z = {left:g} to {right:g} was tested by convolution of the items' "
            f"distributions, exactly.{ties}",
            limits,
        ]
    drawn = (
        f"{progress.permutations:,} permutations of before and after within items, p = (1 + number "
        "at least as great) / (1 + permutations)"
        if progress.permutations is not None
        else "all possible outcomes"
    )
    return [
        "Intervals of at least three items next to one another in difficulty were scanned for the "
        f"greatest standardised sum; its family-wise p-value rests on {drawn}.{ties} Limits of the "
        "best interval's gain allow for its choice: gain plus and minus the scan's critical score "
        "times its standard deviation under the null.",
        f"For any other set of items: {limits}",
    ]
