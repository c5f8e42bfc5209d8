"""What a command says on the terminal when it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from .text import one_line
from .words import (
    NO_GAP,
    OUTCOMES,
    caveats,
    check_words,
    checks_left_out,
    probability,
    what_it_cannot_see,
)

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from benchfill.diagnosis import Diagnosis
    from benchfill_agents.fill_report import FillReport, FillResult

    from ..fill_plan import FillPlan

SHOWN = 5
NAME = 26


def print_diagnosis(console: Console, diagnosis: Diagnosis) -> None:
    """Print what the benchmark cannot see, its measures, its gaps and the failed checks."""
    for sentence in (what_it_cannot_see(diagnosis), *caveats(diagnosis)):
        console.print(Text(sentence))
    console.print()
    facts = _facts()
    for name, one in (
        ("mismatch (DDM)", diagnosis.ddm),
        ("widest gap", diagnosis.max_gap),
        (f"top-{diagnosis.top_k_sum.k} sum", diagnosis.top_k_sum),
    ):
        facts.add_row(
            name, f"{one.value:.3f}  [{one.q05:.3f}, {one.q95:.3f}]  plain {one.plugin:.3f}"
        )
    fit = diagnosis.fit
    facts.add_row("fit", f"{fit.engine}, {fit.seconds:.1f} s")
    console.print(facts)
    if diagnosis.gaps:
        console.print()
        console.print(_gaps(diagnosis))
    for check in diagnosis.checks:
        if check.passed is False:
            value = f"{check.value:.3g}" if check.value is not None else "unknown"
            console.print()
            console.print(
                Text(
                    f"Check {check.name} failed ({value}, threshold {check.threshold:g}). "
                    f"{check_words(check).failed}",
                    style="yellow",
                )
            )


def print_fill(console: Console, report: FillReport, out: Path) -> None:
    """Print every gap's chosen item with its figures, and where the report stands."""
    if not report.fills:
        console.print(Text(NO_GAP))
    for fill in report.fills:
        _print_gap(console, fill)
    facts = _facts()
    if report.anchors.drifted:
        names = [one_line(model, NAME) for model in report.anchors.drifted]
        more = [f"and {len(names) - SHOWN} more"] if len(names) > SHOWN else []
        facts.add_row("drifted", Text(", ".join([*names[:SHOWN], *more])))
    if left_out := checks_left_out(report):
        facts.add_row("unchecked", Text("\n".join(left_out)))
    if report.misfit:
        facts.add_row("misfit", f"{report.misfit:.2f} logits a cell beyond the model; counted in")
    facts.add_row("rollouts", f"{report.rollouts_total:,}")
    facts.add_row("seconds", f"{report.seconds:.1f}")
    console.print(facts)
    # on one line however long it is, so that it can be clicked and copied
    console.print(Text(f"report       {out / 'report.html'}"), soft_wrap=True)


def _print_gap(console: Console, fill: FillResult) -> None:
    good = fill.status == "filled"
    headline = Text(f"{fill.gap}: ", style="bold")
    headline.append(fill.status.replace("_", " "), style="green" if good else "red")
    headline.append(
        f", z {fill.z_left:.3f} to {fill.z_right:.3f}, aimed at {fill.midpoint:.3f}",
        style="default",
    )
    console.print(headline)
    facts = _facts()
    for border in fill.borders.borders:
        moved = (
            f"{one_line(border.item, NAME)}: z {border.z_before:.3f} ± {border.sd_before:.3f}, "
            f"measured again {border.z:.3f} ± {border.sd:.3f}"
        )
        facts.add_row("border", Text(moved))
    chosen = fill.chosen
    if chosen is None:
        facts.add_row("why", OUTCOMES[fill.status])
    else:
        room = max(console.width - 20, 20)
        facts.add_row("item", Text(one_line(chosen.item, room)))
        facts.add_row("question", Text(one_line(chosen.question, room)))
        facts.add_row("answer", Text(one_line(chosen.answer, room)))
        facts.add_row("z", f"{chosen.z:.3f}, 90% interval {chosen.q05:.3f} to {chosen.q95:.3f}")
        facts.add_row("p_in_gap", f"{chosen.p_in_gap:.3f}")
    top = fill.top_k_sum
    facts.add_row(
        "Top-3 Sum", f"before {top.before:.3f}, after {top.after:.3f}, oracle {top.oracle:.3f}"
    )
    facts.add_row(
        "search",
        f"{fill.rounds} rounds, {fill.children} children, {fill.valid} valid, "
        f"{fill.rollouts:,} rollouts",
    )
    console.print(facts)
    console.print()


def _facts() -> Table:
    """Two columns: a name, and what is said of it."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, min_width=11)
    table.add_column(overflow="fold")
    return table


def _gaps(diagnosis: Diagnosis) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    for heading in ("from z", "to z", "width", "P(hole)"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("between", overflow="fold")
    for gap in diagnosis.gaps[:SHOWN]:
        between = f"{one_line(gap.left_item, NAME)} and {one_line(gap.right_item, NAME)}"
        table.add_row(
            f"{gap.z_left:.3f}",
            f"{gap.z_right:.3f}",
            f"{gap.width:.3f}",
            probability(gap.p_hole),
            gap.verdict,
            Text(between),
        )
    return table


def print_plan(console: Console, plan: FillPlan) -> None:
    """Print what a dry run says."""
    dollars = "nothing bounds it" if plan.usd_at_most is None else f"{plan.usd_at_most:.2f}"
    table = Table.grid(padding=(0, 2))
    table.add_row("gaps at most", f"{plan.gaps_at_most}")
    table.add_row("rollouts at most", f"{plan.rollouts_at_most:,}")
    table.add_row("US dollars at most", dollars)
    console.print(table)
    prices = Table("model", "provider", "$/M prompt tokens", "$/M completion tokens")
    for one in plan.prices:
        both = (one.usd_per_million_prompt_tokens, one.usd_per_million_completion_tokens)
        shown = ("unknown" if price is None else f"{price:.2f}" for price in both)
        prices.add_row(Text(one.model), Text(one.provider), *shown)
    console.print(prices)
    for provider in plan.providers:
        where = "on this machine" if provider.local else "elsewhere"
        console.print(Text(f"{provider.provider} ({where}) sees {provider.sees}."))
