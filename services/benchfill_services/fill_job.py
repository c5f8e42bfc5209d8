"""A fill as a job: files in, report out, all progress recorded under the job's id."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import benchfill as bf
from benchfill.errors import InputError
from benchfill_agents.calibrator import CalibrationPlan
from benchfill_agents.fill import Fill, FillOptions, FillParts
from benchfill_agents.pool.config import Pool, read_pool
from benchfill_agents.pool.ledger import Ledger
from benchfill_agents.pool.rollouts import open_runner
from benchfill_agents.rewriter.llm import LLMRewriter
from benchfill_agents.rewriter.template import TemplateRewriter
from benchfill_agents.spending import Allowance
from benchfill_agents.target import targets_of

from .fill_judge import embedder_of, judging_model, make_judge
from .fill_models import prompt_hashes, writer, writing_client
from .report.candidates import assigned, candidates_of, measured_so_far
from .review.opening import CaseSource, open_chosen
from .store import keys
from .store.connection import connect
from .store.fits import FitRequest, fit_of_items, kept_fit
from .store.ledger import RedisLedgerStore
from .store.memory import RedisMemory
from .store.steps import RedisSteps
from .store.transcript import RedisTranscript
from .store.usage import RedisUsage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from redis.asyncio import Redis

    from benchfill.diagnosis import Diagnosis
    from benchfill.onepl import Engine
    from benchfill_agents.fill_report import FillReport
    from benchfill_agents.pool.rollout import RolloutKey
    from benchfill_agents.pool.rollouts import Progress, RolloutRunner
    from benchfill_agents.rewriter import Shortfall
    from benchfill_agents.target import FillTarget

    from .fill_request import FillRequest
    from .report.candidates import Candidate
    from .settings import Settings

SPOOL = "rollouts.jsonl"


@dataclass(frozen=True, eq=False)
class FillInputs:
    """The files of a request, read and fitted."""

    items: tuple[bf.Item, ...]
    pool: Pool
    fit: bf.Fit1PL
    diagnosis: Diagnosis
    targets: tuple[FillTarget, ...]


@dataclass(frozen=True)
class Watchers:
    """Who is told how far a job is."""

    on_message: Callable[[FillTarget, str, Any], None] | None = None
    on_rollouts: Callable[[Progress], None] | None = None


@dataclass(frozen=True, eq=False)
class FillOutcome:
    """What a job ends with."""

    report: FillReport
    transcripts: dict[str, list[dict[str, Any]]]
    in_flight_lost: tuple[RolloutKey, ...]


def read_inputs(request: FillRequest, data_dir: Path) -> FillInputs:
    """Read the files, fit, diagnose and find the targets.

    Raises
    ------
    InputError
        A file cannot be used, or they do not fit together.
    """
    items = bf.read_items(request.items)
    pool = read_pool(request.pool)
    matrix = bf.read_responses(request.responses)
    _check_names(request, matrix, items, pool)
    fit = kept_fit(data_dir, fit_of_items(items, matrix, "mcmc", request.seed))
    diagnosis = bf.diagnose(fit)
    targets = targets_of(
        diagnosis,
        max_gaps=request.max_gaps,
        include_unresolved=request.include_unresolved,
        at=request.at,
    )
    return FillInputs(items, pool, fit, diagnosis, targets)


def fit_files(
    items: Path, responses: Path, *, engine: Engine, seed: int, data_dir: Path
) -> bf.Fit1PL:
    """Fit the responses with the items' guessing probabilities, or take the fit that is kept."""
    return kept_fit(data_dir, fit_request(items, responses, engine=engine, seed=seed))


def fit_request(items: Path, responses: Path, *, engine: Engine, seed: int) -> FitRequest:
    """Read the files of a fit."""
    return fit_of_items(bf.read_items(items), bf.read_responses(responses), engine, seed)


def check_names(request: FillRequest) -> None:
    """Read the files and refuse what does not fit together; nothing is fitted.

    Raises
    ------
    InputError
        A file cannot be used, or they do not fit together.
    """
    items, pool = bf.read_items(request.items), read_pool(request.pool)
    _check_names(request, bf.read_responses(request.responses), items, pool)


def _check_names(
    request: FillRequest, matrix: bf.ResponseMatrix, items: tuple[bf.Item, ...], pool: Pool
) -> None:
    """Refuse what does not fit together before minutes are spent on the fit."""
    known = set(matrix.models)
    for model in pool.models:
        if model.response_name not in known:
            raise InputError(
                f"model {model.name!r} stands in no line of {request.responses} (as "
                f"{model.response_name!r}); set its matrix_name, or measure it with "
                "`benchfill rollouts`.",
                source=str(request.pool),
            )
    if not set(matrix.items) & {item.id for item in items}:
        raise InputError(
            f"none of its items stands in {request.responses}; the ids must be the same.",
            source=str(request.items),
        )
    if request.rewriter == "template" and not any(item.template for item in items):
        raise InputError("no item has a template; use --rewriter llm.", source=str(request.items))
    writer(request, pool)
    if request.judge is not None:
        judging_model(request.judge, pool)


class RunnerOpener(Protocol):
    """Opens the runner of a job, as `open_runner` does."""

    def __call__(
        self,
        pool: Pool,
        ledger: Ledger,
        *,
        on_progress: Callable[[Progress], None] | None = None,
        permit: Callable[[], Awaitable[None]] | None = None,
    ) -> AbstractAsyncContextManager[RolloutRunner]:
        """Give a runner for as long as it is used."""
        ...


