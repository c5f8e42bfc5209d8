"""The grammar of expressions: what a text may say, before anything is computed.

Numbers, names, ``+ - * / // % **`` (``^`` is a power), comparisons, ``and or not``, ``in``, ``a if
c else b``, lists, tuples, quoted strings, ``x[i]``, ``x[a:b:c]``, and calls of `FUNCTIONS`. There
are no attributes, no keywords, no comprehensions and no other calls.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass

MAX_CHARACTERS = 2_000
MAX_NODES = 400
MAX_NESTING = 40
MAX_DIGITS = 200

FUNCTIONS = frozenset(
    {
        "abs", "sqrt", "exp", "log", "log10", "log2", "sin", "cos", "tan", "floor", "ceil", "round",
        "min", "max", "sum", "mean", "len", "range", "sorted", "factorial", "gcd", "str", "int",
    }
)  # fmt: skip
CONSTANTS = frozenset({"pi"})

_ALLOWED = (
    ast.Expression, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Constant,
    ast.Name, ast.Call, ast.List, ast.Tuple, ast.Subscript, ast.Slice, ast.Load,
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.UAdd, ast.USub,
    ast.Not, ast.And, ast.Or, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In,
    ast.NotIn,
)  # fmt: skip
_STRING = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"")
_EQUALS = re.compile(r"(?<![=<>!])=(?!=)")
_SIGNS = str.maketrans({"−": "-", "–": "-", "×": "*", "·": "*", "÷": "/", "≤": "<=", "≥": ">="})


class ExpressionError(ValueError):
    """A text is no expression of the grammar, or asks for too much."""


@dataclass(frozen=True)
class Parsed:
    """An expression's tree, its text with signs in ASCII, and the names that it uses."""

    tree: ast.expr
    text: str
    names: frozenset[str]


def parse(text: str) -> Parsed:
    """Read one expression.

    Raises
    ------
    ExpressionError
        Says in a few words what is not allowed.
    """
    if len(text) > MAX_CHARACTERS:
        raise ExpressionError(f"is longer than {MAX_CHARACTERS} characters")
    plain = _outside_strings(text.strip())
    if _nesting(plain) > MAX_NESTING:
        raise ExpressionError(f"is nested more than {MAX_NESTING} deep")
    if re.search(rf"[0-9]{{{MAX_DIGITS + 1}}}", plain):
        raise ExpressionError(f"holds a number of more than {MAX_DIGITS} digits")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "2if x else 3" and the like
            tree = ast.parse(plain, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ExpressionError("is no expression of the grammar") from None
    nodes = list(ast.walk(tree))
    if len(nodes) > MAX_NODES:
        raise ExpressionError(f"has more than {MAX_NODES} parts")
    for node in nodes:
        _check(node)
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    names = {n.id for n in nodes if isinstance(n, ast.Name) and id(n) not in called}
    return Parsed(tree, plain, frozenset(names - CONSTANTS))


def parse_equation(text: str) -> tuple[Parsed, Parsed]:
    """Read ``LEFT = RIGHT``.

    Raises
    ------
    ExpressionError
        It is no equation.
    """
    sides = _EQUALS.split(text.strip())
    if len(sides) == 1:
        sides = text.split("==")
    if len(sides) != 2:
        raise ExpressionError("is no equation; write LEFT = RIGHT")
    return parse(sides[0]), parse(sides[1])


def names_of(text: str, *, equation: bool = False) -> frozenset[str]:
    """Return the names that a text uses. Raises ExpressionError."""
    if equation:
        left, right = parse_equation(text)
        return left.names | right.names
    return parse(text).names


def _outside_strings(text: str) -> str:
    """Put signs that people write into ASCII, where they stand in no quoted string."""
    parts: list[str] = []
    at = 0
    for match in _STRING.finditer(text):
        parts += [text[at : match.start()].translate(_SIGNS).replace("^", "**"), match.group()]
        at = match.end()
    parts.append(text[at:].translate(_SIGNS).replace("^", "**"))
    return "".join(parts)


def _nesting(text: str) -> int:
    depth = deepest = 0
    for character in text:
        if character in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]}":
            depth -= 1
    signs = re.findall(r"(?:[-+~]\s*){2,}|(?:\bnot\s+){2,}", text)
    return max([deepest, *(len(run.split() if "not" in run else run) for run in signs)])


def _check(node: ast.AST) -> None:
    if not isinstance(node, _ALLOWED):
        raise ExpressionError(f"holds {_word(node)}, which is not allowed")
    if isinstance(node, ast.Call):
        if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS:
            called = node.func.id if isinstance(node.func, ast.Name) else "something"
            raise ExpressionError(f"calls {called!r}, which is no function of the grammar")
        if node.keywords or any(isinstance(one, ast.Starred) for one in node.args):
            raise ExpressionError("gives a function more than plain values")
    if isinstance(node, ast.Constant) and not isinstance(node.value, bool | int | float | str):
        raise ExpressionError(f"holds {node.value!r:.40}, which is not allowed")
    if isinstance(node, ast.Name) and node.id.startswith("_"):
        raise ExpressionError(f"uses the name {node.id!r}, which is not allowed")


def _word(node: ast.AST) -> str:
    words = {ast.Attribute: "a dot behind a name", ast.Lambda: "a function", ast.Dict: "a mapping"}
    return words.get(type(node), f"a {type(node).__name__}")
