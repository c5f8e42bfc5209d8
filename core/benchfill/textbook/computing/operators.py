"""What the operators do to values, and how far they may go."""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING

import sympy

from .grammar import ExpressionError

if TYPE_CHECKING:
    from collections.abc import Callable

    from .evaluating import Value

MAX_BITS = 4_000  # of an exact number: some 1,200 digits
MAX_EXPONENT = 1_000
MAX_LENGTH = 10_000  # entries of a list, characters of a string

_OPERATIONS: dict[type[ast.operator], Callable[[sympy.Expr, sympy.Expr], sympy.Expr]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: lambda a, b: sympy.floor(a / b),
    ast.Mod: sympy.Mod,
}


def binary(op: ast.operator, left: Value, right: Value) -> Value:
    """Apply a binary operator. Raises ExpressionError where Python would refuse, or sooner."""
    if isinstance(left, str | list | tuple) or isinstance(right, str | list | tuple):
        return _of_sequences(op, left, right)
    a, b = _number(left), _number(right)
    if isinstance(op, ast.Pow):
        return power(a, b)
    if isinstance(op, ast.Div | ast.FloorDiv | ast.Mod) and b.is_zero:
        raise ExpressionError("divides by 0")
    return bounded(_OPERATIONS[type(op)](a, b))


def power(base: sympy.Expr, exponent: sympy.Expr) -> sympy.Expr:
    """Raise to a power whose size is known before it is computed."""
    if base.is_number and exponent.is_number:
        if base.is_zero and exponent.is_negative:
            raise ExpressionError("divides by 0")
        size = abs(sympy.N(exponent, 15))
        if not (size.is_real and size <= MAX_EXPONENT):
            raise ExpressionError(f"raises to a power beyond {MAX_EXPONENT}")
        if isinstance(base, sympy.Rational):
            bits = max(base.p.bit_length(), base.q.bit_length())
            if bits * float(size) > MAX_BITS:
                raise ExpressionError("raises to a power whose result is too long")
    elif exponent.is_number and abs(sympy.N(exponent, 15)) > 50:
        raise ExpressionError("raises a symbol to a power beyond 50")
    return bounded(base**exponent)


def bounded(value: sympy.Expr) -> sympy.Expr:
    """Return a number as it is. Raises ExpressionError when it is not finite or too long."""
    if value.has(sympy.zoo, sympy.nan, sympy.oo, -sympy.oo):
        raise ExpressionError("has no finite value")
    if isinstance(value, sympy.Rational):
        if max(value.p.bit_length(), value.q.bit_length()) > MAX_BITS:
            raise ExpressionError("has a result that is too long")
    elif value.count_ops() > 400:
        raise ExpressionError("has a result of too many terms")
    return value


def compare(op: ast.cmpop, left: Value, right: Value) -> bool:
    """Compare two values as Python does. Raises ExpressionError where that is not defined."""
    match op:
        case ast.Eq():
            return same(left, right)
        case ast.NotEq():
            return not same(left, right)
        case ast.In() | ast.NotIn():
            return _inside(left, right) is isinstance(op, ast.In)
    if isinstance(left, str) and isinstance(right, str):
        return _ordered(op, left < right, left > right)
    difference = _number(left) - _number(right)
    if not difference.is_number:
        raise ExpressionError("compares a symbol that has no value")
    return _ordered(op, bool(difference < 0), bool(difference > 0))


def same(left: Value, right: Value) -> bool:
    """Whether two values are equal; of expressions, whether their difference is 0."""
    if isinstance(left, str) or isinstance(right, str):
        return isinstance(left, str) and left == right
    if isinstance(left, list | tuple) or isinstance(right, list | tuple):
        return (
            isinstance(left, list | tuple)
            and isinstance(right, list | tuple)
            and isinstance(left, list) == isinstance(right, list)
            and len(left) == len(right)
            and all(same(a, b) for a, b in zip(left, right, strict=True))
        )
    if isinstance(left, bool) and isinstance(right, bool):
        return left == right
    difference = _number(left) - _number(right)
    if difference.is_number and not isinstance(difference, sympy.Rational):
        close = abs(sympy.N(difference, 40)) < sympy.Float("1e-30")
        return bool(close) and bool(sympy.simplify(difference) == 0)
    return bool(difference == 0 or sympy.simplify(difference) == 0)


def truth(value: Value) -> bool:
    """Whether Python takes a value for true."""
    if isinstance(value, sympy.Basic):
        if not value.is_number:
            raise ExpressionError("asks whether a symbol without a value is true")
        return bool(value != 0)
    return bool(value)


def _of_sequences(op: ast.operator, left: Value, right: Value) -> Value:
    if isinstance(op, ast.Add):
        for kind in (str, list, tuple):
            if isinstance(left, kind) and isinstance(right, kind):
                return _no_longer(left + right)  # type: ignore[operator]
    if isinstance(op, ast.Mult):
        sequence, times = (right, left) if isinstance(right, str | list | tuple) else (left, right)
        count = _number(times)
        if isinstance(sequence, str | list | tuple) and isinstance(count, sympy.Integer):
            if int(count) * len(sequence) > MAX_LENGTH:
                raise ExpressionError(f"makes more than {MAX_LENGTH} entries")
            return sequence * int(count)
    raise ExpressionError("joins what cannot be joined")


def _no_longer(value: str | list[Value] | tuple[Value, ...]) -> Value:
    if len(value) > MAX_LENGTH:
        raise ExpressionError(f"makes more than {MAX_LENGTH} entries")
    return value


def _number(value: Value) -> sympy.Expr:
    if isinstance(value, bool):
        return sympy.Integer(value)
    if isinstance(value, sympy.Expr):
        return value
    raise ExpressionError("computes with what is no number")


def _inside(left: Value, right: Value) -> bool:
    if isinstance(right, str):
        return isinstance(left, str) and left in right
    if isinstance(right, list | tuple):
        return any(same(left, one) for one in right)
    raise ExpressionError("looks into what is no list")


def _ordered(op: ast.cmpop, less: bool, greater: bool) -> bool:
    match op:
        case ast.Lt():
            return less
        case ast.Gt():
            return greater
        case ast.LtE():
            return not greater
        case ast.GtE():
            return not less
    raise ExpressionError("holds a comparison that is not allowed")
