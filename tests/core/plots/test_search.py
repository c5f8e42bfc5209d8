"""The picture of a search."""

from __future__ import annotations

import numpy as np

from benchfill.plots import SearchedChild, search_picture
from support.overlap import collisions, drawn_texts

OUTCOMES = ("outside", "undecided", "resolution_limited", "accepted")


def _children(rounds: int, each: int) -> list[SearchedChild]:
    rng = np.random.default_rng(0)
    children = []
    for number in range(rounds * each):
        z, half = rng.normal(0.5, 0.2), rng.uniform(0.01, 0.1)
        outcome = OUTCOMES[number % 4]
        chosen = number == 3
        children.append(
            SearchedChild(number // each + 1, z, z - half, z + half, outcome, chosen=chosen)
        )
    return children


def test_eight_full_rounds_are_legible() -> None:
    figure = search_picture(_children(8, 16), (0.4, 0.6), 0.5, title="gap-1")
    assert collisions(figure) == []
    said = {text.get_text() for text in drawn_texts(figure.axes[0])}
    assert {"outside (32)", "undecided (32)", "resolution limited (32)", "accepted (32)"} <= said
    assert "chosen" in said


def test_a_search_without_children_says_so() -> None:
    figure = search_picture([], (0.4, 0.6), 0.5)
    assert collisions(figure) == []
    assert "no child was measured" in {text.get_text() for text in figure.axes[0].texts}


def test_a_child_of_an_earlier_gap_stands_in_a_column_of_its_own() -> None:
    child = SearchedChild(None, 0.5, 0.45, 0.55, "accepted", chosen=True)
    figure = search_picture([child], (0.4, 0.6), 0.5)
    labels = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert labels == ["earlier"]


def test_an_endless_interval_does_not_squeeze_the_gap() -> None:
    bound = SearchedChild(1, 0.9, 0.8, 400.0, "outside")
    low, high = search_picture([bound], (0.4, 0.6), 0.5).axes[0].get_ylim()
    assert high - low < 2
