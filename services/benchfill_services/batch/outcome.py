"""What a batch reports: one row a gap, one outcome a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ..store import keys
from ..store.usage import read_usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redis.asyncio import Redis

    from benchfill_agents.fill_report import FillReport

JobEnd = Literal["completed", "budget_exhausted", "interrupted", "failed"]
FailureKind = Literal["input", "provider", "bug"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class GapRow(_Frozen):
    """One gap; z on the frozen scale of its benchmark."""

    job: str = Field(description="name of the job")
    gap: str
    z_left: float
    z_right: float
    outcome: str = Field(description="as in the report of a fill")
    chosen: str | None = Field(description="id of the item")
    z: float | None = Field(description="posterior median")
    q05: float | None
    q95: float | None
    p_in_gap: float | None
    top_3_before: float
    top_3_after: float
    rounds: int
    rollouts: int
    usd: float = Field(description="spent from the gap's beginning to the next one's")


class JobOutcome(_Frozen):
    """What became of a job."""

    job: str = Field(description="name of the job, and of its folder")
    id: str | None = Field(description="of its records; null when its files cannot be read")
    end: JobEnd
    failure: FailureKind | None = None
    error: str | None = None
    found_done: bool = Field(False, description="an earlier run had done it; nothing was asked")
    gaps: tuple[GapRow, ...] = ()
    rollouts: int = Field(0, description="used by the job, anchors included, in all its runs")
    usd: float = Field(0.0, description="spent by the job in all its runs")
    tokens: int = 0
    unpriced: int = Field(0, description="answers whose price is not known; they count as free")
    in_flight_lost: int = Field(0, description="calls that were out at a kill: paid for, perhaps")
    report: str | None = Field(None, description="path of its page, from the batch's folder")

    @property
    def filled(self) -> bool:
        """Whether there was something to fill and all of it was."""
        return bool(self.gaps) and all(one.outcome == "filled" for one in self.gaps)


class BatchReport(_Frozen):
    """All jobs of a file, in its order."""

    jobs: tuple[JobOutcome, ...]
    rollouts: int
    usd: float
    tokens: int
    seconds: float = Field(description="wall time of this run")
    workers: int | None = Field(description="workers started for it; null in one process")


async def outcome_of(  # noqa: PLR0913 - what is known of a job
    redis: Redis,
    name: str,
    job: str,
    report: FillReport,
    *,
    found_done: bool = False,
    page: str | None = None,
) -> JobOutcome:
    """Gather what a job's report and records say."""
    used = await read_usage(redis, keys.usage_job(job))
    usd = sum(one.cost for one in used)
    begun = {gap: float(spent) for gap, spent in (await _hash(redis, keys.job_spent(job))).items()}
    cost = cost_by_gap(begun, usd)
    return JobOutcome(
        job=name,
        id=job,
        end=end_of(report),
        found_done=found_done,
        gaps=tuple(
            GapRow(
                job=name,
                gap=fill.gap,
                z_left=fill.z_left,
                z_right=fill.z_right,
                outcome=fill.status,
                chosen=fill.chosen.item if fill.chosen else None,
                z=fill.chosen.z if fill.chosen else None,
                q05=fill.chosen.q05 if fill.chosen else None,
                q95=fill.chosen.q95 if fill.chosen else None,
                p_in_gap=fill.chosen.p_in_gap if fill.chosen else None,
                top_3_before=fill.top_k_sum.before,
                top_3_after=fill.top_k_sum.after,
                rounds=fill.rounds,
                rollouts=fill.rollouts,
                usd=cost.get(fill.gap, 0.0),
            )
            for fill in report.fills
        ),
        rollouts=report.rollouts_total,
        usd=usd,
        tokens=sum(one.prompt_tokens + one.completion_tokens for one in used),
        unpriced=sum(one.unpriced for one in used),
        in_flight_lost=int(await redis.scard(keys.job_lost(job))),
        report=page,
    )


def cost_by_gap(begun: Mapping[str, float], total: float) -> dict[str, float]:
    """Return what each gap cost, from what was spent when it began; gaps follow one another."""
    order = sorted(begun, key=lambda gap: int(gap.rpartition("-")[2]))
    ends = [*(begun[gap] for gap in order), total][1:]
    return {gap: max(end - begun[gap], 0.0) for gap, end in zip(order, ends, strict=True)}


def end_of(report: FillReport) -> JobEnd:
    """Say how a fill ended, from its report."""
    statuses = {fill.status for fill in report.fills}
    if "interrupted" in statuses:
        return "interrupted"
    return "budget_exhausted" if "budget_exhausted" in statuses else "completed"


async def _hash(redis: Redis, name: str) -> dict[str, str]:
    kept: Any = await redis.hgetall(name)
    return dict(kept)
