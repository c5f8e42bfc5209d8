"""The question: stem, answer, four distractors with their errors, and the options as arranged."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ..items import Item
from .frozen import Frozen, Name, ShortText, Symbol, Text

NONE_OF_THE_ABOVE = "None of the above"

Letter = Literal["A", "B", "C", "D", "E"]
LETTERS: tuple[Letter, ...] = ("A", "B", "C", "D", "E")


class WrongStep(Frozen):
    """What a solver computes at a node instead of what is right."""

    node: Symbol
    expression: ShortText


class NamedError(Frozen):
    """An error that a solver may make at a node of the solution graph."""

    name: Name = Field(description="short, as: counts the upper bound of the slice")
    node: Symbol = Field(description="id of the node of the graph at which it is made")
    knowledge: Name = Field(description="id of the knowledge node that is ignored or misapplied")
    description: ShortText = Field(description="what the solver does wrongly")
    wrong_expression: ShortText | None = Field(
        None,
        description="what the solver computes at that node instead of its expression (for a given: "
        "instead of its value); the error is carried on to the answer by the graph",
    )
    also: tuple[WrongStep, ...] = Field(
        (), max_length=8, description="further nodes at which the same error is made"
    )

    @property
    def wrong_steps(self) -> dict[str, str]:
        """Expressions by node that are computed wrongly; empty where the error is one of words."""
        first = {} if self.wrong_expression is None else {self.node: self.wrong_expression}
        return first | {step.node: step.expression for step in self.also}


class Distractor(Frozen):
    """A wrong option and the error that leads to it."""

    text: ShortText
    error: NamedError


class Question(Frozen):
    """A question before its options are arranged."""

    stem: Text
    answer: ShortText = Field(description="the right option, as the solution graph gives it")
    distractors: tuple[Distractor, ...] = Field(min_length=4, max_length=4)
    summary: ShortText = Field(
        description="what is asked and how it is solved, in one sentence without the numbers"
    )


class OptionOrder(Frozen):
    """The recorded shuffle: where each option came from."""

    seed: int = Field(ge=0)
    sources: tuple[int | None, ...] = Field(
        min_length=4,
        max_length=4,
        description="for A to D: index of the distractor, or None for the answer",
    )
    left_out: int | None = Field(
        description="index of the distractor that made room for the answer; None when E is right"
    )


class ArrangedQuestion(Frozen):
    """A question with options A to E as a model sees them; E is "None of the above".

    With the key E the four distractors stand at A to D; with another key the answer takes the place
    of one of them.
    """

    stem: Text
    options: tuple[ShortText, ...] = Field(min_length=5, max_length=5)
    key: Letter
    order: OptionOrder

    @property
    def right_option(self) -> str:
        """Text of the right option."""
        return self.options[LETTERS.index(self.key)]

    @property
    def text(self) -> str:
        """Stem and lettered options, as a model or a reviewer reads them."""
        lettered = (f"{letter}. {text}" for letter, text in zip(LETTERS, self.options, strict=True))
        return "\n".join((self.stem, "", *lettered))

    def item(self, item_id: str, metadata: dict[str, object] | None = None) -> Item:
        """Return the benchmark item: its answer is the right option's text."""
        return Item(
            id=item_id,
            question=self.stem,
            answer=self.right_option,
            choices=self.options,
            metadata=dict(metadata or {}),
        )
