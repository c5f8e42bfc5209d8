"""The part of a suite's report on what to keep."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from benchfill.plots.suite_coverage import coverage_curve
from benchfill.plots.suite_redundancy import redundancy_map

from .pictures import picture
from .result import Drawing, Section, Table
from .suite_parts import figure

if TYPE_CHECKING:
    from benchfill import SuiteAnalysis

    from .pictures import Picture
    from .result import Cell


def keep_sections(analysis: SuiteAnalysis) -> tuple[Section, ...]:
    """Tell what to keep, what goes together, and what the later scores and the items say."""
    sections = [_coverage(analysis), _places(analysis)]
    if analysis.items:
        sections.append(_items(analysis))
    if analysis.transfer is not None:
        sections.append(_transfer(analysis))
    if analysis.novelty:
        sections.append(_novelty(analysis))
    return tuple(sections)


def _coverage(analysis: SuiteAnalysis) -> Section:
    one = analysis.coverage
    rows: list[tuple[Cell, ...]] = [
        ("greedy by f", ", ".join(one.greedy_f.benchmarks), one.greedy_f.f, one.greedy_f.log_det,
         one.greedy_f.gamma, one.greedy_f.guarantee),
        ("greedy by F", ", ".join(one.greedy_log_det.benchmarks), one.greedy_log_det.f,
         one.greedy_log_det.log_det, one.greedy_log_det.gamma, one.greedy_log_det.guarantee),
    ]  # fmt: skip
    if one.optimum_f is not None and one.optimum_log_det is not None:
        rows += [
            ("best by f", ", ".join(one.optimum_f.benchmarks), one.optimum_f.value,
             None, None, None),
            ("best by F", ", ".join(one.optimum_log_det.benchmarks), None,
             one.optimum_log_det.value, None, None),
        ]  # fmt: skip
    words = [
        "f is the share of all benchmarks' variance that lies in the directions of the kept ones; "
        f"what they foretell of the scores themselves is never more, here {figure(one.foretold)}. "
        "F is a measure of information: unlike f it has diminishing returns, so adding step by "
        "step what raises F most is sure to reach 63% of the best F. The guarantees below are the "
        "least shares of the best value that greedy choosing can have.",
    ]
    if one.returns is not None:
        words.append(
            f"f has growing returns in {one.returns.triples_growing:,} of "
            f"{one.returns.triples:,} triples of benchmarks and {one.returns.pairs_growing:,} of "
            f"{one.returns.pairs:,} pairs: there a benchmark adds more beside another one than "
            "alone."
        )
    return Section(
        "What to keep",
        tuple(words),
        (
            Drawing(
                partial(_draw_curve, analysis),
                "Share f of the suite that so many benchmarks cover; the band holds 95% of random "
                "choices.",
            ),
        ),
        (
            Table(
                f"{one.size} benchmarks by each way of choosing.",
                ("way", "benchmarks", "f", "F", "gamma", "guarantee"),
                tuple(rows),
                on_terminal=False,
            ),
            Table(
                "f by number of benchmarks.",
                ("benchmarks", "greedy by f", "greedy by F", "best", "random", "95% of random"),
                tuple(
                    (at.size, at.greedy_f, at.greedy_log_det, at.optimum, at.random,
                     f"{at.random_q025:.3f} to {at.random_q975:.3f}")
                    for at in one.curve
                ),
                on_terminal=False,
            ),
        ),
    )  # fmt: skip


def _places(analysis: SuiteAnalysis) -> Section:
    mass = analysis.removal.disruption_and_mass
    alone = analysis.removal.disruption_and_irreplaceability
    words = [
        "A benchmark that is not kept adds nothing when the kept ones explain 90% of its variance "
        "or more, little from 75% on. Disruption is by how many ranks a model moves on average "
        "when the benchmark is left out; what is unique of it is the share that all other "
        "benchmarks together leave unexplained (of a benchmark of noise about "
        f"{analysis.removal.irreplaceability_by_chance:.2f}); its share outside the leading "
        f"components would be {analysis.removal.mass_by_chance:.2f} if they meant nothing.",
    ]
    if mass.rho is not None and alone.rho is not None:
        words.append(
            "Over benchmarks, disruption goes with the share outside the leading components at "
            f"{mass.rho:.3f} (Spearman, p = {mass.p:.3f}) and with what is unique at "
            f"{alone.rho:.3f} (p = {alone.p:.3f})."
        )
    return Section(
        "Each benchmark's place",
        tuple(words),
        (
            Drawing(
                partial(_draw_map, analysis),
                "Correlations between benchmarks, like beside like; bold: kept.",
            ),
        ),
        (
            Table(
                "Every benchmark, with 95% intervals: the share that the kept ones explain, what "
                "it adds to f (or f loses without it), what is unique of it.",
                ("benchmark", "verdict", "explained", "adds", "unique"),
                tuple(
                    (one.benchmark, one.verdict, figure(one.explained, 2), one.gain,
                     figure(one.irreplaceability, 2))
                    for one in analysis.places
                ),
            ),
            Table(
                "How often greedy on f chooses it over resampled models, what it goes together "
                "with most, the share outside the leading components, and disruption in ranks.",
                ("benchmark", "chosen", "nearest", "r", "outside", "disruption"),
                tuple(
                    (one.benchmark, one.core_share, one.nearest, one.nearest_r,
                     one.mass_outside, figure(one.disruption, 2))
                    for one in analysis.places
                ),
                on_terminal=False,
            ),
        ),
    )  # fmt: skip


def _items(analysis: SuiteAnalysis) -> Section:
    return Section(
        "From the suite to its items",
        (
            "A new item helps most where its benchmark is unique and has a wide gap in the "
            "difficulty of its items: help is the product of both. Difficulties are on each "
            "benchmark's own scale, 0 for its easiest item, 1 for its hardest.",
        ),
        tables=(
            Table(
                "Mismatch (DDM) and widest gap (G) of the items, posterior median and 90% interval "
                "of a MAP fit.",
                ("benchmark", "items", "DDM", "G", "widest gap", "verdict", "help"),
                tuple(
                    (one.benchmark, one.items,
                     f"{one.ddm.value:.3f} ({one.ddm.q05:.3f} to {one.ddm.q95:.3f})"
                     if one.ddm else one.problem,
                     f"{one.widest_gap.value:.3f} ({one.widest_gap.q05:.3f} to "
                     f"{one.widest_gap.q95:.3f})" if one.widest_gap else "–",
                     f"{one.gap_left:.2f} to {one.gap_right:.2f}"
                     if one.gap_left is not None and one.gap_right is not None else "–",
                     one.verdict or "–", one.help)
                    for one in analysis.items
                ),
            ),
        ),
    )  # fmt: skip


def _transfer(analysis: SuiteAnalysis) -> Section:
    one = analysis.transfer
    if one is None:
        return Section("At the later date")
    words = [
        f"Both dates have {one.benchmarks} benchmarks in common. Those chosen now tell "
        f"{one.f_transferred:.3f} of the later scores, those chosen later {one.f_own:.3f}: a ratio "
        f"of {figure(one.ratio)}. Random choices of as many have {figure(one.ratio_random)}; only "
        "what is above that is carried over.",
    ]
    for names, which in ((one.only_now, "first"), (one.only_later, "later")):
        if names:
            words.append(f"Only in the {which} scores: {', '.join(names)}.")
    return Section(
        "At the later date",
        tuple(words),
        tables=(
            Table(
                "Chosen by greedy on f.",
                ("date", "benchmarks"),
                (("now", ", ".join(one.chosen_now)), ("later", ", ".join(one.chosen_later))),
            ),
        ),
    )


def _novelty(analysis: SuiteAnalysis) -> Section:
    return Section(
        "What outside benchmarks would add",
        (
            "Novelty is the share of an outside benchmark's variance that the leading components "
            "of the suite leave. Noise has nearly all of it too: a high novelty says that a "
            "benchmark is different, not that it is good.",
        ),
        tables=(
            Table(
                "Novelty with 95% interval, and what a benchmark of noise would have.",
                ("benchmark", "models", "novelty", "noise"),
                tuple(
                    (one.benchmark, one.models, figure(one.novelty), one.by_chance)
                    for one in analysis.novelty
                ),
            ),
        ),
    )


def _draw_curve(analysis: SuiteAnalysis) -> Picture:
    one = analysis.coverage
    return picture(
        "suite-coverage.png",
        f"Coverage f over the number of benchmarks; {one.size} have {one.f.value:.3f}. The figures "
        "stand in the table.",
        lambda theme: coverage_curve(one, theme=theme),
    )


def _draw_map(analysis: SuiteAnalysis) -> Picture:
    place = {name: j for j, name in enumerate(analysis.benchmarks)}
    order = [place[name] for name in analysis.cluster_order]
    matrix = [[analysis.correlations[i][j] for j in order] for i in order]
    return picture(
        "suite-redundancy.png",
        f"Correlations between {len(order)} benchmarks, in the order "
        f"{', '.join(analysis.cluster_order)}. The strongest of each stands in the table.",
        lambda theme: redundancy_map(
            analysis.cluster_order, matrix, kept=analysis.coverage.kept, theme=theme
        ),
    )
