"""What figures mean, in words for somebody who has never heard of item response theory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .text import one_line

if TYPE_CHECKING:
    from benchfill.diagnosis import Diagnosis
    from benchfill.gaps import Gap
    from benchfill.onepl import Check
    from benchfill_agents.calibrator.learned import LearnedReport
    from benchfill_agents.fill_report import FillReport, FillResult

NAME = 60


@dataclass(frozen=True)
class CheckWords:
    """A check's plain name, what a failure means, and whether more is better."""

    title: str
    failed: str
    wants_more: bool = False


CHECKS = {
    "model_information": CheckWords(
        "The models are neither far too good nor far too weak",
        "Most models solve nearly everything or nearly nothing, so their answers say little about "
        "how hard an item is. Add models of middling ability.",
        wants_more=True,
    ),
    "item_information": CheckWords(
        "The items are neither far too easy nor far too hard",
        "Most items are solved nearly always or nearly never, so their difficulty is known only "
        "roughly. Add models that are stronger or weaker, or more rollouts.",
        wants_more=True,
    ),
    "model_inversion": CheckWords(
        "Abler models do better on single items too",
        "On many single items the weaker of two models does better. With few rollouts that is "
        "chance; with many, one ability is not enough to describe these models.",
    ),
    "item_inversion": CheckWords(
        "Harder items are harder for single models too",
        "Many single models do better on the harder of two items. With few rollouts that is "
        "chance; with many, one difficulty is not enough to describe these items.",
    ),
    "max_rhat": CheckWords(
        "The sampler's chains agree (R-hat)",
        "The chains of the sampler do not agree with one another; do not trust the intervals.",
    ),
    "min_ess_bulk": CheckWords(
        "The sampler drew enough (bulk effective sample size)",
        "Too few independent draws; the intervals are rough.",
        wants_more=True,
    ),
    "divergences": CheckWords(
        "The sampler had no divergences",
        "The sampler failed in places; parts of the posterior may be missing.",
    ),
}

NO_GAP = (
    "No gap is surely empty, so there was nothing to fill; `benchfill diagnose` says what would "
    "decide the widest ones, and --include-unresolved fills them all the same."
)

OUTCOMES = {
    "filled": "filled",
    "not_found": "no child was found that surely lies in the gap",
    "resolution_limited": "the gap's borders are too uncertain to place a child between them",
    "budget_exhausted": "the budget of rollouts was spent before a child was accepted",
    "interrupted": "interrupted; the same command goes on where it was",
}


def check_words(check: Check) -> CheckWords:
    """Return the words of a check."""
    return CHECKS.get(check.name, CheckWords(check.name, "See the documentation of this check."))


def what_it_cannot_see(diagnosis: Diagnosis) -> str:
    """Say what the benchmark cannot see."""
    size = f"{diagnosis.items:,} items that {count_of(diagnosis.models, 'model')} answered"
    empty = [gap for gap in diagnosis.gaps if gap.verdict == "empty"]
    if empty:
        return (
            f"Of {size}, none is harder than {empty[0].z_left:.2f} and easier than "
            f"{empty[0].z_right:.2f} (0 is the benchmark's easiest item, 1 its hardest)"
            f"{_more(empty)}: a model that gets better only at tasks of that difficulty keeps its "
            "score, and the benchmark does not see it."
        )
    if diagnosis.gaps:
        widest = diagnosis.gaps[0]
        return (
            f"No gap in the difficulties of the {size} is certain: the widest, from "
            f"{widest.z_left:.2f} to {widest.z_right:.2f} (0 is the easiest item, 1 the hardest), "
            "looks empty, but the answers are too few to tell whether items lie in it."
        )
    return f"The difficulties of the {size} leave no gap."


def _more(empty: list[Gap]) -> str:
    """Count the other gaps that matter: in any benchmark most spacings are narrow."""
    others = sum(gap.width >= empty[0].width / 2 for gap in empty[1:])
    if not others:
        return ""
    return f", and {count_of(others, 'other gap')} {'is' if others == 1 else 'are'} half as wide"


def caveats(diagnosis: Diagnosis) -> tuple[str, ...]:
    """Say what to keep in mind with these figures."""
    said = []
    empty = next((gap for gap in diagnosis.gaps if gap.verdict == "empty"), None)
    if empty is not None and empty.depends_on_item is not None:
        said.append(
            f"The widest gap hangs on one item, {one_line(empty.depends_on_item, NAME)}, "
            "at the end of the scale."
        )
    if diagnosis.reach.p_above_hardest > 0.5:
        said.append(
            "The best model is probably beyond the hardest item, so the benchmark has no room to "
            "show that a model has become better than it."
        )
    failed = sum(check.passed is False for check in diagnosis.checks)
    if failed:
        said.append(
            f"{failed} of {len(diagnosis.checks)} checks failed: read these figures with care."
        )
    return tuple(said)


def what_was_done(report: FillReport) -> tuple[str, ...]:
    """Say in two or three sentences what the fill did."""
    if not report.fills:
        return (NO_GAP,)
    filled = [fill for fill in report.fills if fill.chosen is not None]
    children = sum(fill.children for fill in report.fills)
    gaps = "one gap" if len(report.fills) == 1 else f"{len(report.fills)} gaps"
    done = (
        f"To fill {gaps}, {count_of(children, 'new item')} "
        f"{'was' if children == 1 else 'were'} written, and the models gave "
        f"{report.rollouts_total:,} answers to measure how hard they are."
    )
    if not filled:
        return (done, *(_unfilled(fill) for fill in report.fills[:2]))
    found = "; ".join(
        f"one lies at {fill.chosen.z:.2f} (90% interval {fill.chosen.q05:.2f} to "
        f"{fill.chosen.q95:.2f}), in its gap with probability {probability(fill.chosen.p_in_gap)}"
        for fill in filled[:3]
        if fill.chosen is not None
    )
    verdict = f"{count_of(len(filled), 'item')} {'was' if len(filled) == 1 else 'were'} chosen: "
    rest = [fill for fill in report.fills if fill.chosen is None]
    return (done, f"{verdict}{found}.", *(_unfilled(fill) for fill in rest[:2]))


def learned_words(learned: LearnedReport) -> str:
    """Say what difficulty guessed from the text was worth."""
    if learned.r is None:
        return f"Difficulty was not guessed from the text: {learned.why_off}"
    figures = (
        f"the leave-one-out correlation over {learned.items:,} items is {learned.r:.2f} (90% "
        f"interval {learned.r_q05:.2f} to {learned.r_q95:.2f}), and guesses miss by "
        f"{learned.sd:.3f} of z where items spread by {learned.prior_sd:.3f}"
    )
    if learned.used:
        return f"Difficulty was guessed from the text, as a first prior: {figures}."
    return f"Difficulty was not guessed from the text: {learned.why_off} Of it, {figures}."


def checks_left_out(report: FillReport) -> tuple[str, ...]:
    """Say which checks were not made of new items, and why."""
    return tuple(
        f"{one.check.replace('_', ' ')}: {one.why_not}"
        for one in report.checks
        if one.why_not is not None
    )


def _unfilled(fill: FillResult) -> str:
    return (
        f"The gap from {fill.z_left:.2f} to {fill.z_right:.2f} is still open: "
        f"{OUTCOMES[fill.status]}."
    )


def probability(p: float) -> str:
    """Write a probability; one that is nearly certain is not rounded to certainty."""
    return "over 0.99" if p > 0.99 else "under 0.01" if p < 0.01 else f"{p:.2f}"


def count_of(number: int, noun: str) -> str:
    """Write a number with its noun, in the plural where there is not one."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
