"""Which options speak of others, in the words of published benchmarks, and which only seem to."""

from __future__ import annotations

import pytest

from benchfill.option_references import places_kept, speaks_of_others

OF_ALL = """
None of the above
None of the above.
**None of the above**
NONE OF THE ABOVE
All of the above are correct
All the above
None of these
None of the other answers is right
Both of them
Neither of the above
none of the options is correct
More than one of the above
At least two of the above
Two of the above
A combination of the above
Any of the preceding
All are correct
Neither is true
No correct answer
Nothing else
Something else
The above are all wrong
not listed
Keine der genannten Antworten
Alle obigen Aussagen
Aucune des réponses ci-dessus
Toutes ces réponses
Ninguna de las anteriores
Todas as alternativas anteriores
Nenhuma das anteriores
Nessuna delle precedenti
Ничего из перечисленного
以上都不是
以上皆是
都不对
上記のいずれでもない
""".strip().splitlines()
OF_SOME = """
Both A and B
A and B
A and C only
Neither A nor B
A, B and C
A, C
Only A
A only
Not C
Same as A
All except C
All of the above except C
A but not B
Either B or C but not both
B and D are true
(A) and (C)
both (a) and (b)
a & b
A+B
Both a and b are correct
Option B
Answer C is right
Options 1 and 3
Both 1 and 2
the first two options
The second and third answers
选项A
A和B
A、B均正确
B und C
A et C
""".strip().splitlines()
OF_NONE = """
above 20 degrees
below the sea
The temperature above the sea
All men are mortal
Both parents work
Either a cat or a dog
Nothing
Not before 1990
The rest of the cells
No change in volume
most of the time
I and II
I only
II and III only
Vitamin A
A
a
1 and 2
A cat and a dog
Hepatitis B
AB
Grade A
The answer is a lie
an answer a day
answers 3 questions
a + b = c
A small part only
None of the committee's members had read the report that was handed out before the meeting began,
""".strip().splitlines()


@pytest.mark.parametrize("text", OF_ALL)
def test_an_option_about_the_others_keeps_its_place(text: str) -> None:
    assert speaks_of_others(text)
    assert places_kept(["red", "green", "blue", text]) == {3}
    assert places_kept(["red", text, "green", "blue"]) == {1}


@pytest.mark.parametrize("text", OF_SOME)
def test_an_option_that_names_others_keeps_all(text: str) -> None:
    assert places_kept(["red", "green", text, "blue"]) == {0, 1, 2, 3}


@pytest.mark.parametrize("text", OF_NONE)
def test_other_options_move(text: str) -> None:
    assert places_kept(["red", "green", "blue", text]) == frozenset()


def test_words_that_are_also_values_count_at_the_end() -> None:
    assert places_kept(["None", "0", "Error", "[]"]) == frozenset()
    assert places_kept(["Alice", "Bob", "Both", "Neither"]) == {2, 3}


def test_letters_are_those_that_the_options_have() -> None:
    assert places_kept(["red", "green", "D and E"]) == frozenset()
    roman = ["I only", "II only", "I and II", "Neither I nor V", *"pqrstu"]
    assert places_kept(roman) == frozenset()
    assert places_kept(["A and I", *"pqrstuvw"]) == set(range(9))


def test_a_question_may_name_options() -> None:
    choices = ["red", "green", "blue"]
    assert places_kept(choices, "Why is option A better than option B?") == {0, 1, 2}
    assert places_kept(choices, "What is the best choice a person can make?") == frozenset()
