"""What `benchfill check` found, in words for somebody who has never heard of such models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .text import one_line

if TYPE_CHECKING:
    from benchfill.check import FitCheck

NAME = 50
# what it is called in a table, one of them and several in a sentence, and what to do about it
KINDS = {
    "identical_models": (
        "equal responses",
        ("group of models with equal responses", "groups of models with equal responses"),
        "Models with equal responses are one model under several names, or a file that was read "
        "twice. Keep one: copies make difficulties look surer than they are.",
    ),
    "near_duplicate_models": (
        "near duplicates",
        ("pair of near duplicates", "pairs of near duplicates"),
        "Near duplicates answer alike far beyond what their abilities explain: the same model from "
        "two providers or with two prompts, or one made from the other. Keep one if it is a copy.",
    ),
    "all_wrong_items": (
        "never solved",
        ("item that nobody ever solved", "items that nobody ever solved"),
        "Items that no model ever solved are too hard for all of them, or their reference answer "
        "is wrong. Nothing but the prior says where they lie.",
    ),
    "inverted_item": (
        "better models do worse",
        ("item that better models do worse on", "items that better models do worse on"),
        "Where better models do worse, read the item and its reference answer first: a wrong key "
        "looks like this.",
    ),
    "misfit_item": (
        "misfits",
        ("item that surprises more than chance can", "items that surprise more than chance can"),
        "Items that misfit ask for something else than the rest, are ambiguous, or were scored "
        "wrongly for some models.",
    ),
    "odd_model": (
        "odd model",
        ("odd model", "odd models"),
        "An odd model follows the items' difficulty less than the others: it guesses, has other "
        "skills, or some of its answers were cut off, refused or misread.",
    ),
    "alike_models": (
        "answer alike",
        ("pair of relatives", "pairs of relatives"),
        "Relatives answer more alike than their abilities explain: versions or fine-tunes of one "
        "model. They count almost as one model.",
    ),
}


def what_to_look_at(check: FitCheck) -> str:
    """Count what was found, by kind."""
    counts: dict[str, int] = {}
    for one in check.findings:
        more = len(one.names) if one.kind == "all_wrong_items" else 1
        counts[one.kind] = counts.get(one.kind, 0) + more
    if not counts:
        return (
            "Nothing stands out: no item, no model and no pair of models does what chance would "
            "hardly do."
        )
    told = [f"{count:,} {KINDS[kind][1][count != 1]}" for kind, count in counts.items()]
    return f"Look at {_listed(told)}."


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def which_predicts_better(check: FitCheck) -> str:
    """Say whether items need a slope of their own."""
    told = check.comparison
    size = f"{abs(told.difference):,.2f} ± {told.se:,.2f} nats per 1,000 cells"
    agree = _agreement(told.b_pearson)
    if told.verdict == "2pl":
        return (
            "Items differ in how sharply they tell able models from weak ones: a model that allows "
            f"for it (2PL) predicts held-out cells better, by {size}.{agree}"
        )
    if told.verdict == "1pl":
        return (
            "Letting items differ in how sharply they tell able models from weak ones (2PL) does "
            f"not help: it predicts held-out cells worse than difficulty alone, by {size}."
        )
    return (
        "Whether items differ in how sharply they tell able models from weak ones is not clear: "
        "a model that allows for it (2PL) and one that does not (1PL) predict held-out cells about "
        f"equally well ({told.difference:+,.2f} ± {told.se:,.2f} nats per 1,000 cells).{agree}"
    )


def _agreement(r: float | None) -> str:
    if r is None:
        return ""
    judged = (
        "so the difficulties hardly depend on it"
        if r >= 0.98
        else "so most difficulties keep their places"
        if r >= 0.9
        else "so the difficulties depend on the choice: read them with care"
    )
    return f" The difficulties of both correlate {r:.3f}, {judged}."


def how_stable(check: FitCheck) -> str:
    """Say how much the difficulties hang on one model."""
    out = check.leave_one_out
    if out.min_pearson is None or out.mean_pearson is None or not out.models:
        return "Leaving models out in turn says nothing here: the difficulties do not vary."
    return (
        "Without any one model the difficulties correlate at least "
        f"{out.min_pearson:.3f} with those of all models ({out.mean_pearson:.3f} on average); "
        f"{one_line(out.models[0].model, NAME)} moves them most."
    )


def caveats(check: FitCheck) -> tuple[str, ...]:
    """Say what to keep in mind with these figures."""
    said = [check.sample] if check.sample else []
    said += _bic_caveat(check)
    if check.typical_item_fit > 2:
        said.append(
            f"The 1PL as such misfits: the typical item has an outfit of "
            f"{check.typical_item_fit:.1f}, where 1 is expected. With many rollouts even small "
            "departures show; listed items, models and pairs stand out from the others as well."
        )
    return tuple(said)


def _bic_caveat(check: FitCheck) -> list[str]:
    for_one = [one.counted for one in check.comparison.bic if one.bic_1pl < one.bic_2pl]
    if not for_one:
        return []
    return [
        f"BIC prefers the 1PL (with n the number of {_listed(list(for_one))}); that is no evidence "
        "that the 1PL fits: it charges for every slope however little slopes differ, and with few "
        "models its choice turns with n."
    ]
