"""A generation with recorded replies, over real HTTP, and what survives when its process dies."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchfill.textbook.blueprint import Blueprint
from benchfill.textbook.chapter import Chapter, Passage, SourceSpan
from benchfill.textbook.taxonomy import Taxonomy
from benchfill_agents.model_client import LiteLLMChatCompletionClient, ModelClientConfig
from benchfill_agents.pool.ledger import InMemoryLedgerStore, Ledger
from benchfill_agents.spending import Allowance
from benchfill_agents.steps import InMemorySteps
from benchfill_agents.textbook.accepting import Attribution
from benchfill_agents.textbook.calls import Calls
from benchfill_agents.textbook.chapters import knowledge_of, proposed_taxonomy
from benchfill_agents.textbook.duplicates import Duplicates
from benchfill_agents.textbook.generation import Generation, GenerationOptions, GenerationParts
from benchfill_agents.textbook.seat import Meter, Seat, Seats
from support.fill_world import KeptTranscript
from support.textbook_world import COMPETENCIES, blueprint, taxonomy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from benchfill_agents.embeddings import Embedder
    from benchfill_agents.textbook.aim import Aim
    from benchfill_agents.textbook.generation_report import GenerationReport

SEATS = {"Designer": "gpt-recorded", "Verifier": "claude-recorded", "Solver": "qwen-recorded"}
PASSAGES = (
    "An array holds numbers in rows and columns, and its shape says how many.",
    "A slice runs up to, but does not include, its upper bound. Indices count from 0.",
    "A loop repeats statements; a condition decides which branch runs.",
)


def chapter(chapter_id: str, *more: str) -> Chapter:
    """A short chapter."""
    passages = tuple(
        Passage(
            id=f"p{number}",
            text=text,
            span=SourceSpan(
                file=f"{chapter_id}.md", chapter=chapter_id, line_start=number, line_end=number
            ),
        )
        for number, text in enumerate((*PASSAGES, *more), start=1)
    )
    return Chapter(id=chapter_id, title=chapter_id, file=f"{chapter_id}.md", passages=passages)


@dataclass
class Durable:
    """What is left of a run whose process dies: the spool on the disk, and the record of steps."""

    folder: Path
    url: str
    steps: InMemorySteps = field(default_factory=InMemorySteps)
    transcript: KeptTranscript = field(default_factory=KeptTranscript)

    @asynccontextmanager
    async def generation(
        self,
        *,
        plan: dict[str, Any] | None = None,
        chapters: tuple[Chapter, ...] | None = None,
        allowance: Allowance | None = None,
        embedder: Embedder | None = None,
        aim: Aim | None = None,
        only: str | None = None,
        tries: int = 4,
        retries: int = 0,
    ) -> AsyncIterator[Generation]:
        """Give a generation as a new process would make it."""
        wanted = plan or blueprint()
        if only is not None:
            wanted = {"cells": [one for one in wanted["cells"] if one["competency"] == only]}
        async with Ledger(self.folder / "spool.jsonl", InMemoryLedgerStore()) as ledger:
            parts = GenerationParts(
                chapters=chapters or tuple(chapter(one) for _, one in COMPETENCIES.values()),
                taxonomy=Taxonomy.model_validate(taxonomy()),
                blueprint=Blueprint.model_validate(wanted),
                seats=seats(self.url, retries),
                calls=Calls(ledger, allowance or Allowance()),
                steps=self.steps,
                transcript=self.transcript,
                duplicates=Duplicates(embedder),
                attribution=Attribution(text="Software Carpentry", licence="CC BY 4.0"),
                aim=aim,
            )
            yield Generation(parts, GenerationOptions(tries=tries))

    async def proposal(self, chapters: tuple[Chapter, ...]) -> Taxonomy:
        """Have a taxonomy proposed, as `--propose-taxonomy` does."""
        async with Ledger(self.folder / "spool.jsonl", InMemoryLedgerStore()) as ledger:
            calls, designer = Calls(ledger, Allowance()), seats(self.url).designer
            known = [await knowledge_of(one, self.steps, calls, designer) for one in chapters]
            proposed, _ = await proposed_taxonomy(
                chapters, [one for one, _ in known], self.steps, calls, designer
            )
            return proposed

    async def run(self, **changes: Any) -> GenerationReport:
        """Run a generation to its end."""
        async with self.generation(**changes) as generation:
            return await generation.run()


def seats(url: str, retries: int = 0, names: dict[str, str] | None = None) -> Seats:
    """The three models of the script."""
    made = []
    for role, name in (names or SEATS).items():
        meter = Meter()
        config = ModelClientConfig(
            name=name, model=f"openai/{name}", api_base=url, retries=retries, first_wait=0.01
        )
        client = LiteLLMChatCompletionClient(config, on_usage=meter.note)
        made.append(Seat(role, name, f"openai/{name}", name, client, meter))  # type: ignore[arg-type]
    return Seats(*made)
