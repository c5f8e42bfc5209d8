"""Checks of a solution graph: its structure, its rules, and its arithmetic.

All faults are returned at once, so that a designer can mend them in one go. The thresholds are
those of the Flame paper (docs/method.md, section 9).
"""

from __future__ import annotations

from collections import Counter
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

from .computing.grammar import CONSTANTS, ExpressionError, names_of, parse
from .computing.process import TooMuchToComputeError, shared_computer
from .finding import Finding
from .knowledge import CONCEPT_KINDS, RULE_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .computing.process import Computer
    from .knowledge import Knowledge
    from .solution_graph import SolutionGraph, SolutionNode

MIN_STEPS = 4
"""Derived nodes on the longest path to the answer."""
MIN_CONCEPTS = 2
"""Concepts (or definitions) of the chapter that the nodes are about."""


def check_graph(
    graph: SolutionGraph, knowledge: Knowledge, computer: Computer | None = None
) -> tuple[Finding, ...]:
    """Return what is wrong with a graph; nothing where it holds.

    Structure: no cycle; one sink, which is the answer; no node without edges; what is given comes
    from nothing, and what is derived from something; `MIN_STEPS`, fan-in and `MIN_CONCEPTS`. Rules:
    each edge names a rule of the chapter. Arithmetic: each computed node is re-computed from the
    nodes that it comes from, in a process with limits of time and memory.

    Parameters
    ----------
    graph, knowledge
        The graph, and the knowledge of the chapter that it uses.
    computer
        Process that computes; by default one that is shared by all callers.

    Raises
    ------
    InputError
        SymPy is not installed.
    """
    found = [*_identity(graph)]
    if found:
        return tuple(found)
    found += [*_structure(graph), *_rules(graph, knowledge), *_names(graph)]
    order = linear_order(graph)
    if order is None:
        return tuple(found)
    found += _depth(graph, order)
    # A node with a fault of its own is not computed, and nor is what has to wait for its mending.
    broken = {one.where for one in found if one.code in _NOT_COMPUTED}
    found += _arithmetic(graph, order, broken, computer or shared_computer())
    return tuple(found)


def linear_order(graph: SolutionGraph) -> tuple[str, ...] | None:
    """Return the ids with each node after those that it comes from.

    None where there is a cycle, or an edge names a node that is not there.
    """
    ends = {end for edge in graph.edges for end in (edge.source, edge.target)}
    if not ends <= graph.by_id.keys():
        return None
    try:
        return tuple(
            TopologicalSorter(
                {node.id: graph.predecessors(node.id) for node in graph.nodes}
            ).static_order()
        )
    except CycleError:
        return None


def trace_request(graph: SolutionGraph) -> dict[str, Any]:
    """Return a graph as the computing process takes it: nodes in their order, and free symbols."""
    order = linear_order(graph) or ()
    return {
        "nodes": [graph.by_id[node_id].model_dump(mode="json") for node_id in order],
        "symbols": list(graph.symbols),
    }


_NOT_COMPUTED = frozenset({"bad_expression", "undefined_symbol", "no_expression"})


def _identity(graph: SolutionGraph) -> Iterator[Finding]:
    for node_id, count in Counter(node.id for node in graph.nodes).items():
        if count > 1:
            yield Finding(
                code="duplicate_node",
                where=node_id,
                message=f"{count} nodes have the id {node_id}.",
            )
        if node_id in graph.symbols or node_id in CONSTANTS:
            yield Finding(
                code="duplicate_node",
                where=node_id,
                message=f"The node {node_id} has the name of a free symbol; rename the node.",
            )
    known = graph.by_id
    for edge in graph.edges:
        for end in (edge.source, edge.target):
            if end not in known:
                yield Finding(
                    code="unknown_node",
                    where=f"{edge.source} -> {edge.target}",
                    message=f"The edge {edge.source} -> {edge.target} names {end}, which is no "
                    "node.",
                )
    if graph.answer not in known:
        yield Finding(
            code="unknown_node",
            where="answer",
            message=f"The answer is said to be {graph.answer}, which is no node.",
        )


def _structure(graph: SolutionGraph) -> Iterator[Finding]:
    try:
        TopologicalSorter({n.id: graph.predecessors(n.id) for n in graph.nodes}).prepare()
    except CycleError as error:
        path = " -> ".join(reversed(error.args[1]))
        yield Finding(code="cycle", where=path, message=f"The nodes go in a circle: {path}.")
        return
    sources = {edge.source for edge in graph.edges}
    targets = {edge.target for edge in graph.edges}
    for node in graph.nodes:
        if node.id not in sources | targets and len(graph.nodes) > 1:
            yield Finding(
                code="orphan",
                where=node.id,
                message=f"The node {node.id} has no edge; use it on the way to the answer, or "
                "remove it.",
            )
        elif node.id not in sources and node.id != graph.answer:
            yield Finding(
                code="sinks",
                where=node.id,
                message=f"Nothing follows from the node {node.id}, which is not the answer; use it "
                "on the way to the answer, or remove it.",
            )
        if node.kind == "given" and node.id in targets:
            yield Finding(
                code="given_has_source",
                where=node.id,
                message=f"The node {node.id} is said to be given, but an edge leads to it.",
            )
        if node.kind != "given" and node.id not in targets:
            yield Finding(
                code="no_source",
                where=node.id,
                message=f"The node {node.id} is {node.kind}, but no edge leads to it; draw what it "
                "follows from.",
            )
    if graph.answer in sources:
        yield Finding(
            code="answer_not_sink",
            where=graph.answer,
            message=f"The answer {graph.answer} is no end of the graph: more follows from it.",
        )


