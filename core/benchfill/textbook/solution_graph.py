"""The solution graph: how the answer follows from what is given, rule by rule.

What a graph must fulfil beyond its shape is checked in `graph_checks`, so that a designer is told
everything at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from .frozen import Frozen, Name, ShortText, Symbol

if TYPE_CHECKING:
    from collections.abc import Mapping

NodeKind = Literal["given", "computed", "inferred"]


class SolutionNode(Frozen):
    """An intermediate result.

    ``given`` is stated in the stem; ``computed`` is re-computed from `expression`; ``inferred``
    follows by a rule in words and is left to the Verifier.
    """

    id: Symbol = Field(description="unique; the name by which expressions refer to it")
    kind: NodeKind
    statement: ShortText = Field(description="what holds at this node, in words")
    value: ShortText = Field(
        description="the result: a number, an expression over the free symbols, True or False, a "
        "list, a quoted string; or words (given and inferred only)"
    )
    expression: ShortText | None = Field(
        None,
        description="computed only: how it follows from the nodes that it comes from, by their ids",
    )
    solve_for: Symbol | None = Field(
        None,
        description="a free symbol: `expression` is then an equation, LEFT = RIGHT, and `value` "
        "its solution (several: a list)",
    )
    unit: Name | None = Field(None, description="unit of a number, as: mg, days, %")
    decimals: int | None = Field(
        None, ge=0, le=15, description="the value is rounded to so many decimals"
    )
    concepts: tuple[Name, ...] = Field((), description="ids of knowledge nodes that it is about")


class SolutionEdge(Frozen):
    """That a node follows from another, and by which rule."""

    source: Symbol
    target: Symbol
    rule: Name = Field(
        description="id of a knowledge node (definition, rule, procedure, relationship)"
    )


class SolutionGraph(Frozen):
    """Nodes, edges, and which node is the answer."""

    nodes: tuple[SolutionNode, ...] = Field(min_length=1, max_length=60)
    edges: tuple[SolutionEdge, ...] = Field(max_length=240)
    answer: Symbol = Field(description="id of the node that is the answer")
    symbols: tuple[Symbol, ...] = Field(
        (), max_length=20, description="free symbols of algebra that have no value, as: x, n"
    )

    @property
    def by_id(self) -> Mapping[str, SolutionNode]:
        """The nodes by their id (the last one, where an id stands twice)."""
        return {node.id: node for node in self.nodes}

    def predecessors(self, node_id: str) -> tuple[str, ...]:
        """Return the ids of the nodes that a node comes from, each once."""
        sources = (edge.source for edge in self.edges if edge.target == node_id)
        return tuple(dict.fromkeys(sources))