@dataclass(frozen=True, eq=False)
class Desk:
    """Where a job's records are kept, and by whose leave it goes on.

    `token` is that of the lease under which all is written; `permit` is awaited before each call
    that may cost something, and raises when none may go out any more. `allowance` stands in for
    that of the request's own budget; `under_review` puts what is chosen up for review.
    """

    redis: Redis
    ledger: Ledger
    usage: RedisUsage
    token: str = ""
    permit: Callable[[], Awaitable[None]] | None = None
    opener: RunnerOpener = open_runner
    allowance: Allowance | None = None
    under_review: bool = True
    data_dir: Path | None = None
    """Where embeddings are kept; without it nothing is embedded."""


async def run_job(
    request: FillRequest, inputs: FillInputs, job: str, settings: Settings, watchers: Watchers
) -> FillOutcome:
    """Fill the targets without a queue, or go on where an earlier run of the job ended."""
    url = settings.redis_url.get_secret_value() if settings.redis_url else None
    source = CaseSource(
        job=job,
        benchmark=request.items.stem,
        version=None,
        items_sha256=_sha256(request.items),
        responses_sha256=_sha256(request.responses),
        writer=None,  # the pool is a file of this user; workers do not have it
        prompts=prompt_hashes(request, inputs.pool),
    )
    async with connect(url, settings.data_dir) as redis:
        usage = RedisUsage(redis, job, "command line")
        async with Ledger(settings.data_dir / SPOOL, RedisLedgerStore(redis, usage, job)) as ledger:
            desk = Desk(redis, ledger, usage, data_dir=settings.data_dir)
            return await carry_out(request, inputs, source, desk, watchers)


async def carry_out(
    request: FillRequest, inputs: FillInputs, source: CaseSource, desk: Desk, watchers: Watchers
) -> FillOutcome:
    """Fill the targets; every step that has a record already is taken from there.

    What is chosen comes under review at once, as a candidate of `source`.
    """
    job = source.job
    names = {model.name: model.response_name for model in inputs.pool.models}
    source = replace(source, matrix_names=names, seed=request.seed)
    await desk.usage.load()
    async with desk.opener(
        inputs.pool, desk.ledger, on_progress=watchers.on_rollouts, permit=desk.permit
    ) as runner:
        options = FillOptions(
            rounds=request.rounds,
            plan=CalibrationPlan(request.calibration, request.min_p_in_gap),
            anchors=request.anchors,
            templates_only=request.rewriter == "template",
            seed=request.seed,
        )
        parts = _parts(request, inputs, source, desk, runner)
        try:
            report = await Fill(parts, options, watchers.on_message).run(inputs.targets)
        finally:
            await desk.usage.settle()
        transcripts = {
            target.id: await RedisTranscript(desk.redis, job, target.id).read()
            for target in inputs.targets
        }
        targets = assigned(inputs.targets, transcripts)
        await _open(desk, source, targets, candidates_of(report, transcripts))
        return FillOutcome(report, transcripts, desk.ledger.in_flight_lost)


async def _open(
    desk: Desk,
    source: CaseSource,
    targets: Mapping[str, FillTarget],
    found: Mapping[str, Sequence[Candidate]],
) -> None:
    if not desk.under_review:
        return
    everything = [one for measured in found.values() for one in measured]
    await open_chosen(desk.redis, source, everything, targets)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _parts(
    request: FillRequest,
    inputs: FillInputs,
    source: CaseSource,
    desk: Desk,
    runner: RolloutRunner,
) -> FillParts:
    job = source.job
    shortfalls: list[Shortfall] = []
    asked = writer(request, inputs.pool, inputs.fit) or inputs.pool.models[0]
    client = writing_client(asked, runner, desk.usage)
    steps = RedisSteps(desk.redis, job, desk.token)
    allowance = desk.allowance or Allowance(
        request.budget_rollouts, request.budget_tokens, request.budget_usd, desk.usage
    )
    judge = None
    if request.judge is not None:
        judging = judging_model(request.judge, inputs.pool)
        judge = make_judge(
            judging,
            writing_client(judging, runner, desk.usage),
            pool=inputs.pool,
            steps=steps,
            allowance=allowance,
            permit=desk.permit,
        )
    return FillParts(
        job=job,
        fit=inputs.fit,
        items=inputs.items,
        pool=inputs.pool,
        runner=runner,
        memory=RedisMemory(desk.redis, job),
        steps=steps,
        transcript=_Transcripts(desk, source, inputs.targets),
        rewriter=TemplateRewriter()
        if request.rewriter == "template"
        else LLMRewriter(client, on_shortfall=shortfalls.append, scoring=inputs.pool.scoring),
        shortfalls=shortfalls,
        model_client=client,
        allowance=allowance,
        judge=judge,
        judge_name=request.judge,
        embedder=embedder_of(desk.data_dir) if desk.data_dir is not None else None,
    )


class _Transcripts:
    """The transcripts of a job, one stream a gap; a chosen child comes under review with it."""

    def __init__(self, desk: Desk, source: CaseSource, targets: Sequence[FillTarget]) -> None:
        self._desk, self._source, self._targets = desk, source, targets

    async def append(self, gap: str, message: dict[str, Any], *, key: str) -> None:
        desk, job = self._desk, self._source.job
        await RedisTranscript(desk.redis, job, gap, desk.token).append(message, key=key)
        if message["kind"] == "assignment":
            # what a gap costs is what the job has spent from here to the next
            spent = repr(desk.usage.usd)
            await desk.redis.hsetnx(keys.job_spent(job), gap, spent)
        if message["kind"] == "calibrationround" and message["content"]["chosen"]:
            said = {gap: await RedisTranscript(desk.redis, job, gap).read()}
            targets = assigned(self._targets, said)
            await _open(desk, self._source, targets, measured_so_far(said))
