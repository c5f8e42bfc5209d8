"""Items kept back: written before the checks, and run once when these were done.

Eight are right and nine have one fault each. What came of it stands in docs/textbook-checks.md.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchfill.textbook.arranging import arrange
from benchfill.textbook.solution_graph import SolutionEdge, SolutionNode
from support.textbook_items import ItemCase, case, computed, given, inferred, wrong

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchfill.textbook.question import ArrangedQuestion

MONTHS = "['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']"


def month_from_the_end() -> ItemCase:
    return case(
        "month picked from a stepped tail",
        f"""A script keeps the names of the months:

```python
months = {MONTHS}
tail = months[5:]
every_other = tail[::2]
picked = every_other[-2]
label = picked + str(len(every_other))
```

What does `label` hold at the end?""",
        [
            given("months", MONTHS, "the twelve months"),
            given("start", "5", "start of the slice"),
            given("step", "2", "step of the second slice"),
            computed("tail", "months[start:]",
                     "['jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']", "zero-based", "list"),
            computed("every_other", "tail[::step]", "['jun', 'aug', 'oct', 'dec']", "slice-step",
                     "list"),
            computed("picked", "every_other[-2]", "'oct'", "negative-index"),
            computed("length", "len(every_other)", "4", "slice-excludes-upper", "array"),
            computed("label", "picked + str(length)", "'oct4'", "concatenation"),
        ],
        "oct4",
        [
            wrong("dec4", "takes the last entry for index -2", "picked", "negative-index",
                  "every_other[-1]"),
            wrong("sep4", "counts the start from 1", "tail", "zero-based", "months[start - 1:]"),
            wrong("oct7", "counts the tail before it is thinned", "length", "slice-step", "7"),
            wrong("aug4", "counts index -2 from the front", "picked", "negative-index",
                  "every_other[1]"),
        ],
    )  # fmt: skip


def block_of_readings() -> ItemCase:
    return case(
        "numbers that two summaries hold",
        "The array `readings` has 60 rows, one per patient, and 40 columns, one per day. "
        "A programmer sets `block = readings[5:45:4, 10:]`, then `daily = numpy.mean(block, "
        "axis=0)` and `peaks = numpy.max(block, axis=1)`. How many numbers do `daily` and `peaks` "
        "hold together?",
        [
            given("columns", "40", "days"),
            given("low", "5", "first row of the slice"),
            given("high", "45", "bound of the rows"),
            given("step", "4", "step of the rows"),
            given("first_day", "10", "first column"),
            computed("span", "high - low", "40", "slice-excludes-upper", "array"),
            computed("rows", "ceil(span / step)", "10", "slice-step", "shape"),
            computed("days", "columns - first_day", "30", "zero-based", "shape"),
            computed("daily", "days", "30", "axis-rule"),
            computed("peaks", "rows", "10", "axis-rule"),
            computed("together", "daily + peaks", "40", "arithmetic"),
        ],
        "40",
        [
            wrong("41", "counts the upper bound of the rows", "span", "off-by-one",
                  "high - low + 1"),
            wrong("300", "multiplies where the two are added", "together", "size-of-array",
                  "daily * peaks"),
            wrong("60", "mixes up the axes of the second summary", "peaks", "axis-mixup", "days"),
            wrong("70", "leaves the step of the rows out", "rows", "slice-step", "span"),
        ],
    )  # fmt: skip


def doubled_dose() -> ItemCase:
    return case(
        "total of a dose that grows by a factor",
        "A nurse gives 5 mg of a drug on the first day and, on each of the next three days, twice "
        "the dose of the day before. Of all that was given, 20% is lost before it acts. How many "
        "milligrams act?",
        [
            given("first", "5", "dose of the first day", unit="mg"),
            given("factor", "2", "growth per day"),
            given("lost", "20", "share that is lost", unit="%"),
            computed("second", "first * factor", "10", "accumulation", "loop", unit="mg"),
            computed("third", "second * factor", "20", "accumulation", "loop", unit="mg"),
            computed("fourth", "third * factor", "40", "accumulation", "loop", unit="mg"),
            computed("total", "first + second + third + fourth", "75", "accumulation", unit="mg"),
            computed("acting", "total * (1 - lost / 100)", "60", "arithmetic", "percentage",
                     unit="mg"),
        ],
        "60 mg",
        [
            wrong("15 mg", "takes what is lost for what acts", "acting", "percentage",
                  "total * lost / 100"),
            wrong("28 mg", "forgets the last day", "total", "accumulation",
                  "first + second + third"),
            wrong("43.2 mg", "adds the factor once instead of multiplying", "second",
                  "accumulation", "first + factor"),
            wrong("75 mg", "takes no loss off", "acting", "percentage", "total"),
        ],
    )  # fmt: skip


def two_tariffs() -> ItemCase:
    return case(
        "where two tariffs cost the same",
        "Tariff P costs 12 dollars a month and 3 dollars per gigabyte. Tariff Q costs 30 dollars a "
        "month and 1.5 dollars per gigabyte. For which number of gigabytes a month do both cost "
        "the same, and what does each cost then?",
        [
            given("base_p", "12", "fixed price of P"),
            given("rate_p", "3", "price per gigabyte of P"),
            given("base_q", "30", "fixed price of Q"),
            given("rate_q", "1.5", "price per gigabyte of Q"),
            computed("cost_p", "base_p + rate_p * g", "12 + 3*g", "arithmetic", "rate"),
            computed("cost_q", "base_q + rate_q * g", "30 + 3*g/2", "arithmetic", "rate"),
            computed("even", "cost_p = cost_q", "12", "isolate", "equation", solve_for="g"),
            computed("price", "base_p + rate_p * even", "48", "arithmetic"),
            inferred("said", "12 gigabytes, 48 dollars", "isolate", "even price"),
        ],
        "12 gigabytes, 48 dollars",
        [
            wrong("4 gigabytes, 24 dollars", "adds the two rates", "even", "isolate"),
            wrong("28 gigabytes, 96 dollars", "adds the two fixed prices", "even", "isolate"),
            wrong("12 gigabytes, 36 dollars", "leaves the fixed price out", "price", "arithmetic"),
            wrong("6 gigabytes, 30 dollars", "compares with one rate only", "even", "equation"),
        ],
        symbols=("g",),
    )  # fmt: skip


def mean_rounded() -> ItemCase:
    return case(
        "rounded mean of what a threshold keeps",
        "A patient's inflammation on seven days was 3, 8, 11, 4, 9, 12 and 7. A loop keeps the "
        "values above 5 and their mean is then expressed as a percentage of the highest value, "
        "rounded to one decimal place. What percentage is reported?",
        [
            given("values", "[3, 8, 11, 4, 9, 12, 7]", "the seven values"),
            given("threshold", "5", "what a value must exceed"),
            inferred("above", "3 and 4 are dropped", "branching", "values threshold"),
            computed("kept_sum", "sum(values) - 3 - 4", "47", "branching", "condition",
                     needs=["above"]),
            computed("kept", "len(values) - 2", "5", "branching", "condition", needs=["above"]),
            computed("middle", "kept_sum / kept", "9.4", "average", "average"),
            computed("highest", "max(values)", "12", "accumulation", "loop"),
            computed("share", "middle / highest", "47/60", "percentage", "percentage"),
            computed("reported", "share * 100", "78.3", "rounding", unit="%", decimals=1),
        ],
        "78.3%",
        [
            wrong("64.3%", "averages all seven values", "middle", "condition", "54 / 7"),
            wrong("85.5%", "divides by the second highest value", "highest", "accumulation", "11"),
            wrong("56.0%", "divides the kept sum by all seven", "kept", "average", "7"),
            wrong("75.0%", "rounds the mean before the share is taken", "middle",
                  "early-rounding", "floor(kept_sum / kept)"),
        ],
    )  # fmt: skip


def branch_taken() -> ItemCase:
    return case(
        "branch that a compound condition takes",
        """The code

