"""What the user may decide about an import."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

from ..errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

Repeat = Literal["rollouts", "subjects"]
Matching = Literal["id", "content"]
Duplicates = Literal["refuse", "first", "last", "rollouts"]
Prefix = Literal["auto", "always", "never"]


@dataclass(frozen=True)
class ImportOptions:
    """What the user asked for.

    Parameters
    ----------
    format
        Name of the format of all files; detected without it.
    repeat
        Whether repeated answers of a model to an item are rollouts of one subject, or each run a
        subject of its own.
    match_items
        Whether items are one if their ids are, or also if their texts are.
    duplicates
        What to do where one run names model and item twice.
    threshold
        Score, in (0, 1], from which on an answer is right.
    max_score
        Score of a fully right answer, above 0.
    prefix
        Whether the task's name stands before an item's id; auto: if there are several tasks.
    aliases
        Name to be used by name found.
    chosen
        What formats leave open, by option: filter, metric, scorer, split, null, incomplete, ...
    """

    format: str | None = None
    repeat: Repeat = "rollouts"
    match_items: Matching = "id"
    duplicates: Duplicates = "refuse"
    threshold: float = 1.0
    max_score: float = 1.0
    prefix: Prefix = "auto"
    aliases: Mapping[str, str] = field(default_factory=dict)
    chosen: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, kinds in (
            ("repeat", Repeat),
            ("match_items", Matching),
            ("duplicates", Duplicates),
            ("prefix", Prefix),
        ):
            if getattr(self, name) not in get_args(kinds):
                raise InputError(
                    f"{getattr(self, name)!r} is none of {', '.join(get_args(kinds))}.",
                    field=option_name(name),
                )
        if not 0 < self.threshold <= 1:
            raise InputError("must be above 0 and at most 1.", field="--threshold")
        if not 0 < self.max_score < float("inf"):
            raise InputError("must be above 0.", field="--max-score")


def option_name(name: str) -> str:
    """Return a setting's name on the command line."""
    return f"--{name.replace('_', '-')}"
