"""What a format is: it recognises a file by its content, and yields the file's scored answers."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from ..errors import InputError
from ..item_metadata import DEEPEST, as_json
from .node import Node, clean, usable_name
from .options import ImportOptions, option_name
from .report import ChoiceMade, FileReport, TotalCheck

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .source import InputFile

Role = Literal["responses", "companion", "no scores"]


class Response(NamedTuple):
    """What a model scored on an item.

    ``correct`` of ``n`` rollouts were right; with one rollout it may be a share, which the
    threshold turns into right or wrong. None: no score, because of ``why``. ``rollout`` tells
    repeated answers of one run apart, and of two with the same one that with the later ``stamp``
    counts. A ``run`` has a name if several files may tell of it; otherwise each file is one.
    ``scope`` is the task within which item ids are unique.
    """

    model: str
    item: str
    correct: float | None
    n: int = 1
    rollout: str = ""
    scope: str = ""
    run: str = ""
    stamp: float | None = None
    why: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class ItemText:
    """What is known of an item; what is empty may come from elsewhere."""

    item: str
    scope: str = ""
    question: str = ""
    answer: str = ""
    choices: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Recognised:
    """That a file is of a format, and by what.

    ``companion`` belongs to such files but is not read by itself; ``no scores`` cannot be imported,
    and the reason is a sentence that says what to give instead.
    """

    reason: str
    role: Role = "responses"


@dataclass(frozen=True)
class Choice:
    """Something that a format leaves open, for its documentation."""

    option: str
    default: str
    meaning: str


class ResultFormat(ABC):
    """A format of result files.

    Subclass it, and offer an instance under the entry-point group ``benchfill.formats``.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    recognised_by: ClassVar[str]
    example: ClassVar[str] = ""
    """A command that imports it, without ``--out``."""
    choices: ClassVar[tuple[Choice, ...]] = ()
    generic: ClassVar[bool] = False
    """Whether more specific formats go first: a CSV table may be anything."""

    @abstractmethod
    def recognise(self, file: InputFile) -> Recognised | None:
        """Say whether a file is of this format; must not raise on any file."""

    @abstractmethod
    def read(self, file: InputFile, reading: Reading) -> Iterator[Response | ItemText]:
        """Yield what is in a file.

        Raises
        ------
        InputError
            Names the line or field that cannot be used.
        """


class Reading:
    """The reading of one file: its options, and its report as it grows."""

    def __init__(self, file: InputFile, options: ImportOptions, report: FileReport) -> None:
        self.file, self.options, self.report = file, options, report
        self._settled: dict[str, str] = {}

    def choose(
        self, option: str, default: str, among: Sequence[str] = (), *, because: str = ""
    ) -> str:
        """Settle what the format leaves open: by the user's option, or by default; and report it.

        Settled once a file. A value that is not among those that there are is refused.
        """
        given = self.options.chosen.get(option)
        value = self._settled.get(option)
        if value is None:
            value = default if given is None else given
            self._settled[option] = value
            self.report.choices.append(
                ChoiceMade(
                    option=option_name(option),
                    value=value,
                    by_default=given is None,
                    among=tuple(among),
                    because=because,
                )
            )
        if among and value not in among:
            raise self.file.error(
                f"there is no {value!r} here; choose among {', '.join(list(among)[:12])}.",
                field=option_name(option),
            )
        return value

    def model(self, default: str | None, found_in: str) -> str:
        """Settle the name of the model of a whole file."""
        if default is None and "model" not in self.options.chosen:
            raise self.file.error("does not say which model it is of; give its name by --model.")
        name = self.choose("model", default or "", because=f"from the {found_in}")
        return usable_name(name, Node(name, self.file.name, None, "model"))

    def wrong(self, option: str, meaning: str, default: str = "wrong") -> bool:
        """Settle whether something without a verdict is wrong, rather than missing."""
        return self.choose(option, default, ("wrong", "missing"), because=meaning) == "wrong"

    def drop(self, reason: str, count: int = 1) -> None:
        """Count rows that are left out."""
        self.report.rows_read += count
        self.report.dropped[reason] = self.report.dropped.get(reason, 0) + count

    def note(self, text: str) -> None:
        """Keep something that the user should know, once."""
        if text not in self.report.notes:
            self.report.notes.append(text)

    def total(self, name: str, node: Node | None, scale: float = 1.0) -> None:
        """Keep an aggregate that the file states, to be compared with what is imported."""
        if node is not None and node.is_a(int, float):
            self.report.totals.append(TotalCheck(name=name, stated=node.number() / scale))


def letter_index(text: str) -> int | None:
    """Return the position of an option letter, A is 0; None for anything else."""
    return ord(text) - ord("A") if len(text) == 1 and "A" <= text <= "Z" else None


def answer_text(answer: str, choices: Sequence[str]) -> str:
    """Return the text of the option that a letter names, or the answer as it is."""
    position = letter_index(answer.strip())
    return choices[position] if position is not None and position < len(choices) else answer


def small_metadata(node: Node, leave_out: Sequence[str]) -> dict[str, Any]:
    """Return the short texts and numbers of a row, for an item's metadata."""
    kept: dict[str, Any] = {}
    for name, one in node.entries():
        key = clean(name)
        if key in leave_out or one.value is None:
            continue
        exact = one.is_a(int) and abs(one.value) < 1 << 53
        if exact or one.is_a(bool) or (one.is_a(float) and math.isfinite(one.value)):
            kept[key] = one.value
        elif one.is_a(str) and len(one.value) <= 200:
            kept[key] = one.text()
    return kept


def whole_metadata(node: Node) -> dict[str, Any]:
    """Return an object of metadata as it is, nested ones too; null is what JSON lacks.

    For a field that holds metadata and nothing else; `small_metadata` is for rows.
    """
    try:
        kept: dict[str, Any] = as_json({key: one.value for key, one in node.entries()})
    except RecursionError:
        raise node.error(f"is nested more than {DEEPEST} deep.") from None
    return kept


def inner_json(node: Node) -> Node:
    """Return the list or object that a field holds as JSON in a text, else the field as it is."""
    if not node.is_a(str) or not node.value.startswith(("[", "{")):
        return node
    try:
        return Node(json.loads(node.value), node.source, node.line, node.path)
    except (ValueError, RecursionError):
        return node


def key_name(key: str, node: Node) -> str:
    """Return an object's key as the name of a model or item."""
    return usable_name(clean(key), node)


__all__ = [
    "Choice",
    "InputError",
    "ItemText",
    "Reading",
    "Recognised",
    "Response",
    "ResultFormat",
    "answer_text",
    "inner_json",
    "key_name",
    "letter_index",
    "small_metadata",
    "whole_metadata",
]
