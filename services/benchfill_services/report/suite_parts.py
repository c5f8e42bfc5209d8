"""What the sections of a suite's report share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchfill.suite.result import Resampled


def figure(one: Resampled | None, digits: int = 3) -> str:
    """Write a figure with its 95% interval."""
    if one is None:
        return "–"
    return f"{one.value:.{digits}f}{interval(one, digits)}"


def interval(one: Resampled, digits: int = 3) -> str:
    """Write an interval in brackets, or nothing where there is none."""
    if one.q025 is None or one.q975 is None:
        return ""
    return f" ({one.q025:.{digits}f} to {one.q975:.{digits}f})"
