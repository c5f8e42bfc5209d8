"""Untrusted text in reports, and the JSON it is kept in."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from benchfill_services.report.folder import json_bytes, jsonl_bytes
from benchfill_services.report.text import cut, one_line, visible


def test_what_hides_is_shown_and_what_scripts_need_stays() -> None:
    assert visible("a\u202eb\x1b[0m\r\nc\td\U000e0041") == "a⟨U+202E⟩b⟨U+001B⟩[0m\nc\td⟨U+E0041⟩"
    assert visible("می\u200cخواهم 👩\u200d🔬") == "می\u200cخواهم 👩\u200d🔬"


def test_long_text_is_cut_with_its_length_named() -> None:
    assert cut("abc", 3) == "abc"
    assert cut("a" * 2000, 3) == "aaa… [cut at 3 of 2,000 characters]"


@given(st.text(), st.integers(2, 60))
def test_one_line_is_one_line_of_at_most_its_length(text: str, limit: int) -> None:
    shown = one_line(text, limit)
    assert len(shown) <= limit
    assert len(shown.splitlines()) <= 1


def test_names_of_one_family_stay_apart() -> None:
    assert one_line("x" * 90 + "-a", 20) != one_line("x" * 90 + "-b", 20)


@given(st.lists(st.text(st.characters(exclude_categories=()))))
def test_json_lines_come_back_as_they_were(texts: list[str]) -> None:
    data = jsonl_bytes({"text": text} for text in texts)
    assert [json.loads(line)["text"] for line in data.decode().splitlines()] == texts


def test_other_alphabets_stay_readable() -> None:
    assert json_bytes("日本") == '"日本"'.encode()
