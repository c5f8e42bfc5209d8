"""Where a new item is wanted: the middle of a gap, or a place that the user names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from benchfill.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchfill.diagnosis import Diagnosis
    from benchfill.gaps import Gap


class FillTarget(BaseModel):
    """A place on the frozen z scale and the interval in which a child fills it.

    A border is an existing item, whose difficulty is as uncertain as any other's; beyond the
    benchmark's ends one border is missing and its z stands fixed.
    """

    model_config = ConfigDict(frozen=True)

    id: str = Field(description="gap-1, gap-2, ... in the order of the run")
    z: float = Field(description="difficulty that is aimed at")
    z_left: float
    z_right: float
    left_item: str | None
    right_item: str | None

    @property
    def width(self) -> float:
        """Width of the interval."""
        return self.z_right - self.z_left


def targets_of(
    diagnosis: Diagnosis, *, max_gaps: int, include_unresolved: bool, at: Sequence[float] = ()
) -> tuple[FillTarget, ...]:
    """Return the places to fill: those named, else the midpoints of the widest empty gaps."""
    if at:
        return tuple(_place(diagnosis, z, f"gap-{k}") for k, z in enumerate(at, start=1))
    wanted = [gap for gap in diagnosis.gaps if include_unresolved or gap.verdict == "empty"]
    return tuple(_gap(gap, f"gap-{k}") for k, gap in enumerate(wanted[:max_gaps], start=1))


def _gap(gap: Gap, target_id: str) -> FillTarget:
    return FillTarget(
        id=target_id,
        z=gap.midpoint,
        z_left=gap.z_left,
        z_right=gap.z_right,
        left_item=gap.left_item,
        right_item=gap.right_item,
    )


def _place(diagnosis: Diagnosis, z: float, target_id: str) -> FillTarget:
    if not -1 <= z <= 2:
        raise InputError(
            f"{z:g} is too far outside the benchmark; give a z between -1 and 2.", field="--at"
        )
    places = np.array([one.z for one in diagnosis.difficulties])
    names = [one.item for one in diagnosis.difficulties]
    right = int(np.searchsorted(places, z))
    if 0 < right < len(places):
        left_item, right_item = names[right - 1], names[right]
        z_left, z_right = float(places[right - 1]), float(places[right])
    elif right == 0:
        # below all items: as far beyond the place as the easiest item is on this side
        left_item, right_item = None, names[0]
        z_left, z_right = 2 * z - float(places[0]), float(places[0])
    else:
        left_item, right_item = names[-1], None
        z_left, z_right = float(places[-1]), 2 * z - float(places[-1])
    if z_right - z_left < 1e-6:
        raise InputError(f"an item has the difficulty {z:g} already.", field="--at")
    return FillTarget(
        id=target_id,
        z=z,
        z_left=z_left,
        z_right=z_right,
        left_item=left_item,
        right_item=right_item,
    )