```python
num = -4
limit = 3
if num > 0 and num < limit:
    word = 'small'
elif num > 0 or abs(num) > limit:
    word = 'far'
else:
    word = 'none'
count = len(word * 2)
```

runs once. What does `count` hold?""",
        [
            given("num", "-4", "the number"),
            given("limit", "3", "the limit"),
            computed("first", "num > 0 and num < limit", "False", "and-or", "condition"),
            computed("second", "num > 0 or abs(num) > limit", "True", "and-or", "condition"),
            computed("word", "'small' if first else ('far' if second else 'none')", "'far'",
                     "branching", "condition"),
            computed("doubled", "word * 2", "'farfar'", "concatenation", "list"),
            computed("count", "len(doubled)", "6", "arithmetic"),
        ],
        "6",
        [
            wrong("10", "takes the first branch", "first", "and-or", "True"),
            wrong("8", "takes both conditions for false", "second", "and-or", "False"),
            wrong("3", "forgets that the word is repeated", "doubled", "concatenation", "word"),
            wrong("5", "repeats nothing and takes the first word", "doubled", "concatenation",
                  "'small'"),
        ],
    )  # fmt: skip


def aliased_lists() -> ItemCase:
    return case(
        "claims on two names of one list",
        """A colleague runs

```python
odds = [3, 5, 7]
primes = odds
copy = list(odds)
primes.append(2)
copy.append(9)
```

