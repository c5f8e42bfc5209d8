"""The pictures of a check: made without a warning, legible at any size."""

from __future__ import annotations

import pytest

from benchfill.plots import DARK, png_of
from benchfill.plots.leave_out import leave_out_picture
from benchfill.plots.misfit import misfit_picture
from support.checks import make_check, with_items
from support.fills import HOSTILE
from support.overlap import collisions


@pytest.mark.parametrize(
    ("name", "items", "listed"),
    [("m", 3, 0), ("m", 12, 2), (HOSTILE, 12, 12), ("m", 4000, 40)],
    ids=["tiny", "small", "hostile", "large"],
)
def test_no_text_overlaps_at_any_size(name: str, items: int, listed: int) -> None:
    check = with_items(make_check(name), items, listed)
    for picture in (misfit_picture(check, theme=DARK), leave_out_picture(check)):
        assert collisions(picture) == []
        assert png_of(picture, dpi=60).startswith(b"\x89PNG")


def test_listed_items_are_named_and_marked() -> None:
    check = with_items(make_check(), 100, 20)
    ax = misfit_picture(check).axes[0]
    texts = [text.get_text() for text in ax.texts]
    assert sum("item" in text and "/" in text for text in texts) == 14
    assert "and 6 more" in texts
    marked = {line.get_label(): len(line.get_xdata()) for line in ax.lines if line.get_label()}
    assert marked["items"] == 80
    assert marked["better models do worse"] == marked["misfits"] == 10


def test_an_item_without_figures_is_no_point() -> None:
    check = make_check()
    none = check.item_fits[0].model_copy(update={"infit": None, "outfit": None})
    empty = check.model_copy(update={"item_fits": (none,)})
    assert collisions(misfit_picture(empty)) == []


def test_few_or_no_models_leave_a_picture() -> None:
    check = make_check()
    for count in (0, 1, 60):
        models = (check.leave_one_out.models * 6)[:count]
        out = check.leave_one_out.model_copy(update={"models": models})
        figure = leave_out_picture(check.model_copy(update={"leave_one_out": out}))
        assert collisions(figure) == []
