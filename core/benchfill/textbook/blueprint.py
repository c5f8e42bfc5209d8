"""The blueprint: how many items of which competency, Bloom level and difficulty."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from .frozen import Frozen, Name

Bloom = Literal["Apply", "Analyze", "Evaluate", "Create"]
BLOOM_LEVELS: tuple[Bloom, ...] = ("Apply", "Analyze", "Evaluate", "Create")

Difficulty = Literal["Easy", "Medium", "Hard"]


class BlueprintCell(Frozen):
    """One kind of item, and how many of it are wanted."""

    competency: Name = Field(description="id of a competency of the taxonomy")
    bloom: Bloom
    difficulty: Difficulty = "Hard"
    count: int = Field(ge=1, le=10_000, description="items wanted")

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes two cells the same."""
        return self.competency, self.bloom, self.difficulty


class Blueprint(Frozen):
    """The cells, in the order in which they are filled."""

    cells: tuple[BlueprintCell, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _unique(self) -> Blueprint:
        seen: set[tuple[str, str, str]] = set()
        for cell in self.cells:
            if cell.key in seen:
                raise ValueError(
                    f"the cell {', '.join(cell.key)} stands twice; give its total count once"
                )
            seen.add(cell.key)
        return self

    @property
    def count(self) -> int:
        """Items wanted, over all cells."""
        return sum(cell.count for cell in self.cells)
