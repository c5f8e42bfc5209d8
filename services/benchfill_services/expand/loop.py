"""The expansion itself: diagnose -> fill -> review or not -> merge, until it has to stop."""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchfill_agents.pool.ledger import Ledger

from ..batch.outcome import end_of
from ..fill_job import SPOOL, Desk, carry_out, check_names, read_inputs
from ..fill_models import prompt_hashes
from ..jobs.inputs import fit_once
from ..jobs.record import FillBudget
from ..report.candidates import assigned, candidates_of
from ..review.merging import Candidates, NothingToMergeError, candidates_for, merge
from ..review.opening import CaseSource, case_for
from ..review.provenance import Content
from ..review.state import CaseState
from ..store.keys import usage_job
from ..store.ledger import RedisLedgerStore
from ..store.transcript import RedisTranscript
from ..store.usage import RedisUsage, read_usage
from .folder import VersionPlace
from .planning import Stop, is_spent, left_of, next_targets
from .record import Round, Spent, standing_of, tried

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from redis.asyncio import Redis

    from benchfill.diagnosis import Diagnosis
    from benchfill_agents.fill_report import FillReport, FillResult
    from benchfill_agents.target import FillTarget

    from ..batch.shared_pools import SharedPools
    from ..fill_job import FillInputs, Watchers
    from ..fill_request import FillRequest
    from ..review.desk import ReviewDesk
    from ..settings import Settings
    from ..store.benchmark_files import VersionFiles
    from .folder import ExpansionFolder
    from .planning import Wanted
    from .record import GapTry, Outcome, Standing


@dataclass(frozen=True, eq=False)
class ExpandParts:
    """What an expansion works with. `fill` holds the options of every round's fill."""

    redis: Redis
    settings: Settings
    pools: SharedPools
    desk: ReviewDesk
    folder: ExpansionFolder
    fill: FillRequest
    wanted: Wanted
    auto_accept: bool
    say: Callable[[str], None]
    watchers: Callable[[], Watchers]


@dataclass
class Expanded:
    """Where an expansion stands when it stops."""

    rounds: list[Round]
    standings: list[Standing]
    diagnoses: tuple[Diagnosis, Diagnosis]
    """Of the benchmark as it was given, and as it is now."""
    stop: Stop
    spent: Spent
    waiting: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class _Now:
    """A round at work."""

    number: int
    job: str
    request: FillRequest
    inputs: FillInputs
    source: CaseSource

    @property
    def into(self) -> Content:
        """What the version holds that the round began with."""
        source = self.source
        return Content(items_sha256=source.items_sha256, responses_sha256=source.responses_sha256)


@dataclass(frozen=True)
class _Halt:
    """A round that cannot be ended now."""

    stop: Stop
    spent: Spent
    waiting: tuple[str, ...] = ()


