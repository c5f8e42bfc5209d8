"""Each domain's scorer on replies as models write them, and its check of items."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from benchfill.items import Item
from benchfill_agents.domains import DOMAINS, domain_check, domain_of
from benchfill_agents.domains.checkers import CHECKERS
from benchfill_agents.domains.math_worker import compare
from benchfill_agents.domains.multiple_choice import choice_order, reordered

if TYPE_CHECKING:
    from benchfill_agents.pool.config import Style


def scored(item: Item, reply: str, style: Style = "chat") -> tuple[str | None, bool]:
    domain = domain_of(item, "exact")
    found = domain.extract(reply, style=style, item=item)
    if found is None:
        return None, False
    return found.answer, domain.is_correct(found.answer, item)


CITY = Item(
    id="c",
    question="Capital of Australia?",
    answer="Canberra",
    choices=("Sydney", "Canberra", "A city in Victoria", "I do not know"),
    domain="multiple_choice",
)


@pytest.mark.parametrize(
    ("reply", "option"),
    [
        ("B", 1), ("b", 1), ("(B)", 1), ("B.", 1), ("B) Canberra", 1), ("**B**", 1),
        ("B: it is", 1),
        ("B\nbecause", 1), ("B because it is", 1), ("Canberra", 1), ("canberra.", 1),
        ("The answer is B.", 1), ("The correct answer is (B), since", 1), ("Answer: B", 1),
        ("answer is **B**", 1), ("Not A. Not C. The answer is: B", 1), (r"\boxed{B}", 1),
        (r"so \boxed{\text{Canberra}}", 1), ("The capital is Canberra", 1), ("Option B", 1),
        ("I choose option B here", 1), ("I think (C)", 2), ("A city in Victoria", 2),
        ("The answer is a city in Victoria", 2), ("A", 0), ("I do not know", 3), ("D", 3),
        ("E", None), ("", None), ("Melbourne", None), ("Either Sydney or Canberra", None),
        ("(A) or (B)", None), ("I", None), ("A kangaroo", None), ("It is big", None),
        ("Option A is wrong, option B is right", None),
        ("A, B", None), ("A, B and C", None), ("(A), (B)", None), ("B & C", None),
        ("B, A is wrong", 1), ("B, because", 1),
    ],
)  # fmt: skip
def test_options_by_letter_or_text(reply: str, option: int | None) -> None:
    answer, correct = scored(CITY, reply)
    assert answer == (None if option is None else CITY.choices[option])
    assert correct == (option == 1)


def test_a_completion_is_its_first_line() -> None:
    assert scored(CITY, " B\nQuestion: another? A", "completion")[1]
    assert not scored(CITY, "\n\nA\nB", "completion")[1]


def test_numbers_within_numbers() -> None:
    item = CITY.model_copy(update={"choices": ("10", "10 km", "100"), "answer": "10 km"})
    assert scored(item, "It is 10 km away.") == ("10 km", True)
    assert scored(item, "100") == ("100", False)


@pytest.mark.parametrize(
    ("choices", "reply", "option"),
    [
        (("5 mW", "5 MW"), "5 MW", 1),
        (("5 mW", "5 MW"), "It is 5 mW.", 0),
        (("5 mW", "5 MW"), "It is 5 mw.", None),
        (("(0, 1)", "[0, 1]", "[0, 1)"), "[0, 1]", 1),
        (("(0, 1)", "[0, 1]", "[0, 1)"), "The answer is [0, 1)", 2),
        (("(0, 1)", "[0, 1]", "[0, 1)"), "C", 2),
        (("U.S. law", "EU law"), "U.S. law applies", 0),
    ],
)
def test_options_that_differ_by_capitals_or_brackets(
    choices: tuple[str, ...], reply: str, option: int | None
) -> None:
    item = CITY.model_copy(update={"choices": choices, "answer": choices[-1]})
    assert domain_check(item, "exact") is None
    answer, correct = scored(item, reply)
    assert answer == (None if option is None else choices[option])
    assert correct == (option == len(choices) - 1)


def test_a_letter_may_be_the_reference_also_when_shuffled() -> None:
    item = CITY.model_copy(update={"answer": "B"})
    assert domain_check(item, "exact") is None
    assert scored(item, "Canberra")[1]
    order = next(order for k in range(99) if (order := choice_order(item, k))[1] != 1)
    other = reordered(item, order)
    assert other.answer == "Canberra"
    assert sorted(other.choices) == sorted(item.choices)
    assert scored(other, "ABCD"[other.choices.index("Canberra")])[1]
    assert not scored(other, "ABCD"[other.choices.index("Sydney")])[1]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"choices": ("one",)}, "has 1 options"),
        ({"choices": ("x", " x", "Canberra")}, "Two options are the same"),
        ({"answer": "Perth"}, "neither the text of an option nor the letter"),
        ({"answer": "F"}, "neither the text of an option nor the letter"),
    ],
)
def test_unsound_options(changes: dict[str, Any], said: str) -> None:
    assert said in (domain_check(CITY.model_copy(update=changes), "exact") or "")


def maths(answer: str, **metadata: Any) -> Item:
    return Item(id="m", question="?", answer=answer, domain="math", metadata=metadata)


@pytest.mark.parametrize(
    ("reference", "reply", "correct"),
    [
        ("1/2", r"So it is \boxed{\frac{1}{2}}.", True),
        ("1/2", "The answer is 0.5", True),
        (r"\frac{\sqrt{3}}{2}", r"\boxed{\sqrt{\frac{3}{4}}}", True),
        ("(x+1)^2", r"\boxed{x^2 + 2x + 1}", True),
        ("(x+1)^2", r"\boxed{x^2 + 2x + 2}", False),
        (r"\{1, 2\}", r"\boxed{\{2, 1\}}", True),
        ("(1, 2)", r"\boxed{(2, 1)}", False),
        ("12", r"first \boxed{11}, no: \boxed{12}", True),
        ("12", r"\boxed{12", False),
        ("3", "three apples", False),
        ("1/2", "", False),
        ("7", r"\boxed{__import__('os').system('touch /tmp/x')}", False),
    ],
)
def test_mathematics_however_it_is_written(reference: str, reply: str, correct: bool) -> None:
    assert scored(maths(reference), reply)[1] is correct


def test_what_sympy_cannot_settle_is_wrong_and_the_next_is_scored() -> None:
    started = time.monotonic()
    late = compare("10^{10^{10^{10}}}", "3", seconds=1)
    assert not late.equal
    assert time.monotonic() - started < 60
    assert compare(r"\frac{1}{3}", "2/6").equal
    assert not compare("1", "2" * 3_000, seconds=5).equal


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (maths(r"\frac{1}{2}"), None),
        (maths("1/2", solution=r"Halving 1 gives \boxed{0.5}."), None),
        (maths("1/2", solution=r"It is \boxed{\frac{1}{3}}."), "The solution comes to"),
        (maths("1/2", solution="It is one half."), "puts no result into"),
        (maths("an apple tree"), "cannot be read as mathematics"),
        (maths("1" * 3_000), "at most 2000"),
    ],
)
def test_sound_mathematics(item: Item, said: str | None) -> None:
    found = domain_check(item, "exact")
    assert found is None if said is None else said in (found or "")


def code(answer: str, *tests: Any, **metadata: Any) -> Item:
    metadata = {"tests": list(tests), **metadata}
    return Item(id="p", question="?", answer=answer, domain="code", metadata=metadata)


ADD = code("def add(a, b):\n    return a + b", "assert add(1, 2) == 3", "assert add(0, 0) == 0")
ECHO = code(
    "print(int(input()) + 1)", {"input": "1\n", "output": "2"}, {"input": "-1", "output": "0"}
)


@pytest.mark.parametrize(
    ("item", "reply", "correct"),
    [
        (ADD, "```python\ndef add(a, b):\n    return b + a\n```", True),
        (ADD, "def add(a, b): return sum((a, b))", True),
        (ADD, "```\nx = 1\n```\nand\n```py\ndef add(a, b): return a + b\n```", True),
        (ADD, "```bash\npip install\n```\n```python\nadd = int.__add__\n```", True),
        (ADD, "def add(a, b): return a - b", False),
        (ADD, "def add(a, b): return", False),
        (ADD, "def add(a, b) return", False),
        (ADD, "import os; os._exit(0)", False),
        (ADD, "import sys; sys.exit(0)", False),
        (ADD, "raise SystemExit", False),
        (ADD, "print('passed')", False),
        (ADD, "import sys; print(sys.stdin.read())\ndef add(a, b): return 0", False),
        (ECHO, "print(1 + int(input()))", True),
        (ECHO, "n = input()\nprint(int(n) + 1, ' ')", True),
        (ECHO, "print(2)", False),
        (ECHO, "print(int(input()) + 1); raise ValueError", False),
    ],
)
def test_programs_pass_their_tests(item: Item, reply: str, correct: bool) -> None:
    assert scored(item, reply)[1] is correct


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (ADD, None),
        (ECHO, None),
        (
            code("def f(): return 1", "assert f() == 2"),
            "The reference solution fails its own tests",
        ),
        (code("def f(): return 1", "f()"), "Even a hollow solution passes"),
        (code("x = 1", "pass"), "Even an empty solution passes"),
        (code("x = 1", "assert ("), "Test 1 is no Python"),
        (code("x = 1"), "no metadata.tests"),
        (code("x = 1", 7), "metadata.tests.0"),
        (code("x = 1", "pass", limits={"seconds": 10**9}), "metadata.limits.seconds"),
        (code("while True: pass", "pass", limits={"seconds": 1}), "to an end in time"),
    ],
)
def test_sound_programs(item: Item, said: str | None) -> None:
    found = domain_check(item, "exact")
    assert found is None if said is None else said in (found or ""), found


R = "relation"
CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "length_constraints:number_words": (
        {R: "at least", "num_words": 3}, "say it ça", "two words"),
    "length_constraints:number_paragraphs": ({"num_paragraphs": 2}, "a\n***\nb\n***", "a\n\nb"),
    "length_constraints:nth_paragraph_first_word": (
        {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "So"}, "A.\n\nso", "A.\n\nand"),
    "length_constraints:number_characters": ({R: "less than", "num_characters": 4}, "abc", "abcd"),
    "keywords:existence": ({"keywords": ["cat", "dog"]}, "Category, dog", "cat"),
    "keywords:forbidden_words": ({"forbidden_words": ["cat"]}, "category", "a CAT"),
    "keywords:frequency": ({"keyword": "a", R: "at least", "frequency": 2}, "a b A", "b ab"),
    "keywords:letter_frequency": (
        {"letter": "e", "let_relation": "less than", "let_frequency": 2}, "he", "Ee"),
    "detectable_format:number_bullet_lists": ({"num_bullets": 2}, "* a\n- b", "* a"),
    "detectable_format:number_highlighted_sections": (
        {"num_highlights": 2}, "*a* and **b**", "*a* and ** **"),
    "detectable_format:multiple_sections": (
        {"section_spliter": "Section", "num_sections": 2}, "Section 1\nx\nSection 2", "Section 1"),
    "detectable_format:json_format": ({}, '```json\n{"a": 1}\n```', "{'a': 1}"),
    "detectable_format:title": ({}, "<<A song>>\n", "<< >> A song"),
    "detectable_content:number_placeholders": ({"num_placeholders": 2}, "[a] [b]", "[a] b"),
    "detectable_content:postscript": ({"postscript_marker": "P.S."}, "x\nP. S. more", "PS"),
    "combination:two_responses": ({}, "a\n******\nb", "a\n******\na"),
    "combination:repeat_prompt": ({"prompt_to_repeat": "Say it."}, "say it. Done", "Done"),
    "startend:start_checker": ({"start_phrase": "Dear"}, " dear all", "all, dear"),
    "startend:end_checker": ({"end_phrase": "the end."}, 'so "The End."', "The end. No"),
    "startend:quotation": ({}, '"all of it"', '"half" of it'),
    "change_case:english_capital": ({}, "ALL 1", "All"),
    "change_case:english_lowercase": ({}, "all 1", "All"),
    "change_case:capital_word_frequency": (
        {"capital_relation": "at least", "capital_frequency": 2}, "AB c DE", "AB Cd"),
    "punctuation:no_comma": ({}, "a; b", "a, b"),
}  # fmt: skip


def test_every_checker_has_a_case() -> None:
    assert set(CASES) == set(CHECKERS)


@pytest.mark.parametrize("name", CASES)
def test_checkers(name: str) -> None:
    arguments, follows, breaks = CASES[name]
    metadata = {"instruction_id_list": [name], "kwargs": [{**arguments, "not_ours": None}]}
    item = Item(id="i", question="?", answer=follows, domain="instructions", metadata=metadata)
    assert domain_check(item, "exact") is None
    assert scored(item, follows)[1]
    assert not scored(item, breaks)[1]
    assert "does not follow" in (
        domain_check(item.model_copy(update={"answer": breaks}), "exact") or ""
    )


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({}, "must name one checker or more"),
        ({"instruction_id_list": ["language:response_language"]}, "is not known"),
        ({"instruction_id_list": ["punctuation:no_comma"], "kwargs": []}, "one object a checker"),
        (
            {"instruction_id_list": ["keywords:existence"], "kwargs": [{}]},
            "An argument of keywords",
        ),
        (
            {
                "instruction_id_list": ["length_constraints:number_words"],
                "kwargs": [{"relation": "more than", "num_words": 3}],
            },
            "neither `less than` nor `at least`",
        ),
    ],
)
def test_unsound_instructions(metadata: dict[str, Any], said: str) -> None:
    item = Item(id="i", question="?", answer="a", domain="instructions", metadata=metadata)
    assert said in (domain_check(item, "exact") or "")


def test_a_score_comes_from_what_it_depends_on() -> None:
    for item in (CITY, ADD, maths("1")):
        domain = domain_of(item, "exact")
        same = item.model_copy(update={"metadata": {**item.metadata, "subject": "x"}, "id": "y"})
        assert domain.scored_by(same) == domain.scored_by(item)
        other = item.model_copy(update={"answer": "other"})
        assert domain.scored_by(other) != domain.scored_by(item)
    harder = ADD.model_copy(update={"metadata": {"tests": ["assert add(1, 1) == 2"]}})
    assert DOMAINS["code"].scored_by(harder) != DOMAINS["code"].scored_by(ADD)


def test_items_without_a_domain_are_written_as_before() -> None:
    plain = Item(id="a", question="q", answer="b")
    assert "domain" not in plain.model_dump()
    assert "domain" not in plain.model_dump_json()
    assert Item.model_validate_json(CITY.model_dump_json()) == CITY
