"""Computes a solution graph node by node, and what an error at one node makes of its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sympy

from .evaluating import evaluate, solutions
from .functions import rounded
from .grammar import ExpressionError, parse
from .operators import same

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .evaluating import Value


@dataclass(frozen=True)
class Traced:
    """What came of one node."""

    value: Value | None
    """What the node holds for those after it; None where it is words."""
    exact: Value | None = None
    """What was computed, before rounding."""
    agrees: bool = True
    problem: str | None = None
    """Why it could not be computed."""


Node = dict[str, Any]
"""A `SolutionNode` as JSON."""


def trace(
    nodes: Iterable[Node], symbols: Mapping[str, Value], wrong: Mapping[str, str] | None = None
) -> dict[str, Traced]:
    """Compute nodes in the given order, which must be one of their dependencies.

    Parameters
    ----------
    nodes
        Nodes, each after those that it comes from.
    symbols
        Free symbols.
    wrong
        Expressions that are computed at nodes instead of their own, carried on from there.
        A node that does not compute from numbers ends the trace: those after it have no value.
    """
    found: dict[str, Traced] = {}
    known: dict[str, Value] = dict(symbols)
    for node in nodes:
        result = _node(node, symbols, known, wrong)
        found[node["id"]] = result
        if result.value is not None:
            known[node["id"]] = result.value
    return found


def free_symbols(names: Iterable[str]) -> dict[str, Value]:
    """Return real SymPy symbols by name."""
    return {name: sympy.Symbol(name, real=True) for name in names}


def _node(
    node: Node,
    symbols: Mapping[str, Value],
    known: Mapping[str, Value],
    wrong: Mapping[str, str] | None,
) -> Traced:
    try:
        if wrong is not None and node["id"] in wrong:
            return _mistaken(node, known, wrong[node["id"]])
        if node["kind"] != "computed":
            return Traced(_stated(node, symbols))
        exact = _computed(node, node["expression"], known)
    except ExpressionError as error:
        return Traced(None, agrees=False, problem=str(error))
    return Traced(_held(node, exact), exact) if wrong is not None else _claim(node, exact, symbols)


def _claim(node: Node, exact: Value, symbols: Mapping[str, Value]) -> Traced:
    try:
        declared = evaluate(node["value"], symbols)
    except ExpressionError as error:
        if isinstance(exact, str):
            return Traced(exact, exact, agrees=node["value"] == exact)
        return Traced(exact, exact, agrees=False, problem=f"its value {error}")
    # An error downstream of a wrong value is not told again: what follows computes with the claim.
    return Traced(declared, exact, agrees=agree(declared, exact, node.get("decimals")))


def agree(declared: Value, exact: Value, decimals: int | None) -> bool:
    """Whether a claimed value is the computed one, rounded if it says so (halves either way)."""
    if decimals is None or not isinstance(exact, sympy.Expr) or not exact.is_number:
        return same(declared, exact)
    if not isinstance(declared, sympy.Rational):
        return False
    unit = sympy.Integer(10) ** -decimals
    whole = (declared / unit).is_integer
    return bool(whole and abs(declared - exact) <= unit / 2)


def _mistaken(node: Node, known: Mapping[str, Value], expression: str) -> Traced:
    if node.get("solve_for") and _is_equation(expression):
        exact = _computed(node, expression, known)
    else:
        exact = evaluate(expression, known)
    return Traced(_held(node, exact), exact)


def _held(node: Node, exact: Value) -> Value:
    decimals = node.get("decimals")
    if decimals is None or not isinstance(exact, sympy.Expr) or not exact.is_number:
        return exact
    return rounded(exact, decimals)


def _computed(node: Node, expression: str, known: Mapping[str, Value]) -> Value:
    unknown = node.get("solve_for")
    if not unknown:
        return evaluate(expression, known)
    roots = solutions(expression, unknown, {k: v for k, v in known.items() if k != unknown})
    if not roots:
        raise ExpressionError("has no real solution")
    return roots[0] if len(roots) == 1 else roots


def _stated(node: Node, symbols: Mapping[str, Value]) -> Value | None:
    """Return the value of what is given or inferred; None where it is words."""
    try:
        used = parse(node["value"]).names
        return evaluate(node["value"], symbols) if used <= symbols.keys() else None
    except ExpressionError:
        return None


def _is_equation(text: str) -> bool:
    return "=" in text.replace("==", "").replace("<=", "").replace(">=", "").replace("!=", "")