class Expansion:
    """Expands a benchmark round by round; what is on record is not done again."""

    def __init__(self, parts: ExpandParts) -> None:
        self._parts = parts
        fill = parts.fill
        self._budget = FillBudget(
            rollouts=fill.budget_rollouts, tokens=fill.budget_tokens, usd=fill.budget_usd
        )

    async def run(self) -> Expanded:
        """Go on until there is a reason to stop; an interrupt is one."""
        folder, rounds = self._parts.folder, self._parts.folder.rounds()
        first = await self._inputs(folder.given)
        standings = [standing_of(first.diagnosis, 0, Spent())]
        inputs = first
        for number in range(1, len(rounds) + 1):  # the rounds of earlier runs
            if rounds[number - 1].entered:
                inputs = await self._inputs(folder.version(rounds[:number]))
                standings.append(self._standing(inputs, rounds[:number]))
        while True:
            step = await self._step(inputs, rounds)
            if not isinstance(step, Round):
                break
            rounds.append(step)
            if step.entered:
                inputs = await self._inputs(folder.version(rounds))
                standings.append(self._standing(inputs, rounds))
        both = (first.diagnosis, inputs.diagnosis)
        spent = _spent(rounds) + step.spent
        return Expanded(rounds, standings, both, step.stop, spent, step.waiting)

    async def _step(self, inputs: FillInputs, rounds: list[Round]) -> Round | _Halt:
        """Do the next round, or say why there is none."""
        targets = next_targets(inputs.diagnosis, self._parts.wanted, rounds)
        if isinstance(targets, Stop):
            return _Halt(targets, Spent())
        if is_spent(self._budget, _spent(rounds)):
            return _Halt(_BUDGET, Spent())
        now = await asyncio.to_thread(self._begin, inputs, targets, rounds)
        report = self._parts.folder.kept_fill(now.number, now.job)
        if report is None:
            self._parts.say(
                f"round {now.number}: {len(inputs.fit.responses.items)} items, filling "
                f"{len(targets)} of its empty gaps"
            )
            report = await self._fill(now, rounds)
            end, nothing = end_of(report), not any(one.chosen for one in report.fills)
            if end == "interrupted" or (end == "budget_exhausted" and nothing):
                return _Halt(
                    _INTERRUPTED if end == "interrupted" else _BUDGET,
                    await self._used(now, report),
                )
            self._parts.folder.keep_fill(now.number, now.job, report)
        return await self._settle(now, report)

    def _standing(self, inputs: FillInputs, rounds: Sequence[Round]) -> Standing:
        return standing_of(inputs.diagnosis, rounds[-1].number, _spent(rounds))

    async def _inputs(self, version: VersionPlace) -> FillInputs:
        """Read, fit and diagnose a version."""
        parts = self._parts
        request = replace(parts.fill, items=version.items, responses=version.responses)
        await asyncio.to_thread(check_names, request)
        parts.say(f"fitting {version.responses.name}")
        seed, settings = request.seed, parts.settings
        await fit_once(request.items, request.responses, "mcmc", seed, settings)
        return await asyncio.to_thread(read_inputs, request, settings.data_dir)

    def _begin(
        self, inputs: FillInputs, targets: tuple[FillTarget, ...], rounds: Sequence[Round]
    ) -> _Now:
        parts, number = self._parts, len(rounds) + 1
        version = parts.folder.version(list(rounds))
        # another seed each round: a gap whose item was rejected is to get another one
        request = replace(
            parts.fill,
            items=version.items,
            responses=version.responses,
            max_gaps=len(targets),
            seed=parts.fill.seed + number,
        )
        hashes = {
            str(path): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in (request.items, request.responses, request.pool)
        }
        content = [request.job_id(hashes), [one.model_dump() for one in targets]]
        job = hashlib.sha256(json.dumps(content).encode()).hexdigest()[:32]
        source = CaseSource(
            job=job,
            benchmark=parts.folder.given.items.stem,
            version=None,
            items_sha256=hashes[str(request.items)],
            responses_sha256=hashes[str(request.responses)],
            writer=None,
            prompts=prompt_hashes(request, inputs.pool),
            matrix_names={one.name: one.response_name for one in inputs.pool.models},
            seed=request.seed,
        )
        return _Now(number, job, request, replace(inputs, targets=targets), source)

    async def _fill(self, now: _Now, rounds: Sequence[Round]) -> FillReport:
        parts = self._parts
        left = left_of(self._budget, _spent(rounds))
        request = replace(
            now.request,
            budget_rollouts=left.rollouts,
            budget_tokens=left.tokens,
            budget_usd=left.usd,
        )
        usage = RedisUsage(parts.redis, now.job, "command line")
        store = RedisLedgerStore(parts.redis, usage, now.job)
        async with Ledger(parts.settings.data_dir / SPOOL, store) as ledger:
            desk = Desk(
                parts.redis,
                ledger,
                usage,
                opener=parts.pools.open_runner,
                under_review=not parts.auto_accept,
                data_dir=parts.settings.data_dir,
            )
            done = await carry_out(request, now.inputs, now.source, desk, parts.watchers())
        return done.report

    async def _settle(self, now: _Now, report: FillReport) -> Round | _Halt:
        """Merge what is accepted, unless experts still have to say so."""
        parts = self._parts
        spent = await self._used(now, report)
        if parts.auto_accept:
            found = Candidates(approved=await self._unreviewed(now, report))
        else:
            found = await candidates_for(parts.desk, {now.into}, job=now.job)
            if found.pending or found.disagreements:
                return _Halt(_waits(found, parts.desk.needed), spent, await self._open(now))
        files, entered = await self._merged(now, found)
        done = Round(
            number=now.number,
            job=now.job,
            gaps=tuple(
                _tried(target, fill, entered, found)
                for target, fill in zip(now.inputs.targets, report.fills, strict=True)
            ),
            entered=entered,
            spent=spent,
        )
        parts.folder.keep_round(done, files)
        return done

    async def _merged(
        self, now: _Now, found: Candidates
    ) -> tuple[VersionFiles | None, tuple[str, ...]]:
        """Return the files of the new version and the ids of its new items; none if none enters."""
        if not found.approved:
            return None, ()
        version = VersionPlace(
            now.request.items,
            now.request.responses,
            self._parts.folder.version(self._parts.folder.rounds()).provenance,
        )
        old = await asyncio.to_thread(version.read)
        try:
            made = await merge(self._parts.desk, old, now.into, found)
        except NothingToMergeError:
            return None, ()
        return made.files, made.merging.entered

    async def _unreviewed(self, now: _Now, report: FillReport) -> list[CaseState]:
        """Return what was chosen as cases that nobody has looked at; none is put up for review."""
        transcripts = {
            target.id: await RedisTranscript(self._parts.redis, now.job, target.id).read()
            for target in now.inputs.targets
        }
        targets = assigned(now.inputs.targets, transcripts)
        measured = candidates_of(report, transcripts)
        cases = (
            case_for(now.source, one, targets[gap])
            for gap, candidates in measured.items()
            for one in candidates
            if one.chosen
        )
        needed = self._parts.desk.needed
        return [CaseState(case, [], needed) for case in cases if case is not None]

    async def _open(self, now: _Now) -> tuple[str, ...]:
        """Return the candidates of a round that are not decided."""
        desk = self._parts.desk
        ids = [one for one in await desk.reviews.ids() if one.startswith(f"{now.job}.")]
        states = [CaseState(*one, desk.needed) for one in await desk.reviews.cases(ids)]
        settled = {"approved", "rejected"}
        return tuple(one.case.id for one in states if one.status not in settled)

    async def _used(self, now: _Now, report: FillReport) -> Spent:
        used = await read_usage(self._parts.redis, usage_job(now.job))
        return Spent(
            rollouts=report.rollouts_total,
            tokens=sum(one.prompt_tokens + one.completion_tokens for one in used),
            usd=sum(one.cost for one in used),
        )


