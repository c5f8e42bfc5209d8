"""Builds questions with their solution graphs in few lines, and the knowledge that they rest on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from benchfill.textbook.knowledge import Knowledge, KnowledgeNode
from benchfill.textbook.question import Distractor, NamedError, Question, WrongStep
from benchfill.textbook.solution_graph import SolutionEdge, SolutionGraph, SolutionNode

_KNOWLEDGE = """
array concept An array holds numbers in rows and columns.
shape definition The shape of an array is its numbers of rows and columns.
list concept A list stores several values in order.
loop concept A loop repeats statements for each value of a sequence.
condition concept A condition decides which branch runs.
alias concept Two names may refer to one list.
average definition The mean is the sum divided by the number of values.
percentage definition A percentage is a share of a hundred.
rate definition A rate is an amount per unit.
equation concept An equation states that two expressions are equal.
zero-based rule Indices count from 0.
slice-excludes-upper rule A slice runs up to, but does not include, its upper bound.
slice-step rule A third number in a slice takes every so-many-th entry.
negative-index rule A negative index counts from the end.
axis-rule rule An operation along axis 0 goes down the rows, along axis 1 across the columns.
size-of-array relationship The number of values of an array is rows times columns.
concatenation rule + joins lists or strings, * repeats them.
accumulation procedure A variable that is updated in each turn of a loop gathers a result.
branching procedure The first condition that is true decides the branch.
and-or rule and needs both parts true, or needs one.
copying rule list() makes an independent copy; plain assignment does not.
arithmetic rule Numbers are added, subtracted, multiplied and divided.
isolate procedure An equation is solved by the same operation on both sides.
sum-of-sequence relationship The sum of 1 to n is n(n+1)/2.
rounding rule A result is rounded at the end, not between.
off-by-one caveat The upper bound of a slice is often counted.
axis-mixup caveat The two axes are often mixed up.
in-place caveat A change in place is seen under all names.
early-rounding caveat Rounding between steps changes the result.
"""


def knowledge() -> Knowledge:
    """What the four chapters on Python, and a little algebra, teach."""
    nodes = []
    for line in _KNOWLEDGE.strip().splitlines():
        node_id, kind, statement = line.split(" ", 2)
        name = node_id.replace("-", " ")
        nodes.append(KnowledgeNode(id=node_id, kind=kind, name=name, statement=statement))
    return Knowledge(chapter="python", nodes=tuple(nodes))


@dataclass(frozen=True)
class ItemCase:
    """A question and its graph."""

    name: str
    question: Question
    graph: SolutionGraph


def given(node_id: str, value: str, statement: str, **more: Any) -> SolutionNode:
    """A node that the stem states."""
    return SolutionNode(id=node_id, kind="given", value=value, statement=statement, **more)


@dataclass(frozen=True)
class Step:
    """A derived node together with the edges into it."""

    node: SolutionNode
    rule: str
    needs: tuple[str, ...]


def computed(
    node_id: str, expression: str, value: str, rule: str, concepts: str = "", **more: Any
) -> Step:
    """A node that is computed from the nodes that its expression names."""
    needs = tuple(more.pop("needs", ()))
    statement = more.pop("statement", f"{node_id} is {value}")
    node = SolutionNode(
        id=node_id,
        kind="computed",
        value=value,
        expression=expression,
        statement=statement,
        concepts=tuple(concepts.split()),
        **more,
    )
    return Step(node, rule, needs)


def inferred(node_id: str, value: str, rule: str, needs: str, concepts: str = "") -> Step:
    """A node that follows in words."""
    node = SolutionNode(
        id=node_id,
        kind="inferred",
        value=value,
        statement=value,
        concepts=tuple(concepts.split()),
    )
    return Step(node, rule, tuple(needs.split()))


def wrong(  # noqa: PLR0917 - items are tables, and a row of one stands on a line
    text: str,
    name: str,
    node: str,
    about: str,
    expression: str | None = None,
    also: dict[str, str] | None = None,
) -> Distractor:
    """A distractor with its error."""
    error = NamedError(
        name=name,
        node=node,
        knowledge=about,
        description=f"The solver {name}.",
        wrong_expression=expression,
        also=tuple(WrongStep(node=at, expression=done) for at, done in (also or {}).items()),
    )
    return Distractor(text=text, error=error)


def case(
    name: str,
    stem: str,
    nodes: list[SolutionNode | Step],
    answer: str,
    distractors: list[Distractor],
    *,
    sink: str | None = None,
    symbols: tuple[str, ...] = (),
) -> ItemCase:
    """An item; edges follow from expressions and `needs`, the last node is the answer."""
    ids = {one.node.id if isinstance(one, Step) else one.id for one in nodes}
    edges: list[SolutionEdge] = []
    for one in nodes:
        if not isinstance(one, Step):
            continue
        used = re.findall(r"[A-Za-z_]\w*", one.node.expression or "")
        sources = dict.fromkeys([*(word for word in used if word in ids), *one.needs])
        edges += [
            SolutionEdge(source=source, target=one.node.id, rule=one.rule) for source in sources
        ]
    plain = tuple(one.node if isinstance(one, Step) else one for one in nodes)
    return ItemCase(
        name=name,
        question=Question(
            stem=stem, answer=answer, distractors=tuple(distractors), summary=f"Asks: {name}."
        ),
        graph=SolutionGraph(
            nodes=plain, edges=tuple(edges), answer=sink or plain[-1].id, symbols=symbols
        ),
    )
