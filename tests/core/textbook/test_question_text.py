"""References to a source, symbols without a meaning, givens that are not stated; hostile texts."""

from __future__ import annotations

import time

import pytest

from benchfill.textbook.solution_graph import SolutionNode
from benchfill.textbook.source_references import source_references
from benchfill.textbook.stated import not_stated
from benchfill.textbook.symbols import names_missing_in, undefined_symbols

CODE = "```python\nx = 1\n```\n"


@pytest.mark.parametrize(
    "text",
    [
        "as shown in section 3",
        "See Figure 2.1 for the axes.",
        "Use Table 4.",
        "By Theorem 2, it follows",
        "Equation (3) gives",
        "as described in the previous chapter",
        "As explained earlier, slices stop before.",
        "the method introduced in this lesson",
        "According to the author, loops repeat.",
        "the diagram below shows",
        "from the passage",
        "In the text, a list is",
        "The lesson defines a slice as",
        "like we learned",
        "Recall from the chapter",
        "refer to the appendix",
        "as shown above",
        "![](fig/slice.svg)",
        "[slice](../reference.md#slice)",
        "the following figure",
    ],
)
def test_a_reference_to_the_source_is_found(text: str) -> None:
    assert source_references(text)


@pytest.mark.parametrize(
    "text",
    [
        "A table of 3 rows holds numbers; the section of a cone has area 4.",
        "The value of `data[3]` is printed on page after page.",
        "How many letters are in the text 'oxygen'?",
        "A figure skater turns 3 times; the lesson lasts 45 minutes.",
        f"{CODE}What does the code above print?",
        f"{CODE}As shown above, x is 1.",
        "| a | b |\n|---|---|\n| 1 | 2 |\n\nWhat is the sum of the table above?",
        "A book of 200 pages costs 12 dollars; each chapter has 20 pages.",
        "Read 30 pages 5 times.",
        "For example 3 and 5 are odd.",
        "`see section 3` is a string.",
    ],
)
def test_what_only_sounds_like_a_reference_is_left_alone(text: str) -> None:
    assert source_references(text) == ()


@pytest.mark.parametrize(
    ("stem", "missing"),
    [
        ("```python\nfor n in data:\n    total = total + n\n```", ("data", "total")),
        ("The array `data` holds numbers. What is `data[0] + offset`?", ("offset",)),
        ("```python\ndef f(a, b=2):\n    return a + b + c\n```", ("c",)),
        ("What is `len([k for k in range(n)])`?", ("n",)),
        ("The mass falls as m0 * r**t.", ("m0", "r", "t")),
        ("Solve $y^2 = 3 k$ for $y$.", ("k",)),
    ],
)
def test_symbols_without_a_meaning(stem: str, missing: tuple[str, ...]) -> None:
    assert set(undefined_symbols(stem)) == set(missing)


@pytest.mark.parametrize(
    "stem",
    [
        "```python\nimport numpy\nx = numpy.ones((2, 3))\nprint(x.shape, len(x))\n```",
        "A list called `odds` holds 1, 3. What is `odds[-1]`?",
        "Let x and y be integers with x + y = 7 and x - y = 1. What is x?",
        "`count` is 5. What does `count * 2` give?",
        "A car of mass m moves at speed v. Which expression in m and v is m*v/2?",
        "What does `'a' + 'b'` give?",
        "Run `with open('f.txt') as file: text = file.read()`. What type has `text`?",
        "The function f(x) = 2x + 1 is applied to x = 3.",
        "The file `data-01.csv` is read by `numpy.loadtxt`.",
        "It costs $5 plus $3 per hour.",
        "Find all n for which n**2 < 50.",
        "Which of 3 * 4 + 2 and 2 * 7 is larger?",
        "```r\ny <- c(1, 2)\n```",
        ">>> a = 3",
    ],
)
def test_symbols_that_are_introduced(stem: str) -> None:
    assert undefined_symbols(stem) == ()


def test_names_of_an_option_stand_in_the_stem() -> None:
    stem = "A list `odds` has four entries."
    assert names_missing_in(stem, "`odds` ends with 2") == ()
    assert names_missing_in(stem, "`evens` and `len(odds)`") == ("evens",)


@pytest.mark.parametrize(
    ("value", "stem", "missing"),
    [
        ("40", "It has forty columns.", None),
        ("45", "It has forty-five columns.", None),
        ("2", "Each day twice as much.", None),
        ("0.25", "A quarter is lost.", None),
        ("0.3", "It loses 30%.", None),
        ("1200", "It costs $1,200.", None),
        ("-4", "num = -4", None),
        ("1", "It starts there.", None),
        ("17", "It has 170 columns.", "17"),
        ("[3, 5, 8]", "the values 3 and 8", "[3, 5, 8]"),
        ("'oxygen'", "element holds oxygen", None),
        ("'oxygen'", "element holds nitrogen", "oxygen"),
        ("n", "a loop with n turns", None),
        ("n", "a loop with many turns", "n"),
        ("no number at all", "whatever", None),
    ],
)
def test_what_is_given_is_stated(value: str, stem: str, missing: str | None) -> None:
    node = SolutionNode(id="a", kind="given", statement="given", value=value)
    assert not_stated(node, stem) == missing


@pytest.mark.parametrize(
    "text",
    [
        "let " + "xand" * 5_000 + "!",
        "let " + "x and " * 3_000 + "!",
        "$" * 20_000,
        "`" * 20_001,
        "```" + "x " * 9_000,
        "according to the " * 1_000,
        "[" * 10_000 + "](",
        "a = " * 5_000,
        "| " * 10_000,
        "((" * 9_000,
        "as we have had already just " * 700,
    ],
)
def test_hostile_texts_take_no_time(text: str) -> None:
    begun = time.process_time()
    source_references(text)
    undefined_symbols(text)
    names_missing_in(text, text)
    assert time.process_time() - begun < 5
