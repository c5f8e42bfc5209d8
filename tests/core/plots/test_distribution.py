"""The difficulty distribution: made without a warning, legible whatever it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import benchfill as bf
from benchfill.plots import DARK, difficulty_distribution, png_of
from support.fills import HOSTILE, gapped_fit
from support.overlap import collisions
from support.simulated import abilities, respond

if TYPE_CHECKING:
    from benchfill.targets import Target


def _diagnose(items: int, k: int) -> bf.Diagnosis:
    rng = np.random.default_rng(items)
    b = np.sort(rng.uniform(-3, 3, items))
    return bf.diagnose(bf.fit_1pl(respond(rng, abilities(rng), b, k), engine="map"))


@pytest.mark.parametrize(("items", "k"), [(2, 64), (12, 64), (60, 8), (4000, 4)])
def test_no_text_overlaps_at_any_size(items: int, k: int) -> None:
    found = _diagnose(items, k)
    figure = difficulty_distribution([d.z for d in found.difficulties], bf.Uniform(), found.gaps)
    assert collisions(figure) == []


@pytest.mark.parametrize(
    "target", [bf.Beta(2, 5), bf.Empirical(np.array([0.1, 0.5, 0.5, 0.9]))], ids=["beta", "list"]
)
def test_any_target_can_be_drawn(target: Target) -> None:
    found = _diagnose(12, 16)
    z = [d.z for d in found.difficulties]
    figure = difficulty_distribution(z, target, found.gaps, chosen=[0.5, 1.2], theme=DARK)
    assert collisions(figure) == []
    assert png_of(figure).startswith(b"\x89PNG")


def test_the_shaded_area_is_the_distance_to_the_target() -> None:
    found = _diagnose(12, 64)
    z = np.sort([d.z for d in found.difficulties])
    target = bf.Beta(2, 5)
    figure = difficulty_distribution(z, target, [])
    (area,) = figure.axes[1].collections
    outline = area.get_paths()[0].vertices
    x, y = outline[:, 0], outline[:, 1]
    # the outline may cross itself, so the shaded area is summed strip by strip
    shares = np.unique(y)
    wide = [np.ptp(x[y == share]) for share in shares]
    assert np.trapezoid(wide, shares) == pytest.approx(float(target.wasserstein(z)), abs=2e-3)


def test_the_numbers_of_narrow_neighbouring_gaps_stand_beside_one_another() -> None:
    (gap, *_) = _diagnose(12, 64).gaps
    narrow = [
        gap.model_copy(update={"z_left": z, "z_right": z + 0.004, "midpoint": z + 0.002})
        for z in (0.5, 0.504, 0.508, 0.512, 0.516)
    ]
    assert collisions(difficulty_distribution([0, 0.5, 1], bf.Uniform(), narrow)) == []


def test_hostile_names_are_drawn_as_they_stand_and_kept_in_the_table() -> None:
    found = bf.diagnose(gapped_fit(prefix=HOSTILE * 20))
    figure = difficulty_distribution([d.z for d in found.difficulties], bf.Uniform(), found.gaps)
    assert collisions(figure) == []
    png_of(figure)


def test_one_gap_alone() -> None:
    found = _diagnose(12, 64)
    z = [d.z for d in found.difficulties]
    assert collisions(difficulty_distribution(z, bf.Uniform(), found.gaps[:1])) == []
