"""The parts of a fill in the arithmetic world, against a provider over real HTTP."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import benchfill as bf
from benchfill_agents.fill import FillParts
from benchfill_agents.memory import InMemoryMemory
from benchfill_agents.model_client import LiteLLMChatCompletionClient, ModelClientConfig
from benchfill_agents.pool.config import read_pool
from benchfill_agents.pool.ledger import InMemoryLedgerStore, Ledger
from benchfill_agents.pool.rollouts import open_runner
from benchfill_agents.rewriter.template import TemplateRewriter
from benchfill_agents.spending import Allowance
from benchfill_agents.steps import InMemorySteps
from benchfill_agents.target import targets_of
from support.arithmetic_world import write_benchmark

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from benchfill_agents.rewriter import Rewriter
    from benchfill_agents.steps import StepRecord
    from benchfill_agents.target import FillTarget

JOB = "0123456789abcdef0123456789abcdef"


@dataclass
class KeptTranscript:
    """A transcript that can be looked at."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    async def append(self, gap: str, message: dict[str, Any], *, key: str) -> None:
        """See `Transcript.append`."""
        if key not in self.keys:
            self.keys.append(key)
            self.messages.append(message)


@dataclass
class World:
    """The fitted benchmark and its widest empty gaps."""

    folder: Path
    url: str

    def __post_init__(self) -> None:
        files = write_benchmark(self.folder, self.url)
        self.pool, self.items = read_pool(files.pool), bf.read_items(files.items)
        self.fit = bf.fit_1pl(bf.read_responses(files.responses), engine="map")
        self.transcript = KeptTranscript()
        self.ledger_store = InMemoryLedgerStore()

    def targets(self, count: int = 1) -> tuple[FillTarget, ...]:
        """Return the widest empty gaps."""
        diagnosis = bf.diagnose(self.fit)
        return targets_of(diagnosis, max_gaps=count, include_unresolved=False)

    def client(self) -> LiteLLMChatCompletionClient:
        """Return a client of the provider's writing model."""
        return LiteLLMChatCompletionClient(
            ModelClientConfig(name="writer", model="openai/writer", api_base=self.url)
        )

    @asynccontextmanager
    async def parts(
        self,
        *,
        rewriter: Rewriter | None = None,
        steps: StepRecord | None = None,
        allowance: Allowance | None = None,
    ) -> AsyncIterator[FillParts]:
        """Give the parts of a fill; memory is new each time, as after a crash without Redis."""
        async with (
            Ledger(self.folder / "spool.jsonl", self.ledger_store) as ledger,
            open_runner(self.pool, ledger) as runner,
        ):
            yield FillParts(
                job=JOB,
                fit=self.fit,
                items=self.items,
                pool=self.pool,
                runner=runner,
                memory=InMemoryMemory(),
                steps=steps or InMemorySteps(),
                transcript=self.transcript,
                rewriter=rewriter or TemplateRewriter(),
                shortfalls=[],
                model_client=self.client(),
                allowance=allowance or Allowance(),
            )
