"""What `benchfill pool suggest` found, in words, tables and pictures."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from benchfill.panel.stability import RANDOM_PANELS
from benchfill.panel.suggestion import ROLLOUTS
from benchfill.plots.panel import panel_abilities, panel_stability

from .methods import fitted_methods
from .pictures import picture
from .result import Drawing, ResultPage, Section, Table
from .words import count_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchfill.onepl import Fit1PL
    from benchfill.panel import PanelSuggestion, Spread

    from .methods import Methods
    from .pictures import Picture

NAMES_FILE = "models.txt"
FEDOROV = "Fedorov, V. V. (1972). Theory of Optimal Experiments. Academic Press."
_OVER = {"range": "the range of the items' difficulties", "gaps": "the gaps"}


def panel_page(fit: Fit1PL, suggestion: PanelSuggestion) -> ResultPage:
    """Tell which models to take, and how many suffice."""
    sections = [_chosen(fit, suggestion)]
    if suggestion.curve:
        sections.append(_curve(suggestion))
    return ResultPage(
        title="Models for a pool",
        lead=_lead(suggestion),
        caveats=_caveats(suggestion),
        sections=tuple(sections),
        files={NAMES_FILE: _names(suggestion)},
    )


def panel_methods(envelope: Mapping[str, Any], suggestion: PanelSuggestion) -> Methods:
    """Describe the choice so that it can be pasted into a paper."""
    one = suggestion
    sentences = [
        f"{len(one.chosen):,} of {one.models:,} models were chosen so that the mean log Fisher "
        f"information about an item's difficulty, evenly over {_OVER[one.over]} on the scale of "
        "ability, is largest (greedy choice from several first models, then exchanges; where there "
        "are few panels, all were tried). For panels of several sizes the difficulties were fitted "
        "again with the models of the panel alone and compared with those from all models by "
        "Spearman's and Pearson's correlation, for the chosen panels and for "
        f"{RANDOM_PANELS} random ones of each size."
    ]
    return fitted_methods(envelope, (one,), sentences, [FEDOROV])


def _lead(one: PanelSuggestion) -> tuple[str, ...]:
    abilities = (
        f"from {one.chosen[0].theta:+.2f} to {one.chosen[-1].theta:+.2f} logits"
        if len(one.chosen) > 1
        else f"at {one.chosen[0].theta:+.2f} logits"
    )
    drawn = one.random_se_worst
    worth = (
        f"These {count_of(len(one.chosen), 'model')} of {one.models:,} have "
        f"{one.relative_information:.0%} of the information that all have about difficulties over "
        f"{_OVER[one.over]}; their abilities go {abilities}. With {ROLLOUTS} rollouts of each the "
        f"difficulty of a new item has a standard error of {one.se_median:.2f} logits (at the "
        f"worst place {one.se_worst:.2f}; there as many random models have {drawn.median:.2f}, 90% "
        f"of them {drawn.q05:.2f} to {drawn.q95:.2f})."
    )
    return (worth, _sufficient(one))


def _sufficient(one: PanelSuggestion) -> str:
    if one.suffice is None:
        return (
            f"No number of models looked at keeps the order of the difficulties at {one.enough:g} "
            "(Spearman, against all models): take them all."
        )
    drawn = (
        f"of models drawn at random it takes {one.random_suffice:,} for that in 95% of draws"
        if one.random_suffice is not None
        else "models drawn at random do not surely reach that at any size looked at"
    )
    return (
        f"{one.suffice:,} suggested models suffice for a rank correlation of {one.enough:g} with "
        f"the difficulties from all {one.models:,}; {drawn}."
    )


def _caveats(one: PanelSuggestion) -> tuple[str, ...]:
    said = []
    failed = sum(RANDOM_PANELS - point.panels for point in one.curve)
    if failed:
        said.append(
            f"{count_of(failed, 'random panel')} of {RANDOM_PANELS * len(one.curve):,} could not "
            "be fitted, as its models share too few items; those do not count."
        )
    rest = [point for point in one.curve if point.rest_spearman is not None]
    if rest:
        said.append(
            "The difficulties from all models rest on the panel's answers too, more so the larger "
            "it is; the column `left out` compares with the other models' answers alone."
        )
    return tuple(said)


def _chosen(fit: Fit1PL, one: PanelSuggestion) -> Section:
    return Section(
        "The models",
        (
            "By their abilities, lowest first. A pool asks each model as it was asked here: write "
            f"its name here as matrix_name in the pool file. {NAMES_FILE} lists the names.",
        ),
        (
            Drawing(
                partial(_draw_abilities, fit, one),
                "Each line is an item or a model at its place on the common scale.",
            ),
        ),
        (
            Table(
                "Ability in logits with its standard deviation, and the share of right answers.",
                ("model", "ability", "sd", "right"),
                tuple((m.model, m.theta, m.theta_sd, m.rate) for m in one.chosen),
            ),
        ),
    )


def _curve(one: PanelSuggestion) -> Section:
    rows = tuple(
        (
            point.size,
            point.spearman,
            point.pearson,
            point.rest_spearman,
            point.random_spearman.median if point.random_spearman else None,
            _interval(point.random_spearman),
        )
        for point in one.curve
    )
    return Section(
        "How many suffice",
        ("Difficulties fitted with the answers of some models only, against those of all.",),
        (
            Drawing(
                partial(_draw_curve, one),
                f"The band holds 90% of {RANDOM_PANELS} random panels of each size.",
            ),
        ),
        (
            Table(
                "Spearman's and Pearson's correlation of the suggested models with all; with the "
                "models left out alone (Spearman); and of random models (Spearman: median, 90%).",
                ("models", "Spearman", "Pearson", "left out", "random", "90%"),
                rows,
            ),
        ),
    )


def _interval(spread: Spread | None) -> str:
    return "–" if spread is None else f"{spread.q05:.3f} to {spread.q95:.3f}"


def _draw_abilities(fit: Fit1PL, one: PanelSuggestion) -> Picture:
    return picture(
        "panel.png",
        f"Places of {one.items:,} items, {one.models:,} models and the {len(one.chosen):,} chosen "
        "ones on the scale of ability; the figures stand in the table of models.",
        lambda theme: panel_abilities(one, fit.theta, fit.b, theme=theme),
    )


def _draw_curve(one: PanelSuggestion) -> Picture:
    return picture(
        "panel-size.png",
        f"Rank correlation of difficulties from fewer models with those from all over "
        f"{len(one.curve)} sizes, for suggested and random models. The figures stand in the table.",
        lambda theme: panel_stability(one, theme=theme),
    )


def _names(one: PanelSuggestion) -> bytes:
    return "".join(f"{' '.join(m.model.split())}\n" for m in one.chosen).encode()
