"""Options as people write them: a number with a unit, an expression, a list, or words."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sympy

from .evaluating import evaluate
from .grammar import ExpressionError
from .operators import same

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .evaluating import Value

_CURRENCY = {"$": "dollar", "€": "euro", "£": "pound"}
# How many of the base unit one is; the base unit of a kind is the first with factor 1.
_UNITS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("%", "percent", "per cent"), ("", "1/100")),
    **dict.fromkeys(("kg", "kilogram", "kilograms"), ("mass", "1000")),
    **dict.fromkeys(("g", "gram", "grams"), ("mass", "1")),
    **dict.fromkeys(("mg", "milligram", "milligrams"), ("mass", "1/1000")),
    **dict.fromkeys(("µg", "μg", "ug", "microgram", "micrograms"), ("mass", "1/1000000")),
    **dict.fromkeys(("km", "kilometre", "kilometres", "kilometer", "kilometers"),
                    ("length", "1000")),
    **dict.fromkeys(("m", "metre", "metres", "meter", "meters"), ("length", "1")),
    **dict.fromkeys(("cm", "centimetre", "centimetres", "centimeter", "centimeters"),
                    ("length", "1/100")),
    **dict.fromkeys(("mm", "millimetre", "millimetres", "millimeter", "millimeters"),
                    ("length", "1/1000")),
    **dict.fromkeys(("l", "L", "litre", "litres", "liter", "liters"), ("volume", "1")),
    **dict.fromkeys(("ml", "mL", "millilitre", "millilitres", "milliliter", "milliliters"),
                    ("volume", "1/1000")),
    **dict.fromkeys(("week", "weeks"), ("time", "604800")),
    **dict.fromkeys(("day", "days"), ("time", "86400")),
    **dict.fromkeys(("h", "hour", "hours"), ("time", "3600")),
    **dict.fromkeys(("min", "minute", "minutes"), ("time", "60")),
    **dict.fromkeys(("s", "second", "seconds"), ("time", "1")),
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), ("time", "1/1000")),
}  # fmt: skip
_NUMBER = r"[-+−–]?\s?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,3})?"
_QUANTITY = re.compile(
    rf"(?P<currency>[$€£])?\s?(?P<number>{_NUMBER}(?:\s?/\s?[0-9]+)?)\s?(?P<unit>[^\d\s].{{0,40}})?"
)
_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_ROOT = re.compile(r"\\sqrt\s*\{([^{}]*)\}")
_IMPLICIT = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s?(?=[A-Za-z(])")
_LATEX = re.compile(
    r"(?:\$\$?([^$]+)\$?\$|\\[(\[](.+)\\[)\]])(?P<unit>\s?[^\d\s$].{0,30})?", re.DOTALL
)
_MARKS = " \t\r\n.;:!?\"'`*“”‘’"


@dataclass(frozen=True)
class Quantity:
    """What an option says: a value with its unit, or words alone."""

    text: str
    """The text with case, width, white space and outer marks folded."""
    value: Value | None
    unit: str = ""


def read_option(text: str, symbols: Mapping[str, Value], unit: str | None = None) -> Quantity:
    """Read an option's text.

    Parameters
    ----------
    text
        The option; code fences, backticks and dollar signs of LaTeX are taken off.
    symbols
        Free symbols that expressions may use.
    unit
        Unit of the graph's answer: in whatever words, it is a unit here too.
    """
    folded = fold(text)
    bare = _bare(text)
    measured = _measured(bare, unit)
    if measured is not None:
        return Quantity(folded, *measured)
    if unit and bare.endswith(unit):
        bare = bare[: -len(unit)].strip()
        named = unit
    else:
        named = ""
    for attempt in (bare, _with_signs(bare, symbols)):
        try:
            return Quantity(folded, evaluate(attempt, symbols), named)
        except ExpressionError:
            continue
    return Quantity(folded, None)


def _measured(bare: str, unit: str | None) -> tuple[Value, str] | None:
    """Read a number with a unit or a currency; None for anything else."""
    found = _QUANTITY.fullmatch(bare)
    named = None if found is None else _unit(found["unit"], unit)
    if found is None or named is None:
        return None
    if found["currency"]:
        named = named or _CURRENCY[found["currency"]]
    try:
        return evaluate(re.sub(r"[,\s]", "", found["number"]), {}), named
    except ExpressionError:
        return None


def _with_signs(text: str, symbols: Mapping[str, Value]) -> str:
    """Write the multiplication signs that people leave out: 3n, 2sw, 4w(s + 1)."""
    letters = "".join(re.escape(one) for one in symbols if len(one) == 1)
    if letters:
        products = rf"(?<![A-Za-z])[{letters}]{{2,}}(?![A-Za-z])"
        text = re.sub(products, lambda match: "*".join(match.group()), text)
        text = re.sub(rf"(?<![A-Za-z])([{letters}])\s?(?=\()", r"\1*", text)
    return re.sub(r"\)\s?(?=[(\w])", ")*", _IMPLICIT.sub(r"\1*", text))


def fold(text: str) -> str:
    """Fold case, width, minus signs, white space and the marks around a text."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("−", "-")
    return " ".join(folded.split()).strip(_MARKS)