_BUDGET = Stop("budget", "the budget is spent; raise it, and the same command goes on.")
_INTERRUPTED = Stop("interrupted", "interrupted; the same command goes on where it was.")


_UNFILLED: dict[str, Outcome] = {
    "resolution_limited": "resolution_limited",
    "budget_exhausted": "budget_exhausted",
}


def _waits(found: Candidates, needed: int) -> Stop:
    parts = []
    if found.pending:
        people = "a reviewer" if needed == 1 else f"{needed} reviewers each"
        parts.append(f"{found.pending} new items wait for the verdicts of {people}")
    if found.disagreements:
        parts.append(f"reviewers disagree on {found.disagreements}, which wait for an adjudicator")
    return Stop(
        "review",
        f"{' and '.join(parts)}; {len(found.approved)} are approved, {found.rejected} rejected. "
        "Judge them on the review page or with `benchfill review`, and run the same command again: "
        "it goes on with what is approved.",
    )


def _tried(
    target: FillTarget, fill: FillResult, entered: Sequence[str], found: Candidates
) -> GapTry:
    """Say what became of a gap."""
    chosen = fill.chosen
    if chosen is None:
        return tried(target, _UNFILLED.get(fill.status, "not_found"), None)
    # reviewers may have had it reworded: the case, not the item, tells
    approved = next((one for one in found.approved if one.case.gap == target.id), None)
    item = approved.latest.revision.item.id if approved else chosen.item
    if approved is None:
        return tried(target, "rejected", item)
    return tried(target, "entered" if item in entered else "left_out", item)


def _spent(rounds: Sequence[Round]) -> Spent:
    return sum((one.spent for one in rounds), Spent())
