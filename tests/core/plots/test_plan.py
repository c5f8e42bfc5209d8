"""The picture of a plan: made without a warning, legible at any size."""

from __future__ import annotations

import numpy as np
import pytest

import benchfill as bf
from benchfill.plots import DARK, plan_picture, png_of
from support.overlap import collisions
from support.simulated import abilities, respond


@pytest.mark.parametrize(("items", "count"), [(2, 1), (60, 60), (4000, 2)])
def test_no_text_overlaps_at_any_size(items: int, count: int) -> None:
    rng = np.random.default_rng(items)
    b = np.sort(rng.uniform(-3, 3, items))
    fit = bf.fit_1pl(respond(rng, abilities(rng), b, 8), engine="map")
    plan = bf.make_plan(fit, bf.PlanRequest(items=count, objective="ddm")).new_items
    assert plan is not None
    figure = plan_picture(bf.DifficultyScale.of(fit.b).to_z(fit.b), plan, theme=DARK)
    assert collisions(figure) == []
    assert png_of(figure).startswith(b"\x89PNG")