def equal(a: Quantity, b: Quantity) -> bool:
    """Whether two options say the same: in words, or as quantities whatever their units."""
    if a.text == b.text:
        return not _differ_in_case(a, b)
    if a.value is None or b.value is None:
        return _words_of(a) == _words_of(b)
    if isinstance(a.value, sympy.Expr) and isinstance(b.value, sympy.Expr):
        (kind_a, x), (kind_b, y) = _in_base(a), _in_base(b)
        if kind_a == kind_b:
            return same(x, y)
        # "12" beside "12 mg": a reader takes the bare number for the same answer
        return "" in {a.unit, b.unit} and same(a.value, b.value)
    return same(a.value, b.value)


def _words_of(one: Quantity) -> str:
    """Return a quoted string without its quotes, so that 'oxy' and oxy are the same option."""
    return fold(one.value) if isinstance(one.value, str) else one.text


def _differ_in_case(a: Quantity, b: Quantity) -> bool:
    """Strings and lists of strings may differ in case alone, as code does."""
    return (
        isinstance(a.value, str | list | tuple)
        and isinstance(b.value, str | list | tuple)
        and not same(a.value, b.value)
    )


def _in_base(one: Quantity) -> tuple[str, sympy.Expr]:
    kind, factor = _UNITS.get(one.unit, (one.unit, "1"))
    return kind, one.value * sympy.Rational(factor)


def _unit(written: str | None, expected: str | None) -> str | None:
    """Return a unit by name; None where the words behind a number are no unit."""
    if written is None:
        return ""
    plain = written.strip().rstrip(".")
    if expected and plain.casefold() == expected.casefold():
        return expected
    if plain in _UNITS:
        return plain
    return plain.rstrip("s") if re.fullmatch(r"[A-Za-z]{2,20}", plain) else None


def _bare(text: str) -> str:
    bare = unicodedata.normalize("NFKC", text).strip().rstrip(".")
    fenced = re.fullmatch(r"```[a-z]*\s*(.*?)\s*```|`([^`]*)`", bare, re.DOTALL)
    if fenced is not None:
        bare = fenced[1] or fenced[2] or ""
    latex = _LATEX.fullmatch(bare)
    if latex is not None:
        bare = f"{latex[1] or latex[2]}{latex['unit'] or ''}"
    for _ in range(4):
        bare = _ROOT.sub(r"sqrt(\1)", _FRACTION.sub(r"((\1)/(\2))", bare))
    for command, sign in ((r"\cdot", "*"), (r"\times", "*"), (r"\left", ""), (r"\right", ""),
                          (r"\%", "%"), (r"\,", " "), (r"\pi", "pi")):  # fmt: skip
        bare = bare.replace(command, sign)
    return bare.strip()
