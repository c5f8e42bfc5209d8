"""How many changed graphs and questions the checks of textbook items let pass.

Every right item of the tests is changed in all ways of seven kinds; prints the table of
docs/textbook-checks.md. Some 20 seconds of CPU::

    python tests/studies/textbook_mutations.py
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchfill.textbook.computing.process import Computer
from benchfill.textbook.graph_checks import check_graph
from benchfill.textbook.question_checks import check_question
from support.textbook_good_algebra import GOOD_ALGEBRA
from support.textbook_good_python import GOOD_PYTHON
from support.textbook_held_out import GOOD
from support.textbook_items import knowledge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchfill.textbook.question import Question
    from benchfill.textbook.solution_graph import SolutionGraph
    from support.textbook_items import ItemCase

    Changed = tuple[str, SolutionGraph, Question]


def main() -> None:
    """Print a row for each kind of change."""
    known = knowledge()
    tried: Counter[str] = Counter()
    passed: Counter[str] = Counter()
    with Computer() as computer:
        for make in (*GOOD_PYTHON, *GOOD_ALGEBRA, *GOOD):
            for kind, graph, question in _changes(make()):
                tried[kind] += 1
                passed[kind] += not (
                    check_graph(graph, known, computer)
                    or check_question(question, graph, known, computer)
                )
    print("| change | tried | let pass |\n| --- | ---: | ---: |")
    for kind, count in tried.items():
        print(f"| {kind} | {count} | {passed[kind]} |")
    print(f"| all | {tried.total()} | {passed.total()} |")


def _changes(one: ItemCase) -> Iterator[Changed]:
    yield from _of_graph(one)
    yield from _of_question(one)


def _of_graph(one: ItemCase) -> Iterator[Changed]:
    graph, question = one.graph, one.question
    for node in graph.nodes:
        others = tuple(n for n in graph.nodes if n is not node)
        if node.kind == "computed":
            other = node.model_copy(update={"value": _another(node.value)})
            nodes = tuple(other if n is node else n for n in graph.nodes)
            yield "a value", graph.model_copy(update={"nodes": nodes}), question
        if node.id != graph.answer:
            edges = tuple(e for e in graph.edges if node.id not in {e.source, e.target})
            less = graph.model_copy(update={"nodes": others, "edges": edges})
            yield "a node removed", less, question
    for edge in graph.edges:
        kept = tuple(e for e in graph.edges if e is not edge)
        yield "an edge removed", graph.model_copy(update={"edges": kept}), question
        turned = edge.model_copy(update={"source": edge.target, "target": edge.source})
        yield "an edge turned", graph.model_copy(update={"edges": (*kept, turned)}), question


def _another(value: str) -> str:
    if value in {"True", "False"}:
        return "False" if value == "True" else "True"
    if value.startswith("'"):
        return value.replace("'", "'z", 1)
    return f"{value} + {value if value.startswith(('[', '(')) else 1}"


def _of_question(one: ItemCase) -> Iterator[Changed]:
    graph, question = one.graph, one.question
    for number, wrong in enumerate(question.distractors):
        answer = question.model_copy(update={"answer": wrong.text})
        yield "a distractor for the answer", graph, answer
        texts = [d.text for d in question.distractors]
        right = [*texts[:number], question.answer, *texts[number + 1 :]]
        yield "the answer for a distractor", graph, _with(question, right)
        other = (number + 1) % 4
        texts[number], texts[other] = texts[other], texts[number]
        yield "two distractors change places", graph, _with(question, texts)


def _with(question: Question, texts: list[str]) -> Question:
    changed = tuple(
        one.model_copy(update={"text": text})
        for one, text in zip(question.distractors, texts, strict=True)
    )
    return question.model_copy(update={"distractors": changed})


if __name__ == "__main__":
    main()
