"""Where a candidate lies: gap, target, candidate and parent on the axis of difficulty, as SVG.

Places are in percent of the width, so that words keep their size on a narrow screen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from benchfill_agents.calibrator import Calibration
    from benchfill_agents.target import FillTarget

_MARGIN = 6.0  # percent left free on each side
_STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True)
class Mark:
    """A place on the axis, in percent of the width, and where its words go."""

    z: float
    x: float
    anchor: Anchor


@dataclass(frozen=True)
class Ruler:
    """All places of the drawing."""

    left: Mark
    right: Mark
    target: Mark
    parent: Mark | None
    candidate: Mark | None
    low: Mark | None
    high: Mark | None
    ticks: tuple[tuple[Mark, str], ...]

    @property
    def words(self) -> str:
        """Say in words what is drawn."""
        said = f"The gap reaches from z {self.left.z:.3f} to {self.right.z:.3f}"
        said += f" and its target is {self.target.z:.3f}."
        if self.candidate and self.low and self.high:
            said += f" The candidate lies at {self.candidate.z:.3f}, with 90% probability between "
            said += f"{self.low.z:.3f} and {self.high.z:.3f}."
        return said + (f" Its parent lies at {self.parent.z:.3f}." if self.parent else "")


def ruler(target: FillTarget, calibration: Calibration | None, parent_z: float | None) -> Ruler:
    """Lay out the axis so that everything that matters is on it."""
    places = [target.z, target.z_left, target.z_right]
    if calibration is not None:
        places += [calibration.z, calibration.q05, calibration.q95]
    if parent_z is not None:
        places.append(parent_z)
    low, high = min(places), max(places)
    width = (high - low) or 1e-3

    def mark(z: float, anchor: Anchor | None = None) -> Mark:
        x = _MARGIN + (100 - 2 * _MARGIN) * (z - low) / width
        by_place: Anchor = "start" if x < 30 else "end" if x > 70 else "middle"
        return Mark(z, round(x, 2), anchor or by_place)

    def outward(z: float, anchor: Anchor) -> Mark:
        """Put the words of a border outside of the gap where there is room, else inside."""
        found = mark(z, anchor)
        room = found.x if anchor == "end" else 100 - found.x
        return found if room >= 40 else mark(z, "start" if anchor == "end" else "end")

    step = next((one for one in _STEPS if width / one <= 7), 1.0)
    digits = max(0, -math.floor(math.log10(step)))
    first = math.ceil(low / step)
    ticks = [(first + k) * step for k in range(12) if (first + k) * step <= high + 1e-9]
    return Ruler(
        left=outward(target.z_left, "end"),
        right=outward(target.z_right, "start"),
        target=mark(target.z),
        parent=None if parent_z is None else mark(parent_z),
        candidate=None if calibration is None else mark(calibration.z),
        low=None if calibration is None else mark(calibration.q05),
        high=None if calibration is None else mark(calibration.q95),
        ticks=tuple((mark(z, "middle"), f"{z + 0.0:.{digits}f}") for z in ticks),
    )
