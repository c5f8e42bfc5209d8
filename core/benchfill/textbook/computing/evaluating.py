"""Walks a tree of the grammar with exact SymPy numbers; everything that grows is bounded.

A value is a SymPy expression (numbers are exact: ``0.1`` is 1/10), a bool, a str, a list or a
tuple.
"""

from __future__ import annotations

import ast
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, TypeAlias

import sympy

from . import functions
from .grammar import ExpressionError, parse, parse_equation
from .operators import binary, compare, truth

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .grammar import Parsed

Value: TypeAlias = "sympy.Basic | bool | str | list[Value] | tuple[Value, ...]"

MAX_EXPONENT_OF_TEN = 300
_CONSTANTS = {"pi": sympy.pi}


def evaluate(text: str, names: Mapping[str, Value]) -> Value:
    """Return the value of an expression over names.

    Raises
    ------
    ExpressionError
        It is not of the grammar, uses a name that has no value, or asks for too much.
    """
    return value_of(parse(text), names)


def value_of(parsed: Parsed, names: Mapping[str, Value]) -> Value:
    """Return the value of what was parsed. Raises ExpressionError."""
    try:
        return _Walk(parsed.text, names).value(parsed.tree)
    except RecursionError:
        raise ExpressionError("is nested too deeply") from None
    except (ArithmeticError, TypeError, ValueError, IndexError, AttributeError) as error:
        if isinstance(error, ExpressionError):
            raise
        raise ExpressionError(f"cannot be computed ({error})") from None


def solutions(text: str, unknown: str, names: Mapping[str, Value]) -> list[Value]:
    """Return the real solutions of ``LEFT = RIGHT`` for a symbol, in ascending order.

    Raises
    ------
    ExpressionError
        It is no equation, or SymPy finds no finite set of solutions.
    """
    left, right = parse_equation(text)
    inside = dict(names) | {unknown: sympy.Symbol(unknown, real=True)}
    gap = functions.number(value_of(left, inside)) - functions.number(value_of(right, inside))
    found = sympy.solveset(gap, inside[unknown], sympy.S.Reals)
    if found is sympy.S.EmptySet:
        return []
    if not isinstance(found, sympy.FiniteSet):
        raise ExpressionError("has no finite set of real solutions that could be found")
    return [sympy.simplify(one) for one in sorted(found, key=sympy.default_sort_key)]


class _Walk:
    def __init__(self, text: str, names: Mapping[str, Value]) -> None:
        self._text, self._names = text, names

    def value(self, node: ast.expr) -> Value:  # noqa: PLR0911 - one for each kind of node
        match node:
            case ast.Constant():
                return self._constant(node)
            case ast.Name(id=name):
                return self._name(name)
            case ast.UnaryOp(op=op, operand=operand):
                return self._unary(op, self.value(operand))
            case ast.BinOp(op=op, left=left, right=right):
                return binary(op, self.value(left), self.value(right))
            case ast.BoolOp(op=op, values=values):
                return self._bool(op, values)
            case ast.Compare():
                return self._compare(node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.value(body if truth(self.value(test)) else orelse)
            case ast.List(elts=elements):
                return [self.value(one) for one in elements]
            case ast.Tuple(elts=elements):
                return tuple(self.value(one) for one in elements)
            case ast.Subscript(value=value, slice=index):
                return self._subscript(self.value(value), index)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return functions.call(name, [self.value(one) for one in arguments])
        raise ExpressionError("is no expression of the grammar")

    def _constant(self, node: ast.Constant) -> Value:
        if isinstance(node.value, bool | str):
            return node.value
        if isinstance(node.value, int):
            return sympy.Integer(node.value)
        try:
            written = Decimal(ast.get_source_segment(self._text, node) or repr(node.value))
        except InvalidOperation:
            written = Decimal(repr(node.value))
        if not written.is_finite() or abs(written.adjusted()) > MAX_EXPONENT_OF_TEN:
            raise ExpressionError(f"holds a number beyond 1e{MAX_EXPONENT_OF_TEN}")
        return sympy.Rational(*written.as_integer_ratio())

    def _name(self, name: str) -> Value:
        if name in self._names:
            return self._names[name]
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        raise ExpressionError(f"uses {name!r}, which has no value")

    def _unary(self, op: ast.unaryop, operand: Value) -> Value:
        if isinstance(op, ast.Not):
            return not truth(operand)
        number = functions.number(operand)
        return -number if isinstance(op, ast.USub) else number

    def _bool(self, op: ast.boolop, values: list[ast.expr]) -> Value:
        result: Value = isinstance(op, ast.And)
        for one in values:
            result = self.value(one)
            if truth(result) is not isinstance(op, ast.And):
                return result
        return result

    def _compare(self, node: ast.Compare) -> Value:
        left = self.value(node.left)
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.value(right_node)
            if not compare(op, left, right):
                return False
            left = right
        return True

    def _subscript(self, value: Value, index: ast.expr) -> Value:
        if not isinstance(value, list | tuple | str):
            raise ExpressionError("takes an index of what is no list")
        if isinstance(index, ast.Slice):
            bounds = (index.lower, index.upper, index.step)
            whole = [None if one is None else functions.whole(self.value(one)) for one in bounds]
            return value[slice(*whole)]
        return value[functions.whole(self.value(index))]
