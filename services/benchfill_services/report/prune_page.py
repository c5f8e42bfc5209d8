"""What `benchfill prune` kept, in words, tables, pictures and files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchfill.formats.delimited import responses_csv
from benchfill.measure import DifficultyScale
from benchfill.plots.pruning import pruned_distribution, pruning_curve

from .methods import MEASURE, fitted_methods, target_words
from .pictures import picture
from .result import Drawing, ResultPage, Section, Table
from .text import one_line
from .words import count_of, probability

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchfill.diagnosis import Estimate
    from benchfill.onepl import Fit1PL
    from benchfill.pruning import Pruning
    from benchfill.reference import Agreement, ReferenceAgreement, Spread
    from benchfill.targets import Target

    from .methods import Methods
    from .pictures import Picture

NAME = 50
RESPONSES_FILE, KEPT_FILE = "responses.csv", "kept.txt"
FEW_MODELS = 8
KENDALL = (
    "Kendall, M. G. (1945). The treatment of ties in ranking problems. Biometrika, 33(3), 239-251. "
    "doi:10.1093/biomet/33.3.239."
)
SPEARMAN = (
    "Spearman, C. (1904). The proof and measurement of association between two things. American "
    "Journal of Psychology, 15(1), 72-101. doi:10.2307/1412159."
)
WAYS = {
    "optimal": "each quantile of the target got an item of its own so that the mean distance "
    "between both is least",
    "greedy": "the quantiles of the target, easiest first, each took the nearest item that was "
    "left",
}


@dataclass(frozen=True)
class PrunedBenchmark:
    """All that the page tells of."""

    fit: Fit1PL
    pruning: Pruning
    reference: ReferenceAgreement | None
    target: Target


def prune_page(pruned: PrunedBenchmark) -> ResultPage:
    """Tell what was kept, and what that does to the distance from the target."""
    sections = [_distances(pruned), _kept(pruned)]
    if pruned.reference is not None:
        sections.insert(1, _reference(pruned.reference))
    return ResultPage(
        title="A pruned benchmark",
        lead=_lead(pruned),
        caveats=_caveats(pruned),
        sections=tuple(sections),
        files={RESPONSES_FILE: _responses(pruned), KEPT_FILE: _kept_lines(pruned.pruning)},
    )


def prune_methods(envelope: Mapping[str, Any], pruned: PrunedBenchmark) -> Methods:
    """Describe the pruning so that it can be pasted into a paper."""
    one, references = pruned.pruning, [MEASURE]
    sentences = [
        f"The benchmark was pruned to {one.size:,} of {one.items:,} items: "
        f"{WAYS[one.method]}. Difficulties were scaled to [0, 1] by the easiest and the hardest of "
        "all items, in each posterior draw by its own. The 1-Wasserstein distance to "
        f"{target_words(pruned.target)} went from {one.w1_before.value:.3f} (posterior median, 90% "
        f"interval {one.w1_before.q05:.3f} to {one.w1_before.q95:.3f}) to {one.w1_after.value:.3f} "
        f"({one.w1_after.q05:.3f} to {one.w1_after.q95:.3f}); from posterior means, from "
        f"{one.w1_before.plugin:.3f} to {one.w1_after.plugin:.3f}, and to {one.random.mean:.3f} on "
        f"average over {one.trials} random prunings of the same size."
    ]
    if pruned.reference is not None:
        sentences.append(
            f"Models were ranked by their mean rates over items and compared with reference scores "
            f"of {pruned.reference.common:,} models by Spearman's rank correlation and Kendall's "
            "tau-b; intervals of their changes rest on 500 resamples of the models."
        )
        references += [SPEARMAN, KENDALL]
    return fitted_methods(envelope, (one,), sentences, references)


def _lead(pruned: PrunedBenchmark) -> tuple[str, ...]:
    one = pruned.pruning
    before, after = one.w1_before, one.w1_after
    figures = (
        f"{count_of(one.size, 'item')} of {one.items:,} {'is' if one.size == 1 else 'are'} kept. "
        f"By the estimated difficulties their distance to {target_words(pruned.target)} (W1) is "
        f"{after.plugin:.3f}; of all items it is {before.plugin:.3f}, of as many drawn at random "
        f"{one.random.mean:.3f} on average."
    )
    truly = (
        f"Given how roughly the difficulties are known, it truly is about {after.value:.3f} (90% "
        f"interval {after.q05:.3f} to {after.q95:.3f}) instead of {before.value:.3f}, and nearer "
        f"than before with probability {probability(one.p_closer)}."
    )
    return (figures, truly, *_agreement_lead(pruned.reference))


def _agreement_lead(reference: ReferenceAgreement | None) -> tuple[str, ...]:
    if reference is None:
        return ()
    one = reference.spearman
    if one.before is None or one.after is None:
        return ("The models' order cannot be compared with the reference: all scores are equal.",)
    return (
        f"The order of {reference.common:,} models agrees with the reference at {one.after:.3f} "
        f"(Spearman) after pruning, {one.before:.3f} before.",
    )


def _caveats(pruned: PrunedBenchmark) -> tuple[str, ...]:
    one, said = pruned.pruning, []
    if one.p_closer < 0.5:
        said.append(
            "The kept items are probably farther from the target than all items were: the answers "
            "do not tell well enough where single items lie. More models or rollouts would."
        )
    if pruned.reference is not None:
        said += _reference_caveats(pruned.reference)
    return tuple(said)


def _reference_caveats(reference: ReferenceAgreement) -> list[str]:
    said = []
    for names, place in (
        (reference.only_in_responses, "is not in the reference"),
        (reference.only_in_reference, "of the reference is not in the responses"),
    ):
        if names:
            shown = ", ".join(one_line(name, NAME) for name in names[:3])
            more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
            plural = place.replace("is not", "are not") if len(names) > 1 else place
            said.append(f"{count_of(len(names), 'model')} {plural}: {shown}{more}.")
    if reference.common < FEW_MODELS:
        said.append(
            f"With {reference.common} models a rank correlation says little: one exchange of "
            "neighbours changes it much."
        )
    return said


def _distances(pruned: PrunedBenchmark) -> Section:
    one = pruned.pruning
    nearest = min(one.curve, key=lambda point: point.optimal)
    words = (
        f"Kept by the {one.method} choice: {WAYS[one.method]}. Their mean distance to those "
        f"quantiles is {one.distance_after:.3f}; that of all items to as many quantiles is "
        f"{one.distance_before:.3f}.",
        "The kept items stay on the scale of the whole benchmark, where 0 is the easiest and 1 the "
        "hardest of all items. A diagnosis of the pruned responses alone would make a scale of its "
        "own.",
        f"Of the sizes below, {count_of(nearest.size, 'item')} come nearest to the target "
        f"({nearest.optimal:.3f}); with few items, though, scores are rough.",
    )
    rows = (
        ("all items", one.items, *_figures(one.w1_before), "–"),
        (f"kept ({one.method})", one.size, *_figures(one.w1_after), "–"),
        (f"{one.trials} random prunings", one.size, None, "–", *_spread(one.random)),
    )
    curve = tuple((at.size, at.optimal, at.greedy, *_spread(at.random)) for at in one.curve)
    return Section(
        "Distance to the target",
        words,
        (
            Drawing(
                partial(_draw_distribution, pruned),
                "Share of items up to each difficulty: before, after, and as the target has it.",
            ),
            Drawing(
                partial(_draw_curve, one),
                "Distance to the target by size and way of pruning; the band holds 30 random "
                "prunings. All by the estimated difficulties.",
            ),
        ),
        (
            Table(
                "W1 to the target: posterior median with 90% interval, and by the estimated "
                "difficulties; of random prunings the mean and range of the latter.",
                ("items", "number", "W1", "90% interval", "estimated", "range"),
                rows,
            ),
            Table(
                "W1 by size, from posterior means.",
                ("size", "optimal", "greedy", "random", "range"),
                curve,
                on_terminal=False,
            ),
        ),
    )


def _spread(random: Spread) -> tuple[float, str]:
    return random.mean, f"{random.min:.3f} to {random.max:.3f}"


def _figures(estimate: Estimate) -> tuple[float, str, float]:
    return estimate.value, f"{estimate.q05:.3f} to {estimate.q95:.3f}", estimate.plugin


def _kept(pruned: PrunedBenchmark) -> Section:
    return Section(
        "What was kept",
        (
            f"{KEPT_FILE} lists the items, one a line, easiest first; "
            f"{RESPONSES_FILE} holds their responses.",
        ),
        tables=(
            Table(
                "The kept items, easiest first, with the quantile of the target that each is for.",
                ("item", "z", "quantile"),
                tuple((one.item, one.z, one.quantile) for one in pruned.pruning.kept),
                on_terminal=False,
            ),
        ),
    )


def _reference(reference: ReferenceAgreement) -> Section:
    return Section(
        "Agreement with the reference",
        (
            f"Rank correlation of the models' scores with the reference, over "
            f"{count_of(reference.common, 'model')} that are in both by exact name.",
        ),
        tables=(
            Table(
                "Before and after pruning; the change with its 90% interval over resampled models; "
                "and after random prunings of the same size, mean and range.",
                ("correlation", "before", "after", "change", "random", "range"),
                (
                    ("Spearman", *_agreement(reference.spearman)),
                    ("Kendall", *_agreement(reference.kendall)),
                ),
            ),
        ),
    )


def _agreement(one: Agreement) -> tuple[float | str | None, ...]:
    change = one.change
    return (
        one.before,
        one.after,
        f"{change.value:+.3f} ({change.q05:+.3f} to {change.q95:+.3f})" if change else "–",
        *(_spread(one.random) if one.random else (None, "–")),
    )


def _draw_distribution(pruned: PrunedBenchmark) -> Picture:
    fit, one = pruned.fit, pruned.pruning
    z = DifficultyScale.of(fit.b).to_z(fit.b)
    return picture(
        "pruned.png",
        f"Cumulative distribution of the difficulty of all {one.items:,} items, of the "
        f"{one.size:,} kept, and of the target; distance to the target {one.w1_before.plugin:.3f} "
        f"before, {one.w1_after.plugin:.3f} after.",
        lambda theme: pruned_distribution(
            z, [item.z for item in one.kept], pruned.target, theme=theme
        ),
    )


def _draw_curve(pruning: Pruning) -> Picture:
    return picture(
        "pruning-curve.png",
        f"W1 to the target over {len(pruning.curve)} sizes for the optimal and the greedy choice "
        "and random prunings. The figures stand in the table of sizes.",
        lambda theme: pruning_curve(
            pruning.curve, pruning.size, pruning.w1_before.plugin, theme=theme
        ),
    )


def _responses(pruned: PrunedBenchmark) -> bytes:
    data = pruned.fit.responses
    stays = {one.item for one in pruned.pruning.kept}
    kept = np.flatnonzero([item in stays for item in data.items])
    return responses_csv(data.select(items=kept.tolist())).encode()


def _kept_lines(pruning: Pruning) -> bytes:
    """One item a line; an id that would not stay on its line is written as a JSON string."""
    lines = [
        one.item if len(one.item.splitlines()) == 1 else json.dumps(one.item)
        for one in pruning.kept
    ]
    return "".join(f"{line}\n" for line in lines).encode()
