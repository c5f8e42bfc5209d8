"""Checks of a question against its solution graph, before and after its options are arranged."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, Any

from .arranging import options_of
from .computing.process import TooMuchToComputeError, shared_computer
from .finding import Finding
from .graph_checks import linear_order, trace_request
from .question import LETTERS, NONE_OF_THE_ABOVE
from .source_references import source_references
from .stated import not_stated
from .symbols import mentions, names_missing_in, undefined_symbols

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .computing.process import Computer
    from .knowledge import Knowledge
    from .question import ArrangedQuestion, Distractor, Question
    from .solution_graph import SolutionGraph

_OF_OPTIONS = re.compile(
    r"^\W*(?:none|all|both|neither|either|any)\b[^.]{0,30}\b(?:above|below|options?|answers?|choices?)\b"
    r"|^\W*(?:both|neither|either)\s+\(?[A-E]\)?\s+(?:and|or|nor)\s+\(?[A-E]\)?\W*$",
    re.IGNORECASE,
)
_LETTERED = re.compile(r"^\s*\(?[A-E](?:[.)]\s|:\s)")
_KEY_TOLD = re.compile(
    r"\b(?:correct|right)\s+(?:answer|option|choice)\s*(?:is|:|=)|\banswer\s*(?:key)?\s*:",
    re.IGNORECASE,
)
_INVISIBLE = {"Cf", "Co", "Cs", "Cn"}


def check_question(
    question: Question, graph: SolutionGraph, knowledge: Knowledge, computer: Computer | None = None
) -> tuple[Finding, ...]:
    """Return what is wrong with a question; nothing where it holds.

    The answer is what the graph derives; no distractor is right too, or says the same as another;
    each distractor has an error of its own, at a node of the graph, about something that the
    chapter teaches, and is what this error computes; the stem states what is given, says what its
    symbols are, and points to no source.

    Raises
    ------
    InputError
        SymPy is not installed.
    """
    found = [
        *_format(question),
        *_references(question),
        *_symbols(question, graph),
        *_given(question, graph),
        *_errors(question, graph, knowledge),
    ]
    if linear_order(graph) is None or graph.answer not in graph.by_id:
        return tuple(found)
    texts = (question.answer, *(one.text for one in question.distractors))
    wrong = ({}, *(one.error.wrong_steps for one in question.distractors))
    try:
        compared = _compare(graph, texts, wrong, computer or shared_computer())
    except TooMuchToComputeError as error:
        return (*found, _too_much(str(error)))
    found += _values(question, graph, compared)
    found += _carried(question, graph, compared["carried"][1:])
    return tuple(found)


def check_arranged(
    arranged: ArrangedQuestion,
    question: Question,
    graph: SolutionGraph,
    computer: Computer | None = None,
) -> tuple[Finding, ...]:
    """Return what is wrong with the options A to E as they stand.

    Exactly one is right, and it is the key: one of A to D when it says what the graph derives, E
    when none of them does. What stands there is what the recorded shuffle says.

    Raises
    ------
    InputError
        SymPy is not installed.
    """
    found = [*_shuffle(arranged, question)]
    if linear_order(graph) is None or graph.answer not in graph.by_id:
        return tuple(found)
    texts = arranged.options[:4]
    try:
        compared = _compare(graph, texts, ({},) * 4, computer or shared_computer())
    except TooMuchToComputeError as error:
        return (*found, _too_much(str(error)))
    right = [letter for letter, is_right in zip(LETTERS, compared["right"], strict=False)
             if is_right]  # fmt: skip
    found += [
        Finding(
            code="same_options",
            where=f"{LETTERS[j]} and {LETTERS[i]}",
            message=f"The options {LETTERS[j]} and {LETTERS[i]} say the same.",
        )
        for i, j in compared["same"]
    ]
    return (*found, *_right(arranged, right))


def _right(arranged: ArrangedQuestion, right: list[Any]) -> Iterator[Finding]:
    if len(right) > 1:
        yield Finding(
            code="several_right",
            where=" and ".join(right),
            message=f"The options {' and '.join(right)} all say what the graph derives; only one "
            "may.",
        )
    if arranged.key == "E" and right:
        yield Finding(
            code="e_right",
            where=right[0],
            message=f'The key is E, "{NONE_OF_THE_ABOVE}", but {right[0]} says what the graph '
            "derives.",
        )
    if arranged.key != "E" and not right:
        yield Finding(
            code="none_right",
            where=arranged.key,
            message=f"The key is {arranged.key}, but no option from A to D says what the graph "
            "derives, so that E would be right.",
        )
    if arranged.key != "E" and len(right) == 1 and right[0] != arranged.key:
        yield Finding(
            code="key_mismatch",
            where=arranged.key,
            message=f"The key is {arranged.key}, but {right[0]} says what the graph derives.",
        )


def _shuffle(arranged: ArrangedQuestion, question: Question) -> Iterator[Finding]:
    def bad(message: str) -> Finding:
        return Finding(code="bad_shuffle", where="options", message=message)

    if arranged.options[4] != NONE_OF_THE_ABOVE:
        yield bad(f'Option E must be "{NONE_OF_THE_ABOVE}".')
    if arranged.stem != question.stem:
        yield bad("The stem is not that of the question; arrange the options again.")
    order = arranged.order
    used = [one for one in (*order.sources, order.left_out) if one is not None]
    if sorted(used) != [0, 1, 2, 3] or (order.left_out is None) is not (arranged.key == "E"):
        yield bad("The recorded shuffle does not have each distractor once.")
        return
    if arranged.key != "E" and order.sources[LETTERS.index(arranged.key)] is not None:
        yield bad(f"The recorded shuffle has a distractor at the key {arranged.key}.")
    if options_of(question, order.sources) != arranged.options[:4]:
        yield bad("The options are not those of the recorded shuffle; arrange them again.")


def _compare(
    graph: SolutionGraph,
    texts: Sequence[str],
    wrong: Sequence[Mapping[str, str]],
    computer: Computer,
) -> dict[str, Any]:
    request = trace_request(graph) | {
        "answer": graph.answer,
        "unit": graph.by_id[graph.answer].unit,
        "texts": list(texts),
        "wrong": [dict(steps) for steps in wrong],
    }
    reply: dict[str, Any] = computer.ask("options", request)
    return reply


def _too_much(why: str) -> Finding:
    return Finding(
        code="distractor_not_computed",
        where="options",
        message=f"The options cannot be compared within the limits ({why}); use smaller numbers "
        "and simpler expressions.",
    )


def _values(
    question: Question, graph: SolutionGraph, compared: dict[str, Any]
) -> Iterator[Finding]:
    derived = graph.by_id[graph.answer].value
    if not compared["right"][0]:
        yield Finding(
            code="answer_not_derived",
            where="answer",
            message=f"The answer is {question.answer:.200}, but the graph derives {derived:.200}.",
        )
    for number in range(1, 5):
        if compared["right"][number]:
            yield Finding(
                code="several_right",
                where=f"distractor {number}",
                message=f"Distractor {number}, {question.distractors[number - 1].text:.200}, says "
                f"what the graph derives, {derived:.200}: it is right, too.",
            )
    for i, j in compared["same"]:
        names = ["the answer" if one == 0 else f"distractor {one}" for one in sorted((i, j))]
        yield Finding(
            code="same_options",
            where=" and ".join(names),
            message=f"The options of {names[0]} and {names[1]} say the same.",
        )


def _carried(
    question: Question, graph: SolutionGraph, carried: Sequence[dict[str, Any] | None]
) -> Iterator[Finding]:
    if graph.by_id[graph.answer].kind != "computed":
        return  # an answer in words: what an error makes of it is the Verifier's to judge
    for number, (one, result) in enumerate(
        zip(question.distractors, carried, strict=True), start=1
    ):
        problem = _not_reached(one, result, graph)
        if problem is not None:
            yield Finding(
                code="distractor_not_computed",
                where=f"distractor {number}",
                message=f"Distractor {number}, {one.text:.200}, {problem}",
            )


def _not_reached(
    distractor: Distractor, result: dict[str, Any] | None, graph: SolutionGraph
) -> str | None:
    error = distractor.error
    node = graph.by_id.get(error.node)
    if result is None:
        if node is not None and node.kind == "inferred":
            return None
        return (
            f"has no wrong_expression that says what is computed at {error.node} by the error "
            f"{error.name!r}."
        )
    if result["problem"] is not None:
        return f"cannot be computed: the error {error.name!r} {result['problem']}."
    if not result["matches"]:
        return f"is not what the error {error.name!r} leads to: that is {result['computed']}."
    return None


def _errors(question: Question, graph: SolutionGraph, knowledge: Knowledge) -> Iterator[Finding]:
    for number, one in enumerate(question.distractors, start=1):
        where = f"distractor {number}"
        for node in (one.error.node, *(step.node for step in one.error.also)):
            if node not in graph.by_id:
                yield Finding(
                    code="error_unknown",
                    where=where,
                    message=f"The error of {where} is made at {node}, which is no node of the "
                    "graph.",
                )
        if one.error.knowledge not in knowledge.by_id:
            yield Finding(
                code="error_unknown",
                where=where,
                message=f"The error of {where} is about {one.error.knowledge!r}, which the chapter "
                "does not have.",
            )
    for name, count in Counter(_folded(one.error.name) for one in question.distractors).items():
        if count > 1:
            yield Finding(
                code="error_not_distinct",
                where="distractors",
                message=f"{count} distractors have the error {name!r}; each needs its own.",
            )


def _format(question: Question) -> Iterator[Finding]:
    texts = {"stem": question.stem, "answer": question.answer}
    texts |= {f"distractor {n}": one.text for n, one in enumerate(question.distractors, start=1)}
    for where, text in texts.items():
        bad = next((c for c in text if unicodedata.category(c) in _INVISIBLE), None)
        if bad is not None:
            yield Finding(
                code="format",
                where=where,
                message=f"The {where} holds an invisible character (U+{ord(bad):04X}).",
            )
        if where != "stem" and _OF_OPTIONS.search(text):
            yield Finding(
                code="format",
                where=where,
                message=f'The {where} speaks of other options; "{NONE_OF_THE_ABOVE}" is added by '
                "itself, and others of this kind are not used.",
            )
        if where != "stem" and _LETTERED.match(text):
            yield Finding(
                code="format",
                where=where,
                message=f"The {where} begins with a letter of an option; letters are added by "
                "themselves.",
            )
    if _KEY_TOLD.search(question.stem):
        yield Finding(
            code="answer_in_stem", where="stem", message="The stem tells which answer is right."
        )


def _references(question: Question) -> Iterator[Finding]:
    texts = {"stem": question.stem, "answer": question.answer}
    texts |= {f"distractor {n}": one.text for n, one in enumerate(question.distractors, start=1)}
    for where, text in texts.items():
        for place in source_references(text):
            yield Finding(
                code="source_reference",
                where=where,
                message=f'The {where} points to its source ("{place:.80}"), which a solver does '
                "not have; say what is needed instead.",
            )


def _symbols(question: Question, graph: SolutionGraph) -> Iterator[Finding]:
    for name in undefined_symbols(question.stem):
        yield Finding(
            code="undefined_symbol",
            where="stem",
            message=f"The stem uses {name!r} without saying what it is.",
        )
    options = {"answer": question.answer}
    options |= {f"distractor {n}": one.text for n, one in enumerate(question.distractors, start=1)}
    for where, text in options.items():
        missing = [
            *names_missing_in(question.stem, text),
            *(s for s in graph.symbols if mentions(text, s) and not mentions(question.stem, s)),
        ]
        for name in dict.fromkeys(missing):
            yield Finding(
                code="undefined_symbol",
                where=where,
                message=f"The {where} uses {name!r}, which the stem does not have.",
            )


def _given(question: Question, graph: SolutionGraph) -> Iterator[Finding]:
    for node in graph.nodes:
        if node.kind != "given":
            continue
        missing = not_stated(node, question.stem)
        if missing is not None:
            yield Finding(
                code="given_not_stated",
                where=node.id,
                message=f"The node {node.id} is given as {node.value:.200}, but the stem does not "
                f"say {missing:.100}.",
            )


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
