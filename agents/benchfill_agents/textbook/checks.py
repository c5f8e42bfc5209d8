"""The core's checks around an edit, and which faults a later repair may still mend."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from benchfill.textbook.arranging import arrange
from benchfill.textbook.graph_checks import check_graph
from benchfill.textbook.question_checks import check_arranged, check_question

if TYPE_CHECKING:
    from benchfill.textbook.finding import Finding
    from benchfill.textbook.knowledge import Knowledge
    from benchfill.textbook.question import ArrangedQuestion, Letter, Question
    from benchfill.textbook.solution_graph import SolutionGraph

    from .messages import Stage

_NOT_SELF_CONTAINED = frozenset({"given_not_stated", "undefined_symbol"})
_REFERENCES = frozenset({"source_reference"})
_TELLS = frozenset({"answer_in_stem"})
_LATER: dict[str, frozenset[str]] = {
    "written": _NOT_SELF_CONTAINED | _REFERENCES | _TELLS,
    "self_contained": _REFERENCES | _TELLS,
    "integrity": _REFERENCES | _TELLS,
    "concise": _REFERENCES,
}
"""Codes that are left to a later repair, by the stage after which they may stand."""


async def graph_faults(graph: SolutionGraph, knowledge: Knowledge) -> tuple[str, ...]:
    """Return what is wrong with a graph, one sentence each."""
    # SymPy may take seconds, and others wait
    return _words(await asyncio.to_thread(check_graph, graph, knowledge))


async def question_faults(
    question: Question,
    arranged: ArrangedQuestion,
    graph: SolutionGraph,
    knowledge: Knowledge,
    *,
    after: Stage | None = None,
) -> tuple[str, ...]:
    """Return what is wrong with a question and its options, one sentence each.

    Faults that a repair after the stage `after` is there for are left out; None leaves out nothing.
    """
    found = await asyncio.to_thread(_check, question, arranged, graph, knowledge)
    later = _LATER.get(after or "", frozenset())
    return _words(tuple(one for one in found if one.code not in later))


def arranged_as(question: Question, key: Letter, seed: int) -> ArrangedQuestion:
    """Arrange the options as the assignment of the item has it."""
    return arrange(question, key, seed=seed)


def _check(
    question: Question, arranged: ArrangedQuestion, graph: SolutionGraph, knowledge: Knowledge
) -> tuple[Finding, ...]:
    return (
        *check_question(question, graph, knowledge),
        *check_arranged(arranged, question, graph),
    )


def _words(found: tuple[Finding, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{one.where}: {one.message}" for one in found))
