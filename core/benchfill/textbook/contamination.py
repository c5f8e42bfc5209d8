"""What guesses say of contamination: hits on a benchmark against hits on items known to be new."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import Field

from .frozen import Frozen
from .guessing import PROTOCOLS, Protocol, mean_interval, score_guess
from .shares import Difference, Share, difference, share

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .guessing import GuessTask, Skipped


@dataclass(frozen=True)
class Guess:
    """What a model replied to a task; None where no reply came."""

    model: str
    task: GuessTask
    text: str | None
    baseline: bool = False


class Hits(Frozen):
    """How often a model guessed right."""

    exact: Share = Field(description="same words; Wilson's 95% interval")
    rouge_l: float | None = Field(description="mean ROUGE-L; None where nothing was asked")
    rouge_l_low: float | None = Field(description="lower end of its 95% interval (Hoeffding)")
    rouge_l_high: float | None = Field(description="upper end")
    unanswered: int = Field(description="tasks without a reply; they count as misses")


class ModelGuesses(Frozen):
    """One model under one protocol."""

    model: str
    protocol: Protocol
    items: Hits
    baseline: Hits | None = Field(description="on items known to be new; None without them")
    excess: Difference | None = Field(
        description="exact matches, items minus baseline, with Newcombe's 95% interval"
    )
    more_than_new: bool | None = Field(
        description="whether that interval lies above 0; None without a baseline"
    )


class LeftOut(Frozen):
    """Items that a protocol cannot use."""

    protocol: Protocol
    why: str
    items: int
    baseline: int


class Contamination(Frozen):
    """TS-Guessing of all models of a pool."""

    items: int = Field(description="items given")
    baseline_items: int | None = Field(description="items known to be new; None without them")
    models: tuple[ModelGuesses, ...]
    left_out: tuple[LeftOut, ...]


def contamination(
    guesses: Iterable[Guess],
    skipped: Sequence[Skipped],
    skipped_baseline: Sequence[Skipped] = (),
    *,
    items: int,
    baseline_items: int | None,
) -> Contamination:
    """Count hits by model and protocol, and set them against the baseline's.

    Parameters
    ----------
    guesses
        All replies, in the order in which models are to be told.
    skipped, skipped_baseline
        Items without a task.
    items, baseline_items
        How many items were given; None without a baseline.
    """
    groups: dict[tuple[str, Protocol], tuple[list[Guess], list[Guess]]] = {}
    for one in guesses:
        pair = groups.setdefault((one.model, one.task.protocol), ([], []))
        pair[one.baseline].append(one)
    return Contamination(
        items=items,
        baseline_items=baseline_items,
        models=tuple(
            _of_model(model, protocol, asked, new if baseline_items is not None else None)
            for (model, protocol), (asked, new) in groups.items()
        ),
        left_out=_left_out(skipped, skipped_baseline),
    )


def _of_model(
    model: str, protocol: Protocol, asked: list[Guess], new: list[Guess] | None
) -> ModelGuesses:
    items = _hits(asked)
    baseline = None if new is None else _hits(new)
    excess = None if baseline is None else difference(items.exact, baseline.exact)
    low = None if excess is None else excess.low
    return ModelGuesses(
        model=model,
        protocol=protocol,
        items=items,
        baseline=baseline,
        excess=excess,
        more_than_new=None if low is None else low > 0,
    )


def _hits(guesses: list[Guess]) -> Hits:
    scores = [score_guess(one.text, one.task.hidden) for one in guesses]
    rouge = [one.rouge_l for one in scores]
    interval = mean_interval(rouge)
    return Hits(
        exact=share(sum(one.exact for one in scores), len(scores)),
        rouge_l=sum(rouge) / len(rouge) if rouge else None,
        rouge_l_low=None if interval is None else interval[0],
        rouge_l_high=None if interval is None else interval[1],
        unanswered=sum(one.text is None for one in guesses),
    )


def _left_out(items: Sequence[Skipped], baseline: Sequence[Skipped]) -> tuple[LeftOut, ...]:
    found = []
    for protocol in PROTOCOLS:
        reasons = dict.fromkeys(o.why for o in (*items, *baseline) if o.protocol == protocol)
        for why in reasons:
            a, b = (
                sum((o.protocol, o.why) == (protocol, why) for o in side)
                for side in (items, baseline)
            )
            found.append(LeftOut(protocol=protocol, why=why, items=a, baseline=b))
    return tuple(found)
