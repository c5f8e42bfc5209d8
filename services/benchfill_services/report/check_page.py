"""What `benchfill check` found, in words, tables and pictures."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from benchfill.plots.leave_out import leave_out_picture
from benchfill.plots.misfit import misfit_picture

from .check_words import KINDS, caveats, how_stable, what_to_look_at, which_predicts_better
from .methods import fitted_methods
from .pictures import picture
from .progress_words import p_words
from .result import Cell, Drawing, ResultPage, Section, Table
from .text import one_line
from .words import count_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchfill.check import FitCheck
    from benchfill.check.result import Finding, Range

    from .methods import Methods
    from .pictures import Picture

NAME = 50
NAMES, UNSOLVED = 2, 20  # shown of a finding that has many
WRIGHT_MASTERS = (
    "Wright, B. D., & Masters, G. N. (1982). Rating scale analysis: Rasch measurement. MESA Press."
)
BOCK_AITKIN = (
    "Bock, R. D., & Aitkin, M. (1981). Marginal maximum likelihood estimation of item parameters: "
    "application of an EM algorithm. Psychometrika, 46(4), 443-459. doi:10.1007/BF02293801."
)
BENJAMINI = (
    "Benjamini, Y., & Hochberg, Y. (1995). Controlling the false discovery rate: a practical and "
    "powerful approach to multiple testing. Journal of the Royal Statistical Society B, 57(1), "
    "289-300. doi:10.1111/j.2517-6161.1995.tb02031.x."
)
YEN = (
    "Yen, W. M. (1984). Effects of local item dependence on the fit and equating performance of "
    "the three-parameter logistic model. Applied Psychological Measurement, 8(2), 125-145. "
    "doi:10.1177/014662168400800201."
)
CLUSTERS = (
    "Cameron, A. C., Gelbach, J. B., & Miller, D. L. (2011). Robust inference with multiway "
    "clustering. Journal of Business & Economic Statistics, 29(2), 238-249. "
    "doi:10.1198/jbes.2010.07136."
)


def check_page(check: FitCheck) -> ResultPage:
    """Tell whether the model holds, what hangs on single models, and what to look at."""
    return ResultPage(
        title="Does the model fit, and what to look at",
        lead=(what_to_look_at(check), which_predicts_better(check), how_stable(check)),
        caveats=caveats(check),
        sections=(
            _findings(check),
            _comparison(check),
            _leave_one_out(check),
            _items(check),
            _models(check),
        ),
    )


def check_methods(envelope: Mapping[str, Any], check: FitCheck) -> Methods:
    """Describe the check so that it can be pasted into a paper."""
    told = check.comparison
    bic = "; ".join(
        f"n = {one.n:,} ({one.counted}): {one.bic_1pl:,.0f} and {one.bic_2pl:,.0f}"
        for one in told.bic
    )
    sentences = (
        "The 1PL was compared with a hierarchical 2PL, log a ~ Normal(0, tau), tau ~ "
        f"HalfNormal(1), by the log predictive density of {told.cells:,} cells held out in "
        f"{told.folds} folds, for both with each item's parameters integrated out and abilities "
        "and hyper-parameters at their posterior mode: 2PL less 1PL "
        f"{told.difference:.2f} nats per 1,000 cells (standard error {told.se:.2f}, clustered by "
        f"item and by model; estimated tau {told.tau:.2f}).",
        *((f"BIC by marginal maximum likelihood, 1PL and 2PL: {bic}.",) if bic else ()),
        "Infit and outfit mean squares, item-rest correlations and residual correlations of pairs "
        f"of models were held against {check.replicates} matrices simulated from the fitted 1PL, "
        "with difficulties estimated anew in each; items with small p-values were simulated more "
        "often, and listed at a false discovery rate of 5%.",
        *((check.sample,) if check.sample else ()),
    )
    references = (WRIGHT_MASTERS, BOCK_AITKIN, BENJAMINI, YEN, CLUSTERS)
    return fitted_methods(envelope, (check,), sentences, references)


def _findings(check: FitCheck) -> Section:
    kinds = dict.fromkeys(one.kind for one in check.findings)
    words = [KINDS[kind][2] for kind in kinds]
    unsolved = next((one.names for one in check.findings if one.kind == "all_wrong_items"), ())
    if len(unsolved) > NAMES:
        shown = ", ".join(one_line(name, NAME) for name in unsolved[:UNSOLVED])
        more = f" and {len(unsolved) - UNSOLVED:,} more" if len(unsolved) > UNSOLVED else ""
        words.append(f"Never solved: {shown}{more}.")
    negative = count_of(check.negative_item_rest, "item")
    words.append(
        f"In all, {negative} of {len(check.item_fits):,} correlate negatively with the rest; the "
        f"fitted 1PL itself would give {check.negative_item_rest_expected:.1f} by chance, so only "
        "those beyond chance are listed. "
        f"{count_of(check.all_right, 'item')} were solved by all, {check.all_wrong:,} by none."
    )
    words.append(check.false_alarms)
    short = tuple(
        (KINDS[one.kind][0], one.names[0], _others(one), _figure(one), _chance(one.p))
        for one in check.findings
    )
    long = tuple(
        (KINDS[one.kind][0], _who(one), one.reason, one.surprise, _chance(one.p))
        for one in check.findings
    )
    tables = (
        Table("Look at these.", ("what", "which", "with", "figure", "p"), short, on_page=False),
        Table(
            "Look at these; p is how often chance does as much.",
            ("what", "which", "why", "least expected answer", "p"),
            long,
            on_terminal=False,
        ),
    )
    return Section("Look at these", tuple(words), tables=tables if short else ())


def _who(finding: Finding) -> str:
    names = [one_line(name, NAME) for name in finding.names[:NAMES]]
    left = len(finding.names) - len(names)
    return ", ".join(names) + (f" and {left:,} more" if left else "")


def _others(finding: Finding) -> str | None:
    more = len(finding.names) - 1
    return finding.names[1] if more == 1 else f"{more:,} more" if more else None


def _figure(finding: Finding) -> str:
    """Write the number behind a finding, with what it is."""
    if finding.kind in {"identical_models", "all_wrong_items"}:
        return count_of(int(finding.value), finding.kind.split("_")[-1][:-1])
    what = {"misfit_item": "outfit", "odd_model": "mean square"}.get(finding.kind, "r")
    return f"{what} {finding.value:.2f}"


def _comparison(check: FitCheck) -> Section:
    told = check.comparison
    words = (
        "The 1PL gives each item one number, its difficulty; the 2PL a second one, how sharply it "
        "separates able models from weak ones. Cells were hidden in "
        f"{told.folds} parts in turn and predicted from the others; the model that predicts better "
        f"is closer to the truth. Over {told.cells:,} cells the 2PL gains {told.difference:+.2f} "
        f"nats per 1,000 cells, with a standard error of {told.se:.2f}; from "
        f"{told.critical:.2f} standard errors on, the difference is called clear. The log slopes "
        f"have a standard deviation (tau) of {told.tau:.2f}; 0 would be the 1PL.",
        "BIC stands beside it for those who ask. It counts items' parameters against n, and n may "
        "be the models, the cells or the rollouts: with few models the choice decides. That BIC "
        "prefers the 1PL is never evidence that it fits."
        + (
            f" For {count_of(told.slopes_at_bound, 'item')} the 2PL has no finite slope, so its "
            "BIC does not mean what it should."
            if told.slopes_at_bound
            else ""
        ),
    )
    rows = tuple(
        (f"{one.counted}: {one.n:,}", one.bic_1pl, one.bic_2pl, _smaller(one.bic_1pl, one.bic_2pl))
        for one in told.bic
    )
    heads = ("n counts", "BIC of 1PL", "BIC of 2PL", "smaller")
    table = Table("BIC by marginal likelihood.", heads, rows, on_terminal=False)
    return Section("One number an item, or two?", words, tables=(table,))


def _smaller(one: float, two: float) -> str:
    return "1PL" if one < two else "2PL"


def _leave_one_out(check: FitCheck) -> Section:
    out = check.leave_one_out
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (one.model, one.shift, one.pearson, one.spearman) for one in out.models
    )
    table = Table(
        "Difficulties without a model against those of all models; the largest movers first.",
        ("without", "change, logits", "Pearson", "Spearman"),
        rows,
        on_terminal=False,
    )
    words: tuple[str, ...] = ()
    if out.mean_spearman is not None and out.min_spearman is not None:
        words = (
            f"Spearman correlations are {out.mean_spearman:.3f} on average, "
            f"{out.min_spearman:.3f} at least. The change is the root mean square over the items, "
            "a common shift taken away.",
        )
    drawn = Drawing(
        partial(_draw_leave_out, check),
        "Left: how far each item's difficulty moves, down and up, when one model is left out. "
        "Right: how far each model moves them all (root mean square).",
    )
    return Section("What hangs on one model", words, (drawn,) if rows else (), (table,))


def _draw_leave_out(check: FitCheck) -> Picture:
    first = check.leave_one_out.models[0]
    return picture(
        "leave-one-out.png",
        f"Changes of {len(check.item_fits):,} difficulties when one model is left out; most by "
        f"{one_line(first.model, NAME)}, {first.shift:.3f} logits (root mean square). The figures "
        "stand in the table and in report.json.",
        lambda theme: leave_out_picture(check, theme=theme),
    )


def _items(check: FitCheck) -> Section:
    words = (
        "Infit and outfit are mean squares of standardised residuals: 1 is what the 1PL expects. "
        "Outfit is moved by single surprising answers, infit by many. Ranges are where 95% of the "
        f"figures lie in {check.replicates} matrices simulated from the fit; beyond chance (false "
        f"discovery rate of 5%) misfit {count_of(check.misfit_items, 'item')}.",
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            *(one.item, one.solved, one.b, one.infit, _span(one.infit_range)),
            *(one.outfit, _span(one.outfit_range), _chance(one.p_misfit)),
            *(one.item_rest, _chance(one.p_inverted)),
        )
        for one in check.item_fits
    )
    heads = (
        *("item", "solved", "difficulty", "infit", "by chance", "outfit", "by chance"),
        *("p of misfit", "item-rest r", "p of so low an r"),
    )
    table = Table("How the items fit, worst first.", heads, rows, on_terminal=False)
    drawn = Drawing(
        partial(_draw_misfit, check),
        "Each point is an item. The grey box is where 95% of a typical item's figures lie by "
        "chance.",
    )
    return Section("How the items fit", words, (drawn,), (table,))


def _draw_misfit(check: FitCheck) -> Picture:
    listed = sum(one.kind in {"inverted_item", "misfit_item"} for one in check.findings)
    return picture(
        "item-fit.png",
        f"Infit against outfit of {len(check.item_fits):,} items, {listed} of them listed and the "
        "worst named. The same figures stand in the table.",
        lambda theme: misfit_picture(check, theme=theme),
    )


def _models(check: FitCheck) -> Section:
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            *(one.model, one.infit, _span(one.infit_range), one.outfit, _span(one.outfit_range)),
            _chance(one.p_misfit),
        )
        for one in check.model_fits
    )
    heads = ("model", "infit", "by chance", "outfit", "by chance", "p")
    pairs: tuple[tuple[Cell, ...], ...] = tuple(
        (
            *(one.first, one.second, one.items, one.agreement, one.expected, one.correlation),
            *(one.z, _chance(one.p)),
        )
        for one in check.pairs
    )
    pair_heads = ("model", "model", "items", "agree", "expected", "residual r", "z", "p")
    return Section(
        "How the models fit, and which are alike",
        (
            "p is how often chance makes any model's fit, or any pair's agreement, so extreme. A "
            "copy of a model has a residual correlation of 1; two models that share nothing but "
            "their abilities have about 0.",
        ),
        tables=(
            Table("How the models fit, worst first.", heads, rows, on_terminal=False),
            Table("Pairs of models most alike.", pair_heads, pairs, on_terminal=False),
        ),
    )


def _chance(p: float | None) -> str | None:
    return None if p is None else p_words(p)


def _span(part: Range | None) -> str | None:
    return None if part is None else f"{part.low:.2f} to {part.high:.2f}"
