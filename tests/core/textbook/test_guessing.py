"""TS-Guessing: what is hidden, what is left out, and how a guess is scored."""

from __future__ import annotations

import pytest

from benchfill.items import Item
from benchfill.textbook.guessing import MASK, guess_tasks, score_guess

CAPITAL = Item(
    id="q1",
    question="Which city is the seat of the Australian parliament?",
    answer="Canberra",
    choices=("Sydney", "Canberra", "Melbourne", "Perth", "None of the above"),
)


def test_a_wrong_option_is_hidden_and_never_the_right_one() -> None:
    seen = set()
    for seed in range(40):
        (task,), skipped = guess_tasks([CAPITAL], "hidden option", seed=seed)
        assert skipped == ()
        assert task.right == "Canberra"
        assert task.options.count(MASK) == 1
        assert task.options[CAPITAL.choices.index(task.hidden)] == MASK
        assert task == guess_tasks([CAPITAL], "hidden option", seed=seed)[0][0]
        seen.add(task.hidden)
    assert seen == {"Sydney", "Melbourne", "Perth"}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"choices": ()}, "fewer than three options"),
        ({"choices": ("Canberra", "Sydney")}, "fewer than three options"),
        ({"answer": "Hobart"}, "none of its options"),
        ({"answer": "None of the above"}, "tells nothing"),
        ({"choices": ("Canberra", "True", "False")}, "no wrong option"),
        (
            {"choices": ("Canberra", "the city of the north", "the city of the south")},
            "give away",
        ),
    ],
)
def test_items_from_which_no_option_can_be_hidden(changes: dict[str, object], why: str) -> None:
    tasks, (skipped,) = guess_tasks([CAPITAL.model_copy(update=changes)], "hidden option")
    assert tasks == ()
    assert why in skipped.why


def test_the_rarest_word_is_hidden_once() -> None:
    other = CAPITAL.model_copy(
        update={"id": "q2", "question": "Which city is the seat of the Norwegian parliament?"}
    )
    tasks, _ = guess_tasks([CAPITAL, other], "hidden keyword")
    assert [task.hidden for task in tasks] == ["Australian", "Norwegian"]
    assert tasks[0].question == f"Which city is the seat of the {MASK} parliament?"


def test_words_of_code_of_options_and_repeated_ones_are_not_hidden() -> None:
    item = Item(
        id="q",
        question="`alphabet[1:3]` of an alphabet gives letters of the alphabet. Why?",
        answer="gives",
        choices=("gives", "letters"),
    )
    tasks, (skipped,) = guess_tasks([item], "hidden keyword")
    assert (tasks, skipped.why) == ((), "has no word that stands once and outside code and options")


@pytest.mark.parametrize(
    ("guess", "hidden", "exact"),
    [
        ("Sydney", "Sydney", True),
        ("A. sydney.", "Sydney", True),
        ("The missing option is: **Sydney**", "Sydney", True),
        ("Sydney\nbecause it is large", "Sydney", True),
        ("Perth", "Sydney", False),
        ("", "Sydney", False),
        (None, "Sydney", False),
        ("[MASK]", "Sydney", False),
    ],
)
def test_a_guess_is_scored_by_its_first_line(guess: str | None, hidden: str, exact: bool) -> None:
    score = score_guess(guess, hidden)
    assert score.exact is exact
    assert score.rouge_l == (1.0 if exact else 0.0)


def test_part_of_a_hidden_option_counts_by_rouge() -> None:
    score = score_guess("the first four rows", "the first three rows")
    assert (score.exact, score.rouge_l) == (False, 0.75)
