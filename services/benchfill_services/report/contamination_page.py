"""What `benchfill contamination` found, in words, tables and a picture."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from benchfill.plots.contamination import MOST_MODELS, guess_picture

from .methods import fitted_methods
from .pictures import picture
from .result import Drawing, ResultPage, Section, Table
from .text import one_line
from .words import count_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchfill.textbook.contamination import Contamination, Hits, ModelGuesses
    from benchfill.textbook.guessing import Protocol

    from .methods import Methods
    from .pictures import Picture

NAME = 50
FEW = 50
DENG = (
    "Deng, C., Zhao, Y., Tang, X., Gerstein, M., & Cohan, A. (2024). Investigating data "
    "contamination in modern benchmarks for large language models. NAACL. arXiv:2311.09783."
)
NEWCOMBE = (
    "Newcombe, R. G. (1998). Interval estimation for the difference between independent "
    "proportions. Statistics in Medicine, 17(8), 873-890."
)
LIN = "Lin, C.-Y. (2004). ROUGE: A package for automatic evaluation of summaries. ACL workshop."


def contamination_page(found: Contamination, spent: Mapping[str, Any]) -> ResultPage:
    """Tell which models guess more than they could know."""
    return ResultPage(
        title="Have these models seen this benchmark?",
        lead=(_lead(found), _spent(spent)),
        caveats=(*_caveats(found), *_failed(spent)),
        sections=(
            Section(
                "Guesses of what was hidden",
                (
                    "Of each item a wrong option, or one word of the question, was hidden, and "
                    "each model was asked for it. One that has not seen the item can only guess.",
                ),
                (Drawing(partial(_draw, found), "Exact matches with 95% intervals (Wilson)."),),
                (_table(found), _short_table(found), _left_out(found)),
            ),
        ),
    )


def contamination_methods(
    envelope: Mapping[str, Any], found: Contamination, protocols: Sequence[Protocol]
) -> Methods:
    """Describe the measurement so that it can be pasted into a paper."""
    sentences = [
        f"Each model was asked once for what was hidden in {count_of(found.items, 'item')} "
        f"(TS-Guessing, {' and '.join(protocols)}); the wrong option was drawn with seed "
        f"{envelope['seed']}, the keyword is the word of the question that is rarest over all "
        "items. A hit is an exact match after folding case, white space and punctuation; ROUGE-L "
        "is the F measure over words. Shares have Wilson's, differences Newcombe's, means of "
        "ROUGE-L Hoeffding's 95% intervals."
    ]
    if found.baseline_items is not None:
        sentences.append(
            f"The baseline is {count_of(found.baseline_items, 'item')} known to be new."
        )
    return fitted_methods(envelope, (), sentences, (DENG, LIN, NEWCOMBE))


def _lead(found: Contamination) -> str:
    if found.baseline_items is None:
        return (
            "How often each model guesses what is hidden stands below; without items known to be "
            "new (--baseline) it is not known how often it would by chance."
        )
    more = [one for one in found.models if one.more_than_new]
    if not more:
        return (
            "No model guesses more of these items than of items known to be new, as far as so many "
            "items can tell."
        )
    named = ", ".join(f"{one_line(one.model, NAME)} ({one.protocol})" for one in more)
    return f"More than on items known to be new is guessed by {named}."


def _spent(spent: Mapping[str, Any]) -> str:
    cost = "cost unknown" if spent["cost"] is None else f"${spent['cost']:.4f} in all"
    return f"{spent['guesses']:,} guesses, {spent['calls']:,} of them bought now, {cost}."


def _caveats(found: Contamination) -> tuple[str, ...]:
    said = []
    asked = min((one.items.exact.n for one in found.models), default=0)
    if asked < FEW:
        said.append(f"Only {count_of(asked, 'task')} could be asked; the intervals are wide.")
    new = [one.baseline.exact.n for one in found.models if one.baseline is not None]
    if new and min(new) < FEW:
        said.append(f"The baseline has {count_of(min(new), 'task')} only.")
    if len(found.models) > 1 and found.baseline_items is not None:
        said.append(
            "Each interval holds with 95% by itself; of twenty models one may seem to have seen "
            "items by chance."
        )
    unanswered = sum(one.items.unanswered for one in found.models)
    if unanswered:
        said.append(f"{count_of(unanswered, 'task')} got no reply and count as misses.")
    return tuple(said)


def _failed(spent: Mapping[str, Any]) -> tuple[str, ...]:
    if not spent["failed"]:
        return ()
    were = "call failed and is" if spent["failed"] == 1 else "calls failed and are"
    return (f"{spent['failed']:,} {were} left out; the same command asks again.",)


def _draw(found: Contamination) -> Picture:
    told = "; ".join(
        f"{one_line(one.model, NAME)}, {one.protocol}: {_hit(one.items)}" + (
            "" if one.baseline is None else f", new items {_hit(one.baseline)}"
        )
        for one in found.models[: 2 * MOST_MODELS]
    )  # fmt: skip
    return picture(
        "guesses.png",
        f"Share of exact guesses by model. {told}. The same figures stand in the table.",
        lambda theme: guess_picture(found.models, theme=theme),
    )


def _hit(hits: Hits) -> str:
    return f"{hits.exact.count} of {hits.exact.n}"


def _table(found: Contamination) -> Table:
    heads = ("model", "hidden", "exact", "of", "share", "low", "high", "ROUGE-L", "new: share",
             "new: of", "new: ROUGE-L", "difference", "low", "high")  # fmt: skip
    rows = tuple(_row(one) for one in found.models)
    return Table("Exact matches and ROUGE-L by model", heads, rows, on_terminal=False)


def _short_table(found: Contamination) -> Table:
    """Return the table for a terminal of 80 columns."""
    rows = tuple(
        (
            one_line(one.model, NAME),
            one.protocol.removeprefix("hidden "),
            _hit(one.items),
            _interval(one.items.exact.low, one.items.exact.high),
            "-" if one.baseline is None else _hit(one.baseline),
            "-" if one.excess is None else _interval(one.excess.low, one.excess.high),
        )
        for one in found.models
    )
    heads = ("model", "hidden", "exact", "95%", "new items", "difference, 95%")
    return Table("Exact matches by model", heads, rows, on_page=False)


def _interval(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"{low:.2f} to {high:.2f}"


def _row(one: ModelGuesses) -> tuple[str | float | int | None, ...]:
    exact, new, excess = one.items.exact, one.baseline, one.excess
    return (
        one_line(one.model, NAME),
        one.protocol.removeprefix("hidden "),
        *(exact.count, exact.n, exact.share, exact.low, exact.high, one.items.rouge_l),
        *((None, None, None) if new is None else (new.exact.share, new.exact.n, new.rouge_l)),
        *((None,) * 3 if excess is None else (excess.difference, excess.low, excess.high)),
    )


def _left_out(found: Contamination) -> Table:
    return Table(
        "Items that could not be used",
        ("hidden", "an item that ...", "items", "new items"),
        tuple((o.protocol.removeprefix("hidden "), o.why, o.items, o.baseline)
              for o in found.left_out),
        on_terminal=False,
    )  # fmt: skip
