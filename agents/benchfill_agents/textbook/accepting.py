"""What an item carries along: what it rests on, where the source says so, and whose that is."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchfill.items import Item
    from benchfill.textbook.blueprint import BlueprintCell
    from benchfill.textbook.chapter import Chapter, SourceSpan
    from benchfill.textbook.knowledge import Knowledge
    from benchfill.textbook.question import ArrangedQuestion
    from benchfill.textbook.solution_graph import SolutionGraph
    from benchfill.textbook.taxonomy import Competency

_MOST_SPANS = 12


class Attribution(BaseModel):
    """Whose source it is, and under which licence items made from it may be passed on."""

    model_config = ConfigDict(frozen=True)

    text: str | None = Field(None, description="as the licence wants it named")
    licence: str | None = None


def used_knowledge(graph: SolutionGraph, knowledge: Knowledge) -> tuple[str, ...]:
    """Return the knowledge nodes that a graph rests on, in the order of the chapter."""
    named = {edge.rule for edge in graph.edges}
    named |= {concept for node in graph.nodes for concept in node.concepts}
    return tuple(one for one in knowledge.by_id if one in named)


def used_spans(
    nodes: Sequence[str], knowledge: Knowledge, chapter: Chapter
) -> tuple[SourceSpan, ...]:
    """Return where the source says what these nodes say, each place once."""
    by_id = knowledge.by_id
    wanted = {passage for node in nodes for passage in by_id[node].passages}
    return tuple(one.span for one in chapter.passages if one.id in wanted)[:_MOST_SPANS]


def item_of(  # noqa: PLR0913, PLR0917 - what its metadata are made of
    arranged: ArrangedQuestion,
    cell: BlueprintCell,
    competency: Competency,
    knowledge: Sequence[str],
    spans: Sequence[SourceSpan],
    attribution: Attribution,
) -> Item:
    """Return the benchmark item, with where it comes from in its metadata."""
    content = "\n".join((arranged.stem, *arranged.options, arranged.key))
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    item = arranged.item(
        f"{competency.id}-{digest}",
        {
            "subject": competency.name,
            "competency": competency.id,
            "bloom": cell.bloom,
            "intended_difficulty": cell.difficulty,
            "key": arranged.key,
            "option_order": arranged.order.model_dump(mode="json"),
            "knowledge": list(knowledge),
            "source": [one.cite() for one in spans],
            "attribution": attribution.text,
            "licence": attribution.licence,
            "generated_by": "benchfill generate",
        },
    )
    return item.model_copy(update={"domain": "multiple_choice"})
