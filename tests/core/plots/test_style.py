"""Untrusted text in pictures."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchfill.plots.style import DARK, LIGHT, Theme, plain, text_width
from support.fills import HOSTILE


def test_what_cannot_be_drawn_is_marked_and_long_text_is_cut_in_its_middle() -> None:
    shown = plain("a\u202eb\x00c 漢\n d", 30)
    assert shown == "a\ufffdb\ufffdc \ufffd d"
    assert plain("x" * 50 + "-end", 20) == "x" * 12 + "…" + "xxx-end"
    assert len(plain(HOSTILE * 1000, 40)) == 40


def test_width_grows_with_the_text() -> None:
    assert 0 < text_width("i") < text_width("m") < text_width("mm")


def test_pyplot_is_never_imported() -> None:
    code = "import sys, benchfill.plots; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_stands_out_from_its_paper(theme: Theme) -> None:
    for colour in (theme.ink, theme.muted, theme.chosen):
        assert _contrast(colour, theme.paper) >= 4.5
    # gap numbers and marks are bold or large: 3 is what WCAG asks of these
    for colour in (theme.item, theme.empty):
        assert _contrast(colour, theme.paper) >= 3


def _contrast(first: str, second: str) -> float:
    light, dark = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
