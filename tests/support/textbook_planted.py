"""Right items with one fault planted in each, and the code under which it must be found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from benchfill.textbook.arranging import arrange
from benchfill.textbook.solution_graph import SolutionEdge, SolutionNode
from support import textbook_good_algebra as algebra
from support import textbook_good_python as python

if TYPE_CHECKING:
    from benchfill.textbook.question import ArrangedQuestion
    from support.textbook_items import ItemCase


@dataclass(frozen=True)
class Planted:
    """An item with a fault; `arranged` where the fault is in the order of the options."""

    name: str
    code: str
    item: ItemCase
    arranged: ArrangedQuestion | None = None


def node(one: ItemCase, node_id: str, **changes: Any) -> ItemCase:
    nodes = tuple(n.model_copy(update=changes) if n.id == node_id else n for n in one.graph.nodes)
    return graph(one, nodes=nodes)


def graph(one: ItemCase, **changes: Any) -> ItemCase:
    return replace(one, graph=one.graph.model_copy(update=changes))


def question(one: ItemCase, **changes: Any) -> ItemCase:
    return replace(one, question=one.question.model_copy(update=changes))


def stem(one: ItemCase, old: str, new: str) -> ItemCase:
    assert old in one.question.stem
    return question(one, stem=one.question.stem.replace(old, new))


def before(one: ItemCase, text: str) -> ItemCase:
    return question(one, stem=f"{text} {one.question.stem}")


def option(one: ItemCase, number: int, text: str) -> ItemCase:
    changed = list(one.question.distractors)
    changed[number] = changed[number].model_copy(update={"text": text})
    return question(one, distractors=tuple(changed))


def error(one: ItemCase, number: int, **changes: Any) -> ItemCase:
    changed = list(one.question.distractors)
    made = changed[number].error.model_copy(update=changes)
    changed[number] = changed[number].model_copy(update={"error": made})
    return question(one, distractors=tuple(changed))


def edges_without(one: ItemCase, source: str, target: str) -> ItemCase:
    kept = tuple(e for e in one.graph.edges if (e.source, e.target) != (source, target))
    assert len(kept) < len(one.graph.edges)
    return graph(one, edges=kept)


def more(one: ItemCase, *edges: tuple[str, str], nodes: tuple[SolutionNode, ...] = ()) -> ItemCase:
    added = tuple(SolutionEdge(source=a, target=b, rule="arithmetic") for a, b in edges)
    return graph(one, edges=(*one.graph.edges, *added), nodes=(*one.graph.nodes, *nodes))


def lone(node_id: str, **changes: Any) -> SolutionNode:
    fields: dict[str, Any] = {"kind": "given", "statement": "a number", "value": "5"} | changes
    return SolutionNode(id=node_id, **fields)


def shallow() -> ItemCase:
    one = python.corner_block()
    kept = {"rows", "first_row", "last_column", "tall", "block"}
    nodes = tuple(n for n in one.graph.nodes if n.id in kept)
    edges = tuple(e for e in one.graph.edges if {e.source, e.target} <= kept)
    short = graph(one, nodes=nodes, edges=edges, answer="block")
    return question(short, answer="12")


def chain() -> ItemCase:
    """A graph in which each node follows from one other."""
    one = algebra.growth_factor()
    nodes = [lone("a0", value="500", concepts=("rate",))]
    for n in range(1, 6):
        value = str(500 + n)
        nodes.append(
            lone(f"a{n}", kind="computed", expression=f"a{n - 1} + 1", value=value,
                 concepts=("equation",))
        )  # fmt: skip
    edges = tuple(
        SolutionEdge(source=f"a{n}", target=f"a{n + 1}", rule="arithmetic") for n in range(5)
    )
    return graph(one, nodes=tuple(nodes), edges=edges, answer="a5")


def arranged(one: ItemCase, letter: str, **changes: Any) -> tuple[ItemCase, ArrangedQuestion]:
    return one, arrange(one.question, letter, seed=11).model_copy(update=changes)  # type: ignore[arg-type]


def _options_with_the_answer_twice() -> tuple[ItemCase, ArrangedQuestion]:
    one, made = arranged(algebra.probability_of_two(), "A")
    options = (made.options[0], "30/56", *made.options[2:])
    return one, made.model_copy(update={"options": options})


def _e_though_the_answer_stands_there() -> tuple[ItemCase, ArrangedQuestion]:
    one, made = arranged(algebra.compound_interest(), "E")
    return one, made.model_copy(update={"options": ("2100", *made.options[1:])})


def _key_at_a_distractor() -> tuple[ItemCase, ArrangedQuestion]:
    return arranged(python.stepped_primes(), "B", key="C")


def _answer_is_missing() -> tuple[ItemCase, ArrangedQuestion]:
    one, made = arranged(python.elif_chain(), "E")
    return one, made.model_copy(update={"key": "A"})


def _another_shuffle() -> tuple[ItemCase, ArrangedQuestion]:
    one, made = arranged(algebra.two_mixtures(), "D")
    options = (made.options[1], made.options[0], *made.options[2:])
    return one, made.model_copy(update={"options": options})


ZERO_WIDTH = "\u200b"

FAULTS: tuple[Planted, ...] = (
    Planted("circle of three", "cycle", more(python.stepped_primes(), ("answer", "subset"))),
    Planted("node that follows from itself", "cycle",
            more(algebra.dose_by_weight(), ("part", "part"))),
    Planted("node without edges", "orphan", more(python.elif_chain(), nodes=(lone("spare"),))),
    Planted("given that leads nowhere", "sinks",
            more(python.corner_block(), ("spare", "unused"), nodes=(
                lone("spare", value="60"),
                lone("unused", kind="computed", expression="spare + 0", value="60")))),
    Planted("answer in the middle", "answer_not_sink",
            graph(algebra.compound_interest(), answer="left")),
    Planted("answer that is no node", "unknown_node",
            graph(algebra.compound_interest(), answer="four")),
    Planted("edge from nowhere", "unknown_node",
            more(algebra.hypotenuse(), ("base", "square"))),
    Planted("two nodes of one id", "duplicate_node",
            more(algebra.hypotenuse(), nodes=(lone("foot"),))),
    Planted("rule that the chapter lacks", "unknown_rule",
            graph(algebra.meeting_trains(), edges=tuple(
                e.model_copy(update={"rule": "pythagoras"}) if e.target == "hours" else e
                for e in algebra.meeting_trains().graph.edges))),
    Planted("caveat for a rule", "unknown_rule",
            graph(python.files_and_plots(), edges=tuple(
                e.model_copy(update={"rule": "off-by-one"}) if e.target == "span" else e
                for e in python.files_and_plots().graph.edges))),
    Planted("concept that the chapter lacks", "unknown_concept",
            node(algebra.hypotenuse(), "first", concepts=("trigonometry",))),
    Planted("given that follows from something", "given_has_source",
            more(python.elif_chain(), ("low", "limit"))),
    Planted("no concept of the chapter", "too_few_concepts",
            graph(algebra.hypotenuse(), nodes=tuple(
                n.model_copy(update={"concepts": ()}) for n in algebra.hypotenuse().graph.nodes))),
    Planted("derived from nothing", "no_source",
            more(python.elif_chain(), ("extra", "codes"), nodes=(
                lone("extra", kind="inferred", value="nothing is added"),))),
    Planted("two steps only", "too_few_steps", shallow()),
    Planted("chain without fan-in", "no_fan_in", chain()),
    Planted("sum off by one", "wrong_value", node(algebra.remainder_of_a_sum(), "total",
                                                  value="1034")),
    Planted("wrong list", "wrong_value", node(python.stepped_primes(), "subset",
                                              value="[3, 11, 17]")),
    Planted("wrong string", "wrong_value", node(python.reversed_word(), "new", value="'notwen'")),
    Planted("wrong root", "wrong_value", node(algebra.quadratic_roots(), "roots",
                                              value="[2, 6]")),
    Planted("wrong expansion", "wrong_value", node(algebra.area_of_a_frame(), "frame",
                                                   value="4*s*w + 2*w^2")),
    Planted("wrong truth", "wrong_value", node(python.elif_chain(), "second", value="-1")),
    Planted("rounded the wrong way", "wrong_value",
            node(python.counting_vowels(), "percent", value="41.6")),
    Planted("rounded and not said", "wrong_value",
            node(python.counting_vowels(), "share", value="0.42")),
    Planted("power without end", "not_computable",
            node(algebra.remainder_of_a_sum(), "doubled", expression="upper ** upper ** upper")),
    Planted("division by zero", "not_computable",
            node(algebra.growth_factor(), "ratio", expression="goal / (start - 500)")),
    Planted("program for an expression", "bad_expression",
            node(algebra.remainder_of_a_sum(), "doubled",
                 expression="__import__('os').system('touch /tmp/x') + upper")),
    Planted("name that no edge brings", "undefined_symbol",
            edges_without(algebra.compound_interest(), "taken", "left")),
    Planted("name that nothing defines", "undefined_symbol",
            node(algebra.compound_interest(), "one", expression="start * (1 + interest)")),
    Planted("input that is not used", "unused_input",
            node(algebra.compound_interest(), "left", expression="two - 205")),
    Planted("computed without saying how", "no_expression",
            node(algebra.compound_interest(), "left", expression=None)),
    Planted("answer that the graph does not give", "answer_not_derived",
            question(algebra.meeting_trains(), answer="3 hours")),
    Planted("answer of words that the graph does not give", "answer_not_derived",
            question(python.copies_of_a_list(), answer="`safe` ends with 'cilantro'")),
    Planted("answer in another unit by mistake", "answer_not_derived",
            question(algebra.dose_by_weight(), answer="2.8 mg")),
    Planted("fraction beside its decimal", "several_right",
            option(algebra.meeting_trains(), 2, "5/2 hours")),
    Planted("the same time in minutes", "several_right",
            option(algebra.meeting_trains(), 3, "150 minutes")),
    Planted("expanded beside factored", "several_right",
            option(algebra.area_of_a_frame(), 1, r"$4w^2 + 4sw$")),
    Planted("same words in capitals", "several_right",
            option(algebra.better_offer(), 0, "OFFER TWO is  cheaper by $6.00.")),
    Planted("percent beside its share", "several_right",
            option(algebra.price_after_two_changes(), 0, "0.125")),
    Planted("two distractors alike", "same_options", option(python.elif_chain(), 0, "10.0")),
    Planted("number that its error does not give", "distractor_not_computed",
            option(python.files_and_plots(), 2, "27")),
    Planted("number without its error's sum", "distractor_not_computed",
            error(python.files_and_plots(), 2, wrong_expression=None)),
    Planted("error at no node", "error_unknown", error(python.elif_chain(), 1, node="fourth")),
    Planted("error about nothing taught", "error_unknown",
            error(algebra.two_mixtures(), 1, knowledge="recursion")),
    Planted("one error for two options", "error_not_distinct",
            error(algebra.better_offer(), 1, name="Forgets the fee")),
    Planted("section of the book", "source_reference",
            before(python.elif_chain(), "As shown in section 3, conditions are tried in order.")),
    Planted("figure above", "source_reference",
            before(algebra.hypotenuse(), "Look at the figure above.")),
    Planted("according to the text", "source_reference",
            before(python.diff_along_days(), "According to the text, axes are counted from 0.")),
    Planted("what the chapter says", "source_reference",
            before(python.copies_of_a_list(), "The chapter explains how names refer to lists.")),
    Planted("as we have seen", "source_reference",
            before(algebra.quadratic_roots(), "As we have seen, equations have roots.")),
    Planted("example by number", "source_reference",
            before(algebra.compound_interest(), "Use the method of Example 4.2.")),
    Planted("reference in an option", "source_reference",
            option(python.copies_of_a_list(), 2, "The case described in the previous chapter")),
    Planted("variable without a value", "undefined_symbol",
            stem(python.exponent_by_loop(), "result = 1\n", "result = start\n")),
    Planted("array that nobody introduces", "undefined_symbol",
            stem(python.diff_along_days(), "`steps[:, ::3]`", "`steps[:, ::stride]`")),
    Planted("letter of a formula without a meaning", "undefined_symbol",
            before(algebra.dose_by_weight(), "The level falls as D*r**k.")),
    Planted("number that the stem lacks", "given_not_stated",
            stem(algebra.dose_by_weight(), "24 mg per millilitre", "much of it")),
    Planted("list entry that the stem lacks", "given_not_stated",
            stem(python.stepped_primes(), "29, 31", "31")),
    Planted("stem that tells the answer", "answer_in_stem",
            before(algebra.hypotenuse(), "The correct answer is the shortest form.")),
    Planted("all of the above", "format", option(algebra.better_offer(), 3, "All of the above")),
    Planted("letter before an option", "format", option(algebra.better_offer(), 3,
                                                        "C) Both cost the same")),
    Planted("invisible character", "format",
            stem(algebra.better_offer(), "statement", f"state{ZERO_WIDTH}ment")),
    Planted("right answer twice on the page", "several_right",
            *_options_with_the_answer_twice()),
    Planted("E although the answer stands there", "e_right",
            *_e_though_the_answer_stands_there()),
    Planted("key at a distractor", "key_mismatch", *_key_at_a_distractor()),
    Planted("key where nothing is right", "none_right", *_answer_is_missing()),
    Planted("options not as recorded", "bad_shuffle", *_another_shuffle()),
)  # fmt: skip
