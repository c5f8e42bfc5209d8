"""What is done before items are written: the knowledge of each chapter, and a proposed taxonomy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from benchfill.errors import BenchFillError
from benchfill.textbook.knowledge import Knowledge
from benchfill.textbook.taxonomy import Taxonomy

from .calls import NotWrittenError, Spent
from .material import ask_knowledge, ask_taxonomy
from .replies import KnowledgeReply

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchfill.textbook.chapter import Chapter

    from ..steps import StepRecord
    from .calls import Calls
    from .seat import Seat


async def knowledge_of(
    chapter: Chapter, steps: StepRecord, calls: Calls, designer: Seat
) -> tuple[Knowledge, tuple[Spent, ...]]:
    """Return what a chapter teaches, from the record where it stands there.

    Raises
    ------
    NotWrittenError
        The Designer wrote nothing usable.
    BudgetExhaustedError, ProviderError
        See `Calls.write`.
    """
    place = f"knowledge/{chapter.id}"
    recorded = await steps.get(place)
    if recorded is None:

        async def faults(reply: KnowledgeReply) -> tuple[str, ...]:
            return _faults(chapter, reply)

        written = await calls.write(designer, place, ask_knowledge(chapter), KnowledgeReply, faults)
        knowledge = Knowledge(chapter=chapter.id, nodes=written.value.nodes)
        recorded = {
            "knowledge": knowledge.model_dump(mode="json"),
            "spent": [one.model_dump() for one in written.spent],
        }
        await steps.put(place, recorded)
    return Knowledge.model_validate(recorded["knowledge"]), _spent(recorded)


def _faults(chapter: Chapter, reply: KnowledgeReply) -> tuple[str, ...]:
    try:
        Knowledge(chapter=chapter.id, nodes=reply.nodes)
    except ValidationError as error:
        return tuple(one["msg"].removeprefix("Value error, ") + "." for one in error.errors())
    known = {passage.id for passage in chapter.passages}
    found = []
    for node in reply.nodes:
        if not node.passages:
            found.append(f"Node {node.id!r} names no passage; name those that say it.")
        unknown = [one for one in node.passages if one not in known]
        if unknown:
            found.append(f"Node {node.id!r} names the passage {unknown[0]!r}, which is none.")
    return tuple(found)


async def proposed_taxonomy(
    chapters: Sequence[Chapter],
    knowledge: Sequence[Knowledge],
    steps: StepRecord,
    calls: Calls,
    designer: Seat,
) -> tuple[Taxonomy, tuple[Spent, ...]]:
    """Return a taxonomy for an expert to edit, from the record where it stands there.

    Raises
    ------
    BenchFillError
        The Designer wrote nothing usable.
    BudgetExhaustedError, ProviderError
        See `Calls.write`.
    """
    recorded = await steps.get("taxonomy")
    if recorded is None:

        async def faults(taxonomy: Taxonomy) -> tuple[str, ...]:
            return taxonomy_faults(taxonomy, knowledge)

        try:
            written = await calls.write(
                designer, "taxonomy", ask_taxonomy(chapters, knowledge), Taxonomy, faults
            )
        except NotWrittenError as error:
            raise BenchFillError(f"no taxonomy could be proposed: {error.message}") from error
        recorded = {
            "taxonomy": written.value.model_dump(mode="json"),
            "spent": [one.model_dump() for one in written.spent],
        }
        await steps.put("taxonomy", recorded)
    return Taxonomy.model_validate(recorded["taxonomy"]), _spent(recorded)


def taxonomy_faults(taxonomy: Taxonomy, knowledge: Sequence[Knowledge]) -> tuple[str, ...]:
    """Return where a taxonomy names what there is not, one sentence each."""
    chapters = {one.chapter: set(one.by_id) for one in knowledge}
    found = []
    for one in taxonomy.competencies:
        unknown = [chapter for chapter in one.chapters if chapter not in chapters]
        if unknown:
            found.append(
                f"Competency {one.id!r} names the chapter {unknown[0]!r}; there are "
                f"{', '.join(chapters)}."
            )
            continue
        taught = set().union(*(chapters[chapter] for chapter in one.chapters or chapters))
        strange = [node for node in one.knowledge if node not in taught]
        if strange:
            found.append(f"Competency {one.id!r} names the node {strange[0]!r}, which is none.")
    return tuple(found)


def _spent(recorded: dict[str, Any]) -> tuple[Spent, ...]:
    return tuple(Spent.model_validate(one) for one in recorded["spent"])
