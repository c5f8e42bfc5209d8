"""The two-level taxonomy: areas and their competencies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from .frozen import Frozen, Name, ShortText

if TYPE_CHECKING:
    from collections.abc import Mapping


class Competency(Frozen):
    """What an item tests."""

    id: Name = Field(description="unique within the taxonomy, as: slicing")
    name: Name
    description: ShortText
    chapters: tuple[Name, ...] = Field((), description="ids of the chapters that teach it")
    knowledge: tuple[Name, ...] = Field(
        (), description="ids of the knowledge nodes that belong to it; empty: all of its chapters"
    )


class Area(Frozen):
    """A group of competencies."""

    id: Name
    name: Name
    competencies: tuple[Competency, ...] = Field(min_length=1)


class Taxonomy(Frozen):
    """Areas and competencies, given by an expert or proposed for one to edit."""

    title: Name
    areas: tuple[Area, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _unique(self) -> Taxonomy:
        for what, ids in (
            ("area", [area.id for area in self.areas]),
            ("competency", [one.id for one in self.competencies]),
        ):
            twice = sorted({one for one in ids if ids.count(one) > 1})
            if twice:
                raise ValueError(f"{what} id {twice[0]!r} stands twice; ids must be unique")
        return self

    @property
    def competencies(self) -> tuple[Competency, ...]:
        """All competencies, in the order of the file."""
        return tuple(one for area in self.areas for one in area.competencies)

    @property
    def by_id(self) -> Mapping[str, Competency]:
        """The competencies by their id."""
        return {one.id: one for one in self.competencies}
