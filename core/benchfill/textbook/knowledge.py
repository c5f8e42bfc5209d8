"""What a chapter teaches: concepts, rules, caveats, and what builds on what."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from .frozen import Frozen, Name, ShortText

if TYPE_CHECKING:
    from collections.abc import Mapping

KnowledgeKind = Literal["concept", "definition", "rule", "procedure", "relationship", "caveat"]

RULE_KINDS: frozenset[str] = frozenset({"definition", "rule", "procedure", "relationship"})
"""Kinds that may carry an edge of a solution graph."""

CONCEPT_KINDS: frozenset[str] = frozenset({"concept", "definition"})
"""Kinds that count as concepts."""


class KnowledgeNode(Frozen):
    """One thing that the chapter teaches."""

    id: Name = Field(description="unique within the chapter, as: slice-excludes-upper")
    kind: KnowledgeKind = Field(
        description="concept, definition, rule, procedure, relationship (derived from rules), or "
        "caveat (limit, common error)"
    )
    name: Name
    statement: ShortText = Field(description="what is taught, in one or two sentences")
    requires: tuple[Name, ...] = Field((), description="ids of the nodes that it builds on")
    passages: tuple[Name, ...] = Field((), description="ids of the passages that say it")


class Knowledge(Frozen):
    """The knowledge of one chapter, a graph without cycles."""

    chapter: Name = Field(description="id of the chapter")
    nodes: tuple[KnowledgeNode, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _graph(self) -> Knowledge:
        ids = [node.id for node in self.nodes]
        twice = sorted({one for one in ids if ids.count(one) > 1})
        if twice:
            raise ValueError(f"node id {twice[0]!r} stands twice; ids must be unique")
        known = set(ids)
        for node in self.nodes:
            unknown = [one for one in node.requires if one not in known]
            if unknown:
                raise ValueError(f"node {node.id!r} requires {unknown[0]!r}, which is no node")
        try:
            TopologicalSorter({node.id: node.requires for node in self.nodes}).prepare()
        except CycleError as error:
            path = " -> ".join(reversed(error.args[1]))
            raise ValueError(f"the nodes require each other in a circle: {path}") from None
        return self

    @property
    def by_id(self) -> Mapping[str, KnowledgeNode]:
        """The nodes by their id."""
        return {node.id: node for node in self.nodes}
