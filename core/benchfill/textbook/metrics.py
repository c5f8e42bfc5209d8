"""What a run of generation is worth: coverage, difficulty, separability, pass rates, cost.

Definitions are those of the Flame paper (docs/method.md, section 9); intervals are ours.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from ..errors import InputError
from .blueprint import BLOOM_LEVELS, Bloom
from .frozen import Frozen
from .shares import Share, share

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Outcome = Literal["accepted", "dropped", "duplicate", "failed"]
"""`duplicate` passed every check and was too like another; `failed` never came to be judged."""


class CandidateRow(Frozen):
    """What became of one candidate."""

    competency: str
    bloom: Bloom
    knowledge: tuple[str, ...] = Field((), description="ids of the knowledge nodes it rests on")
    outcome: Outcome
    first_check_passed: bool = Field(description="the first final check let it pass")
    retries: int = Field(0, ge=0, description="rounds of mending after the first final check")
    cost: float | None = Field(None, ge=0, description="US dollars; None: the price is not known")


class PassRates(Frozen):
    """How candidates of one Bloom level fared; those that failed are not counted."""

    bloom: Bloom
    first: Share = Field(description="passed the first final check; Wilson's interval")
    final: Share = Field(description="passed in the end, duplicates included")
    mean_retries: float | None = Field(description="rounds of mending for a candidate")


class GenerationMetrics(Frozen):
    """The figures of one run."""

    candidates: int
    accepted: int
    dropped: int
    duplicates: int
    failed: int
    entropy_competencies: float | None = Field(
        description="normalised entropy of accepted items over the blueprint's competencies"
    )
    entropy_knowledge: float | None = Field(
        description="the same over knowledge nodes, an item counting for each that it rests on"
    )
    by_bloom: tuple[PassRates, ...] = Field(description="levels that have candidates")
    cost: float | None = Field(
        description="US dollars of all candidates, also dropped ones; None: a price is not known"
    )
    cost_per_item: float | None = Field(description="cost / accepted")


def normalised_entropy(counts: Iterable[int]) -> float | None:
    """Return ``-sum p ln p / ln K`` of counts over K categories, those with 0 included.

    Returns
    -------
    float or None
        1 where all counts are equal, 0 where one category has everything (also when it is the only
        one); None where nothing was counted.

    Raises
    ------
    InputError
        A count is negative.
    """
    numbers = np.asarray(list(counts), dtype=np.float64)
    if (numbers < 0).any():
        raise InputError("a count is below 0.")
    total = numbers.sum()
    if total == 0:
        return None
    if numbers.size == 1:
        return 0.0
    shares = numbers[numbers > 0] / total
    entropy = -float((shares * np.log(shares)).sum()) / math.log(numbers.size)
    return min(1.0, max(0.0, entropy))


def difficulty(accuracies: Sequence[float]) -> float | None:
    """Return 1 - the best model's accuracy, in [0, 1]; None without models."""
    return 1 - max(_shares(accuracies)) if len(accuracies) else None


def separability(accuracies: Sequence[float]) -> float | None:
    """Return the mean absolute deviation of accuracies from their mean, in [0, .5].

    0 where all models are alike; None without models.
    """
    if not len(accuracies):
        return None
    values = np.asarray(_shares(accuracies))
    return float(np.abs(values - values.mean()).mean())


def wrong_keys(wrong: int, sampled: int) -> Share:
    """Return the share of wrong keys in a sample that experts judged, with Clopper-Pearson's
    interval. Raises InputError where `wrong` is no part of `sampled`.
    """  # noqa: D205 - one sentence
    return share(wrong, sampled, "exact")


def generation_metrics(
    rows: Sequence[CandidateRow], competencies: Sequence[str], knowledge: Sequence[str]
) -> GenerationMetrics:
    """Return the figures of a run.

    Parameters
    ----------
    rows
        One for each candidate.
    competencies, knowledge
        Ids over which coverage is counted, those without an item included.
    """
    outcomes = Counter(row.outcome for row in rows)
    taken = [row for row in rows if row.outcome == "accepted"]
    of_competency = Counter(row.competency for row in taken)
    of_node = Counter(node for row in taken for node in dict.fromkeys(row.knowledge))
    costs = [row.cost for row in rows]
    known = [cost for cost in costs if cost is not None]
    cost = sum(known) if len(known) == len(costs) else None
    return GenerationMetrics(
        candidates=len(rows),
        accepted=outcomes["accepted"],
        dropped=outcomes["dropped"],
        duplicates=outcomes["duplicate"],
        failed=outcomes["failed"],
        entropy_competencies=normalised_entropy(of_competency[one] for one in competencies),
        entropy_knowledge=normalised_entropy(of_node[one] for one in knowledge),
        by_bloom=pass_rates(rows),
        cost=cost,
        cost_per_item=cost / len(taken) if cost is not None and taken else None,
    )


def pass_rates(rows: Iterable[CandidateRow]) -> tuple[PassRates, ...]:
    """Return pass rates by Bloom level, in the order of the levels."""
    judged = [row for row in rows if row.outcome != "failed"]
    found = []
    for bloom in BLOOM_LEVELS:
        here = [row for row in judged if row.bloom == bloom]
        if here:
            passed = sum(row.outcome in {"accepted", "duplicate"} for row in here)
            found.append(
                PassRates(
                    bloom=bloom,
                    first=share(sum(row.first_check_passed for row in here), len(here)),
                    final=share(passed, len(here)),
                    mean_retries=sum(row.retries for row in here) / len(here),
                )
            )
    return tuple(found)


def _shares(accuracies: Sequence[float]) -> list[float]:
    values = [float(one) for one in accuracies]
    if not all(0 <= one <= 1 for one in values):
        raise InputError("an accuracy lies outside 0 to 1.")
    return values
