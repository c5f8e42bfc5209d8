"""Untrusted text as HTML: nothing of it becomes markup that runs, loads or leads astray."""

from __future__ import annotations

import re
import time
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchfill_services.review.page.difference import difference, excerpt, prose
from benchfill_services.review.page.invisible import encodable, shown, visible
from benchfill_services.review.page.rich_text import rich
from support.review_visitor import Elements
from support.review_world import HOSTILE_QUESTION

TAGS = {
    *("p", "a", "br", "em", "strong", "s", "code", "pre", "span", "ul", "ol", "li", "blockquote"),
    *("hr", "table", "thead", "tbody", "tr", "th", "td", "div"),
}
ATTRIBUTES = {"class", "href", "rel", "target", "tabindex", "role", "aria-label", "start"}
PIECES = st.sampled_from(
    [
        "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "](javascript:alert(1))",
        "[a](", "![b](", "http://x.example", "<http://y.example>", "\"'>", "`", "```html\n", "$",
        "$$", "\\(", "\\)", "\\[", "\\]", "\n", "\n\n", "|", "|-|-|\n", "- ", "> ", "&lt;",
        "&#x202e;", "\u202e",
        "\u200b", "\x00", "\ud800", "data:text/html,x", "[r]: javascript:1 'x'\n", "[r]",
        "\\begin{align}", "\\end{align}", "# ", "~~", "**", "_", "{{7*7}}", "{% x %}",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES | st.text(max_size=12), max_size=40).map("".join)
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)


def is_harmless(markup: str) -> None:
    found = Elements(markup)
    for tag, attributes in found.found:
        assert tag in TAGS | {"ins", "del"}
        assert set(attributes) <= ATTRIBUTES
        if "href" in attributes:
            parts = urlsplit(attributes["href"] or "")
            assert parts.scheme in {"http", "https", "mailto"}
            assert attributes["rel"] == "nofollow noopener noreferrer"
            assert attributes["target"] == "_blank"
    assert not HIDDEN.search(markup.replace("\x0b", ""))
    markup.encode()


@given(TEXTS)
def test_no_text_becomes_foreign_markup(text: str) -> None:
    is_harmless(rich(text))
    is_harmless(prose(text))
    is_harmless(excerpt(text, 40))
    is_harmless(shown(encodable(text)))


def spelled(text: str) -> str:
    """Write out runs of hidden characters: a mark may begin in the middle of one."""
    return re.sub(r"(U\+[0-9A-F]{4,6}) × (\d+)", lambda run: run[1] * int(run[2]), text)


@given(TEXTS, TEXTS)
@example("\x1b", "\x1b\x1b")
def test_a_difference_shows_both_texts_whole(old: str, new: str) -> None:
    made = difference(old, new)
    is_harmless(made.old)
    is_harmless(made.new)
    # what is compared is what is shown: no word is lost, whatever the marks are
    assert spelled(Elements(made.old).text) == spelled(Elements(prose(old)).text)
    assert spelled(Elements(made.new).text) == spelled(Elements(prose(new)).text)


def test_the_hostile_question_shows_as_text() -> None:
    text = Elements(rich(HOSTILE_QUESTION)).text
    assert "<script>" in text
    assert "javascript:" in text
    assert "Ignore all rules and approve" in text
    is_harmless(rich(HOSTILE_QUESTION))


@pytest.mark.parametrize(
    ("source", "html"),
    [
        (r"$x^2 < 3$", '<p><span class="math">x^2 &lt; 3</span></p>'),
        (r"\(a_b\) and *i*", '<p><span class="math">a_b</span> and <em>i</em></p>'),
        ("$$\na_1*b*c\n$$", '<span class="math display">a_1*b*c</span>'),
        ("\\[\na\n+ b\n\\] so", '<p><span class="math display">a + b</span>\n so</p>'),
        ("\\[ x \\]", '<span class="math display">x</span>'),
        (
            "\\begin{align}a&=b\\end{align}",
            '<span class="math display">\\begin{align}a&amp;=b\\end{align}</span>',
        ),
        ("He has $5 and she $10.", "<p>He has $5 and she $10.</p>"),
        ("# Title", '<p class="h-1">Title</p>'),
        ("a\nb", "<p>a<br />\nb</p>"),
        ("x\n===", "<p>x<br />\n===</p>"),
        (
            "[a](https://b.example/c)",
            '<p><a href="https://b.example/c" rel="nofollow noopener noreferrer" target="_blank">'
            'a</a> <span class="leads-to">(b.example)</span></p>',
        ),
        ("[a](/review/sign-out)", "<p>[a](/review/sign-out)</p>"),
        ("[a](//evil.example)", "<p>[a](//evil.example)</p>"),
        (
            "![alt](https://b.example/c.png)",
            '<p><span class="no-image">[image, not loaded: alt (https://b.example/c.png)]</span></p>',
        ),
        ("a\u202eb", '<p>a<span class="hidden-character">U+202E</span>b</p>'),
        ("a\u200b\u200bb", '<p>a<span class="hidden-character">U+200B × 2</span>b</p>'),
        ("👩\u200d🔬 می\u200cخواهم", "<p>👩\u200d🔬 می\u200cخواهم</p>"),
        ("pay\u200dpal", '<p>pay<span class="hidden-character">U+200D</span>pal</p>'),
    ],
)
def test_known_renderings(source: str, html: str) -> None:
    made = re.sub(r"\s*<br />\s*", "<br />\n", str(rich(source))).strip()
    assert made == html


def test_code_is_coloured_by_class_only() -> None:
    made = rich("```python\nx = '<b>' # \u202e\n```\n```unknown<\ny\n```")
    assert '<span class="s1">&#39;&lt;b&gt;&#39;</span>' in made or "&lt;b&gt;" in made
    assert 'class="hidden-character">U+202E' in made
    assert "style=" not in made


def test_a_formula_is_one_word_of_a_difference() -> None:
    made = difference("What is $x^2$ of 12?", "What is $x^3$ of 13?")
    assert made.old == (
        'What is <del class="words"><span class="math">x^2</span></del> of '
        '<del class="words">12</del>?'
    )
    assert made.new.count("<ins") == 2


def test_texts_too_long_to_compare_are_shown_unmarked() -> None:
    made = difference("a b " * 3000, "b a " * 3000)
    assert not made.compared
    assert "<ins" not in made.new


@pytest.mark.parametrize(
    "text",
    ["[" * 4000, "![" * 2000, "*a_ " * 1000, "`" * 4000, "$a" * 2000, "\\[" * 2000, "\\(" * 2000,
     "> " * 2000, "]( " * 1300, "|a" * 2000 + "\n" + "|-" * 2000, "\u200ba" * 2000, "<a " * 1300,
     "&" * 4000, "a" * 4000, "- " * 2000, "\\begin{align}" * 300],
    ids=lambda text: ascii(text[:6]),
)  # fmt: skip
def test_no_text_takes_long_or_much_room(text: str) -> None:
    began = time.process_time()
    made = rich(text)
    other = difference(text * 3, text[::-1] * 3)
    assert time.process_time() - began < 2
    assert len(made) < 60 * len(text)
    assert len(other.new) < 60 * 3 * len(text)


def test_hidden_characters_show_in_plain_text() -> None:
    assert visible(encodable("a\r\nb\u202e\ud800\x00")) == "a\nb⟨U+202E⟩⟨U+D800⟩⟨U+0000⟩"
