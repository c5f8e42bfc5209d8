"""Two versions as rulers."""

from __future__ import annotations

import numpy as np
import pytest

from benchfill.plots import DARK, png_of
from benchfill.plots.rulers import NewItem, Ruler, gap_rulers
from support.overlap import collisions, drawn_texts


def ruler(title: str, count: int, new: tuple[NewItem, ...] = ()) -> Ruler:
    z = np.linspace(0, 1, count)
    return Ruler(title, [one for one in z if not 0.4 < one < 0.6], [(0.4, 0.6)], new)


@pytest.mark.parametrize("count", [3, 40, 20_000])
def test_titles_axes_and_legend_are_clear_of_one_another(count: int) -> None:
    new = tuple(NewItem(0.4 + 0.02 * k, 0.38, 0.62) for k in range(8))
    figure = gap_rulers(ruler("before: v1", count, new), ruler("after: v2", count, new))
    assert collisions(figure) == []
    said = {text.get_text() for ax in figure.axes for text in drawn_texts(ax)}
    assert {"before: v1", "after: v2", "empty gap", "new item as measured"} <= said


def test_both_rulers_share_one_axis_and_an_endless_interval_squeezes_neither() -> None:
    wide = (NewItem(1.2, 0.9, 400.0),)
    figure = gap_rulers(ruler("a", 20, wide), ruler("b", 20))
    first, second = (ax.get_xlim() for ax in figure.axes)
    assert first == second
    assert first[1] - first[0] < 2.2


def test_a_title_of_a_stranger_is_drawn_as_it_stands() -> None:
    figure = gap_rulers(ruler("$\\frac{$ <b>\u202e" + "x" * 300, 9), ruler("", 9), theme=DARK)
    (title,) = (text.get_text() for text in figure.axes[0].texts)
    assert title.startswith("$\\frac{$ <b>\ufffd")
    assert len(title) <= 70
    assert png_of(figure).startswith(b"\x89PNG")
