"""A generation: chapters in, accepted items out, cell by cell of the blueprint.

Everything that a model was asked is in the ledger, and each turn and each outcome is a recorded
step: the same job, run again, speaks its records until the first thing that was not done.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from benchfill.errors import BenchFillError, BudgetExhaustedError, InputError, ProviderError
from benchfill.textbook.arranging import key_counts, next_key

from .accepting import item_of, used_knowledge, used_spans
from .calls import NotWrittenError, added
from .candidate import Candidate, Trail, Verdicts
from .chapters import knowledge_of
from .duplicates import question_text
from .generation_report import CellResult, GenerationReport
from .item_team import ItemTeam
from .material import ItemTask
from .messages import ItemAssignment, kind_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from benchfill.textbook.blueprint import Blueprint, BlueprintCell
    from benchfill.textbook.chapter import Chapter
    from benchfill.textbook.knowledge import Knowledge
    from benchfill.textbook.taxonomy import Taxonomy

    from ..fill import Transcript
    from ..steps import StepRecord
    from .accepting import Attribution
    from .aim import Aim
    from .calls import Calls, Spent
    from .duplicates import Duplicates
    from .generation_report import Status
    from .seat import Seats

FAILURES_IN_A_ROW = 3
_FAILURES_SHOWN = 5


@dataclass(frozen=True)
class GenerationOptions:
    """How items are made. `tries` is how many candidates a wanted item may take."""

    tries: int = 4
    seed: int = 0


@dataclass(frozen=True, eq=False)
class GenerationParts:
    """What a generation works with, and where things are kept."""

    chapters: Sequence[Chapter]
    taxonomy: Taxonomy
    blueprint: Blueprint
    seats: Seats
    calls: Calls
    steps: StepRecord
    transcript: Transcript
    duplicates: Duplicates
    attribution: Attribution
    aim: Aim | None = None


class Generation:
    """Fills the cells of a blueprint."""

    def __init__(
        self,
        parts: GenerationParts,
        options: GenerationOptions,
        on_candidate: Callable[[Candidate], Awaitable[None]] | None = None,
        on_turn: Callable[[str, str, Any], None] | None = None,
    ) -> None:
        self._parts, self._options = parts, options
        self._on_candidate, self._on_turn = on_candidate, on_turn
        self._known: dict[str, Knowledge] = {}
        self._broken: dict[str, str] = {}
        self._candidates: list[Candidate] = []
        self._spent: list[Spent] = []
        self._by_cell: dict[tuple[str, str, str], list[Candidate]] = {}
        self._failed_in_a_row = 0

    async def run(self) -> GenerationReport:
        """Fill the cells; an interrupt or a spent budget ends with what there is."""
        start = time.perf_counter()
        status: Status
        why = ""
        try:
            await self._read_chapters()
            status = await (self._towards_gaps() if self._parts.aim else self._cell_by_cell())
        except BudgetExhaustedError as error:
            status, why = "budget_exhausted", error.message
        except ProviderError as error:
            status, why = "provider_failed", error.message
        except asyncio.CancelledError:
            status, why = "interrupted", "interrupted; the same command goes on where it was."
        return self._report(status, why, time.perf_counter() - start)

    async def _read_chapters(self) -> None:
        for chapter in self._parts.chapters:
            try:
                known, spent = await knowledge_of(
                    chapter, self._parts.steps, self._parts.calls, self._parts.seats.designer
                )
            except NotWrittenError as error:
                self._broken[chapter.id] = error.message
                self._spent += error.spent
            else:
                self._known[chapter.id] = known
                self._spent += spent
        if not self._known:
            first = next(iter(self._broken.values()), "no chapter was given.")
            raise InputError(f"no chapter could be taken apart into what it teaches: {first}")

    async def _cell_by_cell(self) -> Status:
        complete = True
        for cell in self._parts.blueprint.cells:
            chapters = self._chapters_of(cell)
            most = self._options.tries * cell.count
            while self._accepted(cell) < cell.count and self._spent_tries(cell) < most and chapters:
                await self._write(cell, chapters)
            complete = complete and self._accepted(cell) >= cell.count
        return "complete" if complete else "short"

    async def _towards_gaps(self) -> Status:
        aim = self._parts.aim
        if aim is None:
            raise RuntimeError("no gap is aimed at")
        # without knowledge there is nothing to write about: such a cell is left out
        cells = [cell for cell in self._parts.blueprint.cells if self._chapters_of(cell)]
        tried: set[tuple[str, str, str]] = set()
        while aim.current is not None and cells:
            cell = cells[aim.next_cell(cells, tried)]
            candidate = await self._write(cell, self._chapters_of(cell))
            if candidate.outcome == "accepted":
                tried.add(cell.key)
            elif self._in_vain(cell) >= self._options.tries:
                cells.remove(cell)
        return "gaps_filled" if aim.current is None else "short"

    def _chapters_of(self, cell: BlueprintCell) -> list[Chapter]:
        competency = self._parts.taxonomy.by_id[cell.competency]
        return [
            chapter
            for chapter in self._parts.chapters
            if chapter.id in self._known
            and (not competency.chapters or chapter.id in competency.chapters)
        ]

    def _accepted(self, cell: BlueprintCell) -> int:
        return sum(one.outcome == "accepted" for one in self._by_cell.get(cell.key, ()))

    def _in_vain(self, cell: BlueprintCell) -> int:
        """Return how many of the latest candidates of a cell were written for nothing."""
        outcomes = [one.outcome for one in self._by_cell.get(cell.key, ())][::-1]
        since = outcomes.index("accepted") if "accepted" in outcomes else len(outcomes)
        return sum(one != "failed" for one in outcomes[:since])

    def _spent_tries(self, cell: BlueprintCell) -> int:
        """Return how many candidates were written; a call that failed is no candidate."""
        return sum(one.outcome != "failed" for one in self._by_cell.get(cell.key, ()))

    async def _write(self, cell: BlueprintCell, chapters: Sequence[Chapter]) -> Candidate:
        """Write one candidate. What fails in it stays with it."""
        written = self._by_cell.setdefault(cell.key, [])
        place = f"item-{len(self._candidates) + 1}"
        chapter = chapters[len(written) % len(chapters)]
        key = f"{place}/outcome"
        recorded = await self._parts.steps.get(key)
        if recorded is None:
            candidate = await self._new_candidate(cell, chapter, place)
        else:
            candidate = Candidate.model_validate(recorded)
        try:
            # of a recorded one, too: the gaps and the allowance learn of it again
            candidate = await self._measured(candidate)
        except BenchFillError:
            await self._note(candidate)  # it stays, unmeasured; the next run measures it
            written.append(candidate)
            raise
        if recorded is None:  # failures of an earlier run say nothing of the provider now
            await self._parts.steps.put(key, candidate.model_dump(mode="json"))
            failed = candidate.outcome == "failed"
            self._failed_in_a_row = self._failed_in_a_row + 1 if failed else 0
        await self._note(candidate)
        written.append(candidate)
        if self._failed_in_a_row >= FAILURES_IN_A_ROW:
            raise ProviderError(
                f"{FAILURES_IN_A_ROW} candidates in a row could not be written; the last one: "
                f"{' '.join(candidate.why)}",
                model="",
            )
        return candidate

    async def _note(self, candidate: Candidate) -> None:
        self._candidates.append(candidate)
        self._spent += candidate.spent
        question, item = candidate.question, candidate.item
        if candidate.outcome == "accepted" and item is not None and question is not None:
            self._parts.duplicates.add(item.id, question.stem, question_text(question))
        if self._on_candidate is not None:
            await self._on_candidate(candidate)

    async def _new_candidate(self, cell: BlueprintCell, chapter: Chapter, place: str) -> Candidate:
        number = len(self._candidates) + 1
        trail = Trail()
        base: dict[str, Any] = {
            "place": place,
            "number": number,
            "cell": cell,
            "chapter": chapter.id,
        }
        try:
            await self._discuss(self._task(cell, chapter), place, number, trail)
        except ProviderError as error:
            return Candidate(**base, outcome="failed", why=(error.message,), spent=trail.spent)
        return await self._judged(base, trail, chapter)

    def _task(self, cell: BlueprintCell, chapter: Chapter) -> ItemTask:
        accepted = [one for one in self._candidates if one.outcome == "accepted" and one.question]
        # those of the chapter come last, where they are shown first when there are many
        accepted.sort(key=lambda one: one.chapter == chapter.id)
        dropped = [one for one in self._by_cell.get(cell.key, ()) if one.outcome != "accepted"]
        return ItemTask(
            cell=cell,
            competency=self._parts.taxonomy.by_id[cell.competency],
            chapter=chapter,
            knowledge=self._known[chapter.id],
            summaries=tuple(one.question.summary for one in accepted if one.question),
            failures=tuple(" ".join(one.why)[:600] for one in dropped[-_FAILURES_SHOWN:]),
        )

    async def _discuss(self, task: ItemTask, place: str, number: int, trail: Trail) -> None:
        used = key_counts(
            one.key for one in self._candidates if one.outcome == "accepted" and one.key
        )
        assignment = ItemAssignment(
            competency=task.competency.name,
            bloom=task.cell.bloom,
            difficulty=task.cell.difficulty,
            chapter=task.chapter.title,
            key=next_key(used, seed=self._options.seed, number=number),
            seed=self._options.seed * 1_000_003 + number,
        )
        parts = self._parts
        team = ItemTeam(place, assignment, task, parts.seats, parts.steps, parts.calls)
        async for message in team.run():
            said = message.content
            step = message.metadata.get("step", f"{place}/assignment")
            at = message.metadata.get("at") or _now()
            trail.note(message.source, step, at, said)
            await parts.transcript.append(
                place,
                {
                    "author": message.source,
                    "kind": kind_of(said),
                    "round": said.round + 1,
                    "at": at,
                    "text": said.summary(),
                    # without what it took: who reviews must not learn the models' names
                    "content": said.model_dump(mode="json", exclude={"spent"}),
                },
                key=step,
            )
            if self._on_turn is not None:
                self._on_turn(place, message.source, said)

    async def _judged(self, base: dict[str, Any], trail: Trail, chapter: Chapter) -> Candidate:
        draft = trail.draft
        base |= {
            "first_check_passed": trail.first_check_passed,
            "retries": trail.retries,
            "verdicts": Verdicts(final_check=trail.final, blind_solve=trail.blind),
            "history": tuple(trail.history),
            "spent": trail.spent,
        }
        if draft is not None:
            known = self._known[chapter.id]
            competency = self._parts.taxonomy.by_id[base["cell"].competency]
            nodes = used_knowledge(draft.graph, known)
            spans = used_spans(nodes, known, chapter)
            base |= {
                "key": draft.arranged.key,
                "graph": draft.graph,
                "question": draft.question,
                "arranged": draft.arranged,
                "knowledge": nodes,
                "spans": spans,
                "item": item_of(
                    draft.arranged, base["cell"], competency, nodes, spans, self._parts.attribution
                ),
            }
        if draft is None or not trail.solved:
            return Candidate(**base, outcome="dropped", why=trail.why_not)
        question = draft.question
        twin = await asyncio.to_thread(
            self._parts.duplicates.find, question.stem, question_text(question)
        )
        if twin is not None:
            return Candidate(
                **base,
                outcome="duplicate",
                why=(f"It repeats item {twin.of}.",),
                duplicate_of=twin.of,
                similarity=twin.similarity,
            )
        return Candidate(**base, outcome="accepted")

    async def _measured(self, candidate: Candidate) -> Candidate:
        """Measure an accepted item where a gap is aimed at."""
        aim, item = self._parts.aim, candidate.item
        if aim is None or candidate.outcome != "accepted" or item is None:
            return candidate
        target, calibration = await aim.measure(
            item, candidate.cell, candidate.place, self._parts.steps
        )
        return candidate.model_copy(update={"target": target, "calibration": calibration})

    def _report(self, status: Status, why: str, seconds: float) -> GenerationReport:
        def count(cell: BlueprintCell, outcome: str) -> int:
            return sum(one.outcome == outcome for one in self._by_cell.get(cell.key, ()))

        parts = self._parts
        return GenerationReport(
            status=status,
            why=why,
            warnings=parts.seats.warnings,
            duplicates_by=parts.duplicates.method,
            cells=tuple(
                CellResult(
                    cell=cell,
                    accepted=count(cell, "accepted"),
                    dropped=count(cell, "dropped"),
                    duplicates=count(cell, "duplicate"),
                    failed=count(cell, "failed"),
                )
                for cell in parts.blueprint.cells
            ),
            candidates=tuple(self._candidates),
            knowledge={chapter: tuple(known.by_id) for chapter, known in self._known.items()},
            chapters_failed=self._broken,
            gaps=parts.aim.results() if parts.aim else (),
            rollouts=parts.aim.rollouts if parts.aim else 0,
            spent=added(self._spent),
            seconds=seconds,
        )


def _now() -> str:
    return datetime.now(UTC).isoformat("T", "milliseconds")
