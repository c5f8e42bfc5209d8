"""The functions of the grammar."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import sympy

from .grammar import ExpressionError
from .operators import MAX_LENGTH, bounded, power

if TYPE_CHECKING:
    from collections.abc import Callable

    from .evaluating import Value

MAX_FACTORIAL = 200
_ONE: dict[str, Callable[[sympy.Expr], sympy.Expr]] = {
    "abs": sympy.Abs,
    "sqrt": sympy.sqrt,
    "exp": lambda x: power(sympy.E, x),
    "sin": sympy.sin,
    "cos": sympy.cos,
    "tan": sympy.tan,
    "floor": sympy.floor,
    "ceil": sympy.ceiling,
    "log10": lambda x: sympy.log(x, 10),
    "log2": lambda x: sympy.log(x, 2),
}
_OF_LIST = {"sum", "mean", "min", "max"}


def call(name: str, arguments: list[Value]) -> Value:  # noqa: PLR0911, PLR0912 - a table
    """Call a function. Raises ExpressionError where the arguments don't fit."""
    if name in _ONE:
        return bounded(_ONE[name](number(_only(name, arguments))))
    if name in _OF_LIST:
        return _of_list(name, arguments)
    match name, arguments:
        case "log", [x]:
            return bounded(sympy.log(number(x)))
        case "log", [x, base]:
            return bounded(sympy.log(number(x), number(base)))
        case "round", [x]:
            return rounded(number(x), 0)
        case "round", [x, places]:
            return rounded(number(x), whole(places))
        case "len", [list() | tuple() | str() as one]:
            return sympy.Integer(len(one))
        case "range", [_] | [_, _] | [_, _, _]:
            counted = range(*(whole(one) for one in arguments))
            if len(counted) > MAX_LENGTH:
                raise ExpressionError(f"counts over more than {MAX_LENGTH} numbers")
            return [sympy.Integer(one) for one in counted]
        case "sorted", [list() | tuple() as one]:
            return _sorted(list(one))
        case "factorial", [x]:
            if not 0 <= whole(x) <= MAX_FACTORIAL:
                raise ExpressionError(f"takes a factorial beyond {MAX_FACTORIAL}")
            return sympy.factorial(whole(x))
        case "gcd", [a, b]:
            return sympy.Integer(sympy.igcd(whole(a), whole(b)))
        case "str", [str() | bool() as one]:
            return str(one)
        case "str", [x]:
            return str(number(x))
        case "int", [x]:
            return sympy.Integer(int(number(x)))
    raise ExpressionError(f"gives {name!r} what it cannot take")


def number(value: Value) -> sympy.Expr:
    """Return a number or an expression. Raises ExpressionError for anything else."""
    if isinstance(value, bool):
        return sympy.Integer(value)
    if isinstance(value, sympy.Expr):
        return value
    raise ExpressionError("computes with what is no number")


def whole(value: Value) -> int:
    """Return a whole number. Raises ExpressionError for anything else."""
    exact = number(value)
    if not isinstance(exact, sympy.Integer):
        raise ExpressionError("needs a whole number")
    return int(exact)


def rounded(value: sympy.Expr, decimals: int) -> sympy.Expr:
    """Round to decimals; halves go to the even neighbour, as Python's do."""
    if not -15 <= decimals <= 15:
        raise ExpressionError("rounds to more than 15 places")
    if not value.is_number:
        raise ExpressionError("rounds a symbol that has no value")
    scale = sympy.Integer(10) ** decimals
    return _nearest_whole(value * scale) / scale


def _nearest_whole(value: sympy.Expr) -> sympy.Integer:
    if isinstance(value, sympy.Rational):
        return sympy.Integer(round(Fraction(value.p, value.q)))
    if not value.is_real:
        raise ExpressionError("rounds what is no real number")
    return sympy.floor(value + sympy.Rational(1, 2))  # an irrational number is never halfway


def _only(name: str, arguments: list[Value]) -> Value:
    if len(arguments) != 1:
        raise ExpressionError(f"gives {name!r} {len(arguments)} values instead of one")
    return arguments[0]


def _of_list(name: str, arguments: list[Value]) -> Value:
    single = arguments[0] if len(arguments) == 1 else arguments
    values = list(single) if isinstance(single, list | tuple) else [single]
    if name == "sum":
        return bounded(sympy.Add(*(number(one) for one in values)))
    if not values:
        raise ExpressionError(f"takes the {name} of nothing")
    if name == "mean":
        return bounded(sympy.Add(*(number(one) for one in values)) / len(values))
    ordered = _sorted(values)
    return ordered[0] if name == "min" else ordered[-1]


def _sorted(values: list[Value]) -> list[Value]:
    if all(isinstance(one, str) for one in values):
        return sorted(values)
    exact = [number(one) for one in values]
    if not all(one.is_real for one in exact):
        raise ExpressionError("puts values in order that have none")
    return [*sorted(exact)]
