"""A requested change: a new revision of a candidate, checked, measured and put up for review."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from benchfill_agents.borders import Ground, recorded_ground
from benchfill_agents.calibrator import CalibrationPlan
from benchfill_agents.checking import Checking
from benchfill_agents.pool.prompting import solve_prompts
from benchfill_agents.revision import RevisionParts, RevisionTeam
from benchfill_agents.rewriter import RevisionTask
from benchfill_agents.validator.judge import PROMPTS as JUDGE_PROMPTS
from benchfill_prompts import load

from ..fill_job import fit_files
from ..fill_judge import NOBODY, embedder_of, judging_model, make_judge
from ..fill_models import writing_client
from ..review.case import Revision, ThreadMessage
from ..review.desk import ReviewDesk, now
from ..review.words import kind_of, words_of
from ..store.benchmark_files import ITEMS, RESPONSES
from ..store.memory import RedisMemory
from ..store.steps import RedisSteps
from .case_parts import asked_in_time, means_of, parts_of
from .end import End
from .inputs import benchmark_folder, fit_once

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from benchfill_agents.calibrator import Bench
    from benchfill_agents.revision import Spoken
    from benchfill_agents.validator import Validator

    from ..review.state import CaseState
    from ..settings import Settings
    from .case_parts import CaseParts, Means
    from .leasing import Holding
    from .record import CaseSpec, Job


async def revise(
    job: Job, spec: CaseSpec, redis: Redis, settings: Settings, holding: Holding
) -> End:
    """Write, check and measure what was asked for, and add it to the case.

    Raises
    ------
    NotRevisedError
        The model gave nothing that can be used, or nothing that passes the checks.
    BudgetExhaustedError, ProviderError, InputError
        It cannot be done.
    """
    desk = ReviewDesk(redis, needed=settings.reviews_needed)
    if not await asked_in_time(desk, job, spec):
        return End("cancelled", error="the verdict that asks for it never came.")
    ended = _ended(await desk.state(spec.candidate), job)
    if ended is not None:
        return ended
    parts = await parts_of(job, spec, redis, settings, holding)
    bench = await _bench(parts, spec, redis, settings)
    async with means_of(job, spec, parts, redis, settings, holding) as means:
        steps = RedisSteps(redis, job.id, holding.lease.token)
        validator = _validator(parts, steps, settings, holding, means)
        team = RevisionTeam(
            RevisionParts(
                target=parts.state.case.target,
                bench=bench,
                plan=CalibrationPlan(
                    parts.fill.calibration, parts.fill.min_p_in_gap, at_any_price=True
                ),
                scoring=parts.pool.scoring,
                validator=validator,
                runner=means.runner,
                memory=RedisMemory(redis, spec.fill),
                steps=steps,
                model_client=means.client,
                allowance=means.allowance,
                permit=holding.permit,
                seed=int(job.id[:6], 16),
                replaced=frozenset(one.revision.item.id for one in parts.state.revisions),
            )
        )
        async for spoken in team.run(_task(spec, parts)):
            await _say(job, spec, parts, spoken)
    child, calibration = team.result()
    made = Revision(
        number=spec.revision + 1,
        item=child.item,
        calibration=calibration,
        rewriter=child.rewriter,
        what_changed=child.what_changed,
        rationale=child.rationale,
        requested_by=spec.requested_by,
        at=now(),
        prompts={
            **team.prompts,
            **{name: load(name).sha256 for name in _asked_with(parts)},
        },
    )
    number = await desk.revised(
        spec.candidate, made, by=spec.requested_by, on=spec.revision, job=job.id
    )
    return End("completed", {"revision": number})


def _ended(state: CaseState, job: Job) -> End | None:
    """Return how the job ended, when a worker was killed before it could say so."""
    for event in state.events:
        if event.job == job.id and event.kind == "revision" and event.made is not None:
            return End("completed", {"revision": event.made.number})
        if event.job == job.id and event.kind == "revision_failed":
            return End("failed", error=event.text, told=event.text)
    return None


async def _bench(parts: CaseParts, spec: CaseSpec, redis: Redis, settings: Settings) -> Bench:
    """Return what the fill measured against, with what its anchors and borders told."""
    folder = await benchmark_folder(redis, settings, spec.benchmark, spec.version)
    items, responses = folder / ITEMS, folder / RESPONSES
    seed = parts.fill.seed
    await fit_once(items, responses, "mcmc", seed, settings)
    fit = await asyncio.to_thread(
        fit_files, items, responses, engine="mcmc", seed=seed, data_dir=settings.data_dir
    )
    # the generator of the fill, so that re-estimated abilities are its own
    root = (seed, int(spec.fill[:8], 16))
    ground = await recorded_ground(
        Ground.of(fit, parts.pool), RedisSteps(redis, spec.fill), root, until=parts.state.case.gap
    )
    return ground.bench


def _asked_with(parts: CaseParts) -> tuple[str, ...]:
    """Return the names of the templates by which the pool and the judge are asked."""
    judged = JUDGE_PROMPTS if _judge_of(parts) is not None else ()
    return (*solve_prompts(parts.pool), *judged)


def _task(spec: CaseSpec, parts: CaseParts) -> RevisionTask:
    case, calibration = parts.state.case, parts.revision.calibration
    return RevisionTask(
        target_z=case.target.z,
        item=parts.revision.item,
        item_z=calibration.z if calibration is not None else None,
        parent=case.parent,
        parent_z=case.parent_z,
        request=spec.text,
    )


def _validator(
    parts: CaseParts, steps: RedisSteps, settings: Settings, holding: Holding, means: Means
) -> Validator:
    """Return who checks the revision as the fill had its children checked."""
    judge = None
    if (name := _judge_of(parts)) is not None:
        judging = judging_model(name, parts.pool)
        judge = make_judge(
            judging,
            writing_client(judging, means.runner, means.usage),
            pool=parts.pool,
            steps=steps,
            allowance=means.allowance,
            permit=holding.permit,
        )
    return Checking(
        parts.pool.scoring,
        judge=judge,
        embedder=embedder_of(settings.data_dir),
        templates_only=parts.fill.rewriter == "template",
    ).validator


def _judge_of(parts: CaseParts) -> str | None:
    return None if parts.fill.judge == NOBODY else parts.fill.judge


async def _say(job: Job, spec: CaseSpec, parts: CaseParts, spoken: Spoken) -> None:
    """Put what an agent said into the thread; a step that is replayed is said once."""
    message = ThreadMessage(
        author=spoken.author,
        author_kind="agent",
        kind=kind_of(spoken.content),
        revision=spec.revision + 1,
        text=words_of(spoken.content),
        at=now(),
        job=job.id,
        private_to=spec.requested_by,
    )
    await parts.desk.reviews.say(spec.candidate, message, key=f"{job.id}/{spoken.step}")
