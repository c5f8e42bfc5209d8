"""A generation as a job: chapters in, items and report out, all progress recorded under its id."""

from __future__ import annotations

import asyncio
import hashlib
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import benchfill as bf
from benchfill.errors import InputError
from benchfill_agents.calibrator import Bench, CalibrationPlan, Calibrator
from benchfill_agents.embeddings import SentenceEmbedder, installed
from benchfill_agents.memory import MemoryEntry
from benchfill_agents.pool.ledger import Ledger
from benchfill_agents.pool.rollouts import open_runner
from benchfill_agents.spending import Allowance
from benchfill_agents.target import targets_of
from benchfill_agents.textbook.accepting import Attribution
from benchfill_agents.textbook.aim import Aim
from benchfill_agents.textbook.calls import Calls
from benchfill_agents.textbook.chapters import knowledge_of, proposed_taxonomy
from benchfill_agents.textbook.duplicates import Duplicates, text_of
from benchfill_agents.textbook.generation import Generation, GenerationOptions, GenerationParts
from benchfill_agents.textbook.material import PROMPTS
from benchfill_prompts import load

from ..review.textbook_case import TextbookSource, open_case
from ..store.connection import connect
from ..store.fits import fit_of_items, kept_fit
from ..store.ledger import RedisLedgerStore
from ..store.memory import RedisMemory
from ..store.steps import RedisSteps
from ..store.transcript import RedisTranscript
from ..store.usage import RedisUsage
from .seating import seats_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from redis.asyncio import Redis

    from benchfill.textbook.taxonomy import Taxonomy
    from benchfill_agents.pool.rollout import RolloutKey
    from benchfill_agents.pool.rollouts import Progress, RolloutRunner
    from benchfill_agents.textbook.calls import Spent
    from benchfill_agents.textbook.candidate import Candidate
    from benchfill_agents.textbook.generation_report import GenerationReport
    from benchfill_agents.textbook.seat import Seat

    from ..settings import Settings
    from .request import GenerateInputs, GenerateRequest

SPOOL = "rollouts.jsonl"
EMBEDDINGS = "embeddings.sqlite"


@dataclass(frozen=True)
class Watchers:
    """Who is told how far a job is."""

    on_call: Callable[[Seat, str], None] | None = None
    on_turn: Callable[[str, str, Any], None] | None = None
    on_candidate: Callable[[Candidate], None] | None = None
    on_rollouts: Callable[[Progress], None] | None = None


@dataclass(frozen=True, eq=False)
class GenerateOutcome:
    """What a job ends with."""

    report: GenerationReport
    in_flight_lost: tuple[RolloutKey, ...]
    under_review: int


@dataclass(frozen=True, eq=False)
class Office:
    """Where a job's records are kept while it runs."""

    redis: Redis
    job: str
    ledger: Ledger
    allowance: Allowance

    @property
    def steps(self) -> RedisSteps:
        """The record of the job's steps."""
        return RedisSteps(self.redis, self.job)


async def run_job(
    request: GenerateRequest,
    inputs: GenerateInputs,
    job: str,
    settings: Settings,
    watchers: Watchers,
) -> GenerateOutcome:
    """Write items, or go on where an earlier run of the job ended."""
    async with _office(request, job, settings) as office, _runner(inputs, office, watchers) as run:
        aim = None if run is None else await _aim(request, inputs, office, run, settings)
        opened = _Opening(request, inputs, office, watchers)
        known = _known(inputs, settings)
        generation = Generation(
            _parts(request, inputs, office, watchers, known, aim, run),
            GenerationOptions(tries=request.tries, seed=request.seed),
            opened.note,
            watchers.on_turn,
        )
        report = await generation.run()
        return GenerateOutcome(report, office.ledger.in_flight_lost, opened.count)


async def propose_taxonomy(
    request: GenerateRequest,
    inputs: GenerateInputs,
    job: str,
    settings: Settings,
    watchers: Watchers,
) -> tuple[Taxonomy, tuple[Spent, ...]]:
    """Return a taxonomy for an expert to edit, and what it took."""
    chapters, designer = inputs.reading.chapters, seats_of(inputs.models, inputs.pool).designer
    async with _office(request, job, settings) as office:
        calls = Calls(office.ledger, office.allowance, on_call=watchers.on_call)
        found = [await knowledge_of(one, office.steps, calls, designer) for one in chapters]
        known = [knowledge for knowledge, _ in found]
        taxonomy, spent = await proposed_taxonomy(chapters, known, office.steps, calls, designer)
        return taxonomy, (*(one for _, some in found for one in some), *spent)


@asynccontextmanager
async def _office(request: GenerateRequest, job: str, settings: Settings) -> AsyncIterator[Office]:
    url = settings.redis_url.get_secret_value() if settings.redis_url else None
    async with connect(url, settings.data_dir) as redis:
        usage = RedisUsage(redis, job, "command line")
        await usage.load()
        allowance = Allowance(
            request.budget_rollouts, request.budget_tokens, request.budget_usd, usage
        )
        async with Ledger(settings.data_dir / SPOOL, RedisLedgerStore(redis, usage, job)) as ledger:
            try:
                yield Office(redis, job, ledger, allowance)
            finally:
                await usage.settle()