def _rules(graph: SolutionGraph, knowledge: Knowledge) -> Iterator[Finding]:
    known = knowledge.by_id
    for edge in graph.edges:
        where = f"{edge.source} -> {edge.target}"
        if edge.rule not in known:
            yield Finding(
                code="unknown_rule",
                where=where,
                message=f"The edge {where} names the rule {edge.rule!r}, which the chapter does "
                "not have.",
            )
        elif known[edge.rule].kind not in RULE_KINDS:
            yield Finding(
                code="unknown_rule",
                where=where,
                message=f"The edge {where} names {edge.rule!r}, which is a "
                f"{known[edge.rule].kind} and no rule, procedure, definition or relationship.",
            )
    for node in graph.nodes:
        for concept in node.concepts:
            if concept not in known:
                yield Finding(
                    code="unknown_concept",
                    where=node.id,
                    message=f"The node {node.id} names the concept {concept!r}, which the chapter "
                    "does not have.",
                )
    used = {
        concept
        for node in graph.nodes
        for concept in node.concepts
        if concept in known and known[concept].kind in CONCEPT_KINDS
    } | {edge.rule for edge in graph.edges
         if edge.rule in known and known[edge.rule].kind in CONCEPT_KINDS}  # fmt: skip
    if len(used) < MIN_CONCEPTS:
        yield Finding(
            code="too_few_concepts",
            where="graph",
            message=f"The nodes are about {len(used)} concept(s) of the chapter; at least "
            f"{MIN_CONCEPTS} must work together.",
        )


def _depth(graph: SolutionGraph, order: tuple[str, ...]) -> Iterator[Finding]:
    steps: dict[str, int] = {}
    for node_id in order:
        before = max((steps[one] for one in graph.predecessors(node_id)), default=0)
        steps[node_id] = before + (graph.by_id[node_id].kind != "given")
    if steps[graph.answer] < MIN_STEPS:
        yield Finding(
            code="too_few_steps",
            where="graph",
            message=f"The longest way to the answer has {steps[graph.answer]} derived node(s); at "
            f"least {MIN_STEPS} must follow one from another.",
        )
    if all(len(graph.predecessors(node_id)) < 2 for node_id in order):
        yield Finding(
            code="no_fan_in",
            where="graph",
            message="No node follows from two others; at least one result must join two ways.",
        )


def _names(graph: SolutionGraph) -> Iterator[Finding]:
    for node in graph.nodes:
        if node.kind != "computed":
            if node.expression is not None or node.solve_for is not None:
                yield Finding(
                    code="bad_expression",
                    where=node.id,
                    message=f"The node {node.id} is {node.kind} and has an expression; only "
                    "computed nodes have one.",
                )
            continue
        yield from _names_of_computed(graph, node)


def _names_of_computed(graph: SolutionGraph, node: SolutionNode) -> Iterator[Finding]:
    if node.expression is None:
        yield Finding(
            code="no_expression",
            where=node.id,
            message=f"The node {node.id} is computed but has no expression.",
        )
        return
    try:
        used = names_of(node.expression, equation=node.solve_for is not None)
        parse(node.value)
    except ExpressionError as error:
        what = "value" if _parses(node) else "expression"
        yield Finding(
            code="bad_expression",
            where=node.id,
            message=f"The {what} of the node {node.id} {error}.",
        )
        return
    before = graph.predecessors(node.id)
    allowed = {*before, *graph.symbols}
    if node.solve_for is not None and node.solve_for not in graph.symbols:
        yield Finding(
            code="undefined_symbol",
            where=node.id,
            message=f"The node {node.id} solves for {node.solve_for!r}, which is no free symbol of "
            "the graph.",
        )
    for name in sorted(used - allowed):
        told = "no edge comes from it" if name in graph.by_id else "nothing defines it"
        yield Finding(
            code="undefined_symbol",
            where=node.id,
            message=f"The expression of the node {node.id} uses {name!r}, but {told}.",
        )
    for name in before:
        if name not in used and _is_value(graph.by_id[name], graph):
            yield Finding(
                code="unused_input",
                where=node.id,
                message=f"An edge leads from {name} to {node.id}, whose expression does not use "
                f"{name}.",
            )


def _parses(node: SolutionNode) -> bool:
    try:
        names_of(node.expression or "", equation=node.solve_for is not None)
    except ExpressionError:
        return False
    return True


def _is_value(node: SolutionNode, graph: SolutionGraph) -> bool:
    """Whether a node holds something that can be computed with, and not words."""
    try:
        names = parse(node.value).names
    except ExpressionError:
        return False
    return node.kind == "computed" or names <= set(graph.symbols)


def _arithmetic(
    graph: SolutionGraph, order: tuple[str, ...], broken: set[str], computer: Computer
) -> Iterator[Finding]:
    waiting = set(broken)
    for node_id in order:
        if any(one in waiting for one in graph.predecessors(node_id)):
            waiting.add(node_id)
    request = trace_request(graph)
    request["nodes"] = [node for node in request["nodes"] if node["id"] not in waiting]
    try:
        traced: Mapping[str, Any] = computer.ask("trace", request)
    except TooMuchToComputeError as error:
        yield Finding(
            code="not_computable",
            where="graph",
            message=f"The graph cannot be re-computed within its limits ({error}); use smaller "
            "numbers and simpler expressions.",
        )
        return
    for node_id, result in traced.items():
        if result["problem"] is not None:
            yield Finding(
                code="not_computable",
                where=node_id,
                message=f"The expression of the node {node_id} {result['problem']}.",
            )
        elif not result["agrees"]:
            node = graph.by_id[node_id]
            rounding = "" if node.decimals is None else f" rounded to {node.decimals} decimals"
            yield Finding(
                code="wrong_value",
                where=node_id,
                message=f"The node {node_id} says {node.value:.200}, but {node.expression:.200} is "
                f"{result['computed']}{rounding}.",
            )