and makes four claims about the three names. Which claim holds?""",
        [
            given("start", "odds holds 3, 5, 7", "first line"),
            inferred("same", "primes and odds are one list", "copying", "start", "alias list"),
            inferred("own", "copy is a list of its own", "copying", "start", "list"),
            inferred("changed", "append(2) changes that one list", "accumulation", "same", "alias"),
            inferred("apart", "append(9) changes copy only", "accumulation", "own"),
            inferred("compared", "odds and primes hold 3, 5, 7, 2 and copy 3, 5, 7, 9", "copying",
                     "changed apart"),
            inferred("claim", "`odds` ends with 2 although nothing was appended to it by name",
                     "copying", "compared"),
        ],
        "`odds` ends with 2 although nothing was appended to it by name",
        [
            wrong("`odds` still holds 3, 5, 7", "takes assignment for a copy", "same", "in-place"),
            wrong("`copy` ends with 2 and then 9", "takes list() for another name", "own",
                  "copying"),
            wrong("`primes` and `copy` hold the same values", "applies both changes to both",
                  "apart", "alias"),
            wrong("`odds` ends with 9", "follows the copy back to its source", "apart", "in-place"),
        ],
    )  # fmt: skip


def triangle_formula() -> ItemCase:
    return case(
        "formula for what a nested loop counts",
        "A programmer needs an expression for the number of times that an inner statement runs "
        "when, in turn i of an outer loop with i from 1 to n, an inner loop runs i times, and the "
        "whole is done again once in full with n + 1 in place of n. Which expression in n gives "
        "the total of both runs?",
        [
            given("upper", "n", "turns of the first run"),
            computed("first", "upper * (upper + 1) / 2", "n*(n + 1)/2", "sum-of-sequence", "loop"),
            computed("longer", "upper + 1", "n + 1", "arithmetic"),
            computed("second", "longer * (longer + 1) / 2", "(n + 1)*(n + 2)/2",
                     "sum-of-sequence", "loop"),
            computed("both", "first + second", "(n**2 + n + n**2 + 3*n + 2)/2", "arithmetic",
                     "equation"),
            computed("short", "both", "(n + 1)**2", "isolate", "equation"),
        ],
        "(n + 1)**2",
        [
            wrong("n**2 + n", "runs the same loop twice", "second", "loop", "first"),
            wrong("n**2 + 3*n + 3", "adds two where one is added", "longer", "arithmetic",
                  "upper + 2"),
            wrong("(n + 1)**2/2", "halves twice", "short", "isolate", "both / 2"),
            wrong("n**2 + (n + 1)**2", "takes every inner loop as long as the outer one", "first",
                  "sum-of-sequence", "upper**2", also={"second": "longer**2"}),
        ],
        symbols=("n",),
    )  # fmt: skip


GOOD: tuple[Callable[[], ItemCase], ...] = (
    month_from_the_end,
    block_of_readings,
    doubled_dose,
    two_tariffs,
    mean_rounded,
    branch_taken,
    aliased_lists,
    triangle_formula,
)


def _with_node(one: ItemCase, node_id: str, **changes: object) -> ItemCase:
    nodes = tuple(
        node.model_copy(update=changes) if node.id == node_id else node for node in one.graph.nodes
    )
    return replace(one, graph=one.graph.model_copy(update={"nodes": nodes}))


def _with_question(one: ItemCase, **changes: object) -> ItemCase:
    return replace(one, question=one.question.model_copy(update=changes))


def circle() -> ItemCase:
    one = branch_taken()
    back = SolutionEdge(source="doubled", target="second", rule="and-or")
    return replace(one, graph=one.graph.model_copy(update={"edges": (*one.graph.edges, back)}))


def dead_end() -> ItemCase:
    one = doubled_dose()
    spare = SolutionNode(
        id="spare",
        kind="computed",
        statement="half of the first",
        value="2.5",
        expression="first/2",
    )
    edge = SolutionEdge(source="first", target="spare", rule="arithmetic")
    graph = one.graph.model_copy(
        update={"nodes": (*one.graph.nodes, spare), "edges": (*one.graph.edges, edge)}
    )
    return replace(one, graph=graph)


def wrong_in_the_middle() -> ItemCase:
    return _with_node(block_of_readings(), "rows", value="11")


def answer_of_another() -> ItemCase:
    return _with_question(mean_rounded(), answer="79.1%")


def equal_fraction() -> ItemCase:
    one = doubled_dose()
    first, *others = one.question.distractors
    return _with_question(one, distractors=(first.model_copy(update={"text": "60.0 mg"}), *others))


def table_of_the_book() -> ItemCase:
    one = two_tariffs()
    return _with_question(one, stem=f"Use the prices listed in Table 2.1. {one.question.stem}")


def name_without_meaning() -> ItemCase:
    one = branch_taken()
    return _with_question(one, stem=one.question.stem.replace("limit = 3\n", ""))


def error_of_another() -> ItemCase:
    one = branch_taken()
    *others, last = one.question.distractors
    return _with_question(one, distractors=(*others, last.model_copy(update={"text": "7"})))


def none_although_one_is_right() -> tuple[ItemCase, ArrangedQuestion]:
    one = block_of_readings()
    return one, arrange(one.question, "B", seed=3).model_copy(update={"key": "E"})


BAD: tuple[Callable[[], ItemCase], ...] = (
    circle,
    dead_end,
    wrong_in_the_middle,
    answer_of_another,
    equal_fraction,
    table_of_the_book,
    name_without_meaning,
    error_of_another,
)