def _runner(
    inputs: GenerateInputs, office: Office, watchers: Watchers
) -> AbstractAsyncContextManager[RolloutRunner | None]:
    """Give the pool's runner where items are measured, else None."""
    if inputs.pool is None or inputs.responses is None:
        return nullcontext()
    return open_runner(inputs.pool, office.ledger, on_progress=watchers.on_rollouts)


async def _aim(
    request: GenerateRequest,
    inputs: GenerateInputs,
    office: Office,
    runner: RolloutRunner,
    settings: Settings,
) -> Aim:
    """Fit the benchmark, find its widest empty gaps, and make the calibrator."""
    if inputs.responses is None or inputs.pool is None:
        raise TypeError(request.aim_gap)
    wanted = fit_of_items(inputs.items, inputs.responses, "mcmc", request.seed)
    fit = await asyncio.to_thread(kept_fit, settings.data_dir, wanted)
    diagnosis = await asyncio.to_thread(bf.diagnose, fit)
    targets = targets_of(diagnosis, max_gaps=request.max_gaps, include_unresolved=False)
    if not targets:
        raise InputError(
            "no gap of these responses is surely empty, so there is nothing to aim at; see "
            "`benchfill diagnose`, or leave --aim-gap out.",
            source=str(request.aim_gap),
        )
    bench = Bench.of(fit, inputs.pool)
    plan = CalibrationPlan(min_p_in_gap=request.min_p_in_gap, at_any_price=True)
    memory = RedisMemory(office.redis, office.job)
    place = {item: number for number, item in enumerate(fit.responses.items)}
    await memory.add(
        *(
            MemoryEntry(
                item=item,
                z=float(bench.scale.to_z(fit.b[place[item.id]])),
                sd=float(fit.b_sd[place[item.id]] / bench.scale.width),
            )
            for item in inputs.items
            if item.id in place
        )
    )
    return Aim(Calibrator(bench, runner, office.allowance, plan), targets, memory)


def _parts(  # noqa: PLR0913, PLR0917 - what a generation is made of
    request: GenerateRequest,
    inputs: GenerateInputs,
    office: Office,
    watchers: Watchers,
    known: Duplicates,
    aim: Aim | None,
    runner: RolloutRunner | None,
) -> GenerationParts:
    if inputs.taxonomy is None or inputs.blueprint is None:
        raise TypeError(request.taxonomy)
    return GenerationParts(
        chapters=inputs.reading.chapters,
        taxonomy=inputs.taxonomy,
        blueprint=inputs.blueprint,
        seats=seats_of(inputs.models, inputs.pool, runner),
        calls=Calls(office.ledger, office.allowance, on_call=watchers.on_call),
        steps=office.steps,
        transcript=_Transcripts(office.redis, office.job),
        duplicates=known,
        attribution=Attribution(text=request.attribution, licence=request.licence),
        aim=aim,
    )


def _known(inputs: GenerateInputs, settings: Settings) -> Duplicates:
    """Return the items of the benchmark, which new ones must not repeat."""
    known = Duplicates(SentenceEmbedder(settings.data_dir / EMBEDDINGS) if installed() else None)
    for item in inputs.items:
        known.add(item.id, item.question, text_of(item.question, item.choices, item.answer))
    return known


class _Transcripts:
    """The transcripts of a job, one stream an item."""

    def __init__(self, redis: Redis, job: str) -> None:
        self._redis, self._job = redis, job

    async def append(self, gap: str, message: dict[str, Any], *, key: str) -> None:
        """See `Transcript.append`."""
        await RedisTranscript(self._redis, self._job, gap).append(message, key=key)


class _Opening:
    """Puts what is accepted and measured up for review, the moment it is."""

    def __init__(
        self,
        request: GenerateRequest,
        inputs: GenerateInputs,
        office: Office,
        watchers: Watchers,
    ) -> None:
        self._redis, self._watchers = office.redis, watchers
        self.count = 0
        self._source = None
        if request.items is not None and request.aim_gap is not None and inputs.pool is not None:
            self._source = TextbookSource(
                job=office.job,
                benchmark=request.items.stem,
                items_sha256=_sha256(request.items),
                responses_sha256=_sha256(request.aim_gap),
                prompts={name: load(name).sha256 for name in PROMPTS},
                matrix_names={one.name: one.response_name for one in inputs.pool.models},
                seed=request.seed,
                attribution=request.attribution,
                licence=request.licence,
            )

    async def note(self, candidate: Candidate) -> None:
        """Open the case of an accepted candidate."""
        if self._source is not None and candidate.calibration is not None:
            self.count += await open_case(self._redis, self._source, candidate)
        if self._watchers.on_candidate is not None:
            self._watchers.on_candidate(candidate)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
