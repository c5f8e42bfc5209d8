"""What a fill would cost at most, what it may cost, and who would see what: before it is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from benchfill_agents.anchors import ANCHORS
from benchfill_agents.anchors import MOST_ROLLOUTS as ANCHOR_ROLLOUTS
from benchfill_agents.calibrator.calibrator import FIXED_ROLLOUTS
from benchfill_agents.calibrator.design import Design
from benchfill_agents.pool.prices import price_of
from benchfill_agents.pool.providers import provider_of, stays_here
from benchfill_agents.retriever import PARENTS
from benchfill_agents.team_agents import CHILDREN_PER_PARENT

from .jobs.record import FillBudget, FillSpec
from .store.keys import usage_job
from .store.usage import read_usage

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from benchfill_agents.pool.config import Pool, PoolModel

    from .store.jobs import RedisJobs

_EARLIER = 20  # fills that an expectation rests on at most


class ModelPrice(BaseModel):
    """What a pool model costs, as litellm's price list says; null where it lists none."""

    model: str
    provider: str
    usd_per_million_prompt_tokens: float | None
    usd_per_million_completion_tokens: float | None


class Provider(BaseModel):
    """Who is asked, and so sees held-out items and the children written from them."""

    provider: str
    local: bool
    models: list[str]
    sees: str = Field(description="which held-out items it is sent")


class FillPlan(BaseModel):
    """What a dry run says."""

    rollouts_at_most: int = Field(description="by the budget, or by rounds, children and models")
    rollouts_expected: int | None = Field(
        description="mean of earlier fills with this pool a gap, times the gaps; null without any"
    )
    usd_at_most: float | None = Field(
        description="the budget, or 0 for a local pool; null: nothing bounds it"
    )
    usd_expected: float | None = Field(
        description="mean of the same fills a gap; their unpriced answers count as free"
    )
    earlier_fills: int = Field(description="how many fills the expectations rest on")
    gaps_at_most: int
    providers: list[Provider]
    prices: list[ModelPrice]


@dataclass(frozen=True)
class Earlier:
    """Means of earlier fills, a gap, and how many fills they rest on."""

    rollouts: float | None = None
    dollars: float | None = None
    fills: int = 0


def plan_of(spec: FillSpec, pool: Pool, earlier: Earlier) -> FillPlan:
    """Return the plan of a fill; nothing is asked of any model. Blocks, to import litellm."""
    gaps = len(spec.at) or spec.max_gaps
    rollouts, dollars = earlier.rollouts, earlier.dollars
    at_most = rollouts_at_most(spec, len(pool.models))
    expected = None if rollouts is None else min(round(rollouts * gaps), at_most)
    asked = _asked(spec, pool)
    usd_at_most = 0.0 if all(stays_here(model) for model in asked) else spec.budget.usd
    usd = None if dollars is None else dollars * gaps
    if usd is not None and usd_at_most is not None:
        usd = min(usd, usd_at_most)
    return FillPlan(
        rollouts_at_most=at_most,
        rollouts_expected=expected,
        usd_at_most=usd_at_most,
        usd_expected=usd,
        earlier_fills=earlier.fills,
        gaps_at_most=gaps,
        providers=providers_of(spec, pool),
        prices=_prices(asked),
    )


def rollouts_at_most(spec: FillSpec, models: int) -> int:
    """Return how many rollouts a fill can use: anchors, borders, every child of every round."""
    gaps = len(spec.at) or spec.max_gaps
    sequential = Design().most
    a_child = FIXED_ROLLOUTS * models if spec.calibration == "fixed" else sequential
    children = gaps * spec.rounds * PARENTS * CHILDREN_PER_PARENT
    borders = 0 if spec.calibration == "fixed" else 2 * gaps * sequential
    anchors = ANCHORS * ANCHOR_ROLLOUTS * models if spec.anchors else 0
    most = children * a_child + borders + anchors
    return most if spec.budget.rollouts is None else min(most, spec.budget.rollouts)


def providers_of(spec: FillSpec, pool: Pool) -> list[Provider]:
    """Return who is asked, and what is shown to each."""
    asked: dict[str, list[PoolModel]] = {}
    for model in _asked(spec, pool):
        asked.setdefault(provider_of(model), []).append(model)
    return [
        Provider(
            provider=provider,
            local=all(stays_here(model) for model in models),
            models=[model.name for model in models],
            sees=_seen(spec, pool, models),
        )
        for provider, models in sorted(asked.items())
    ]


def _asked(spec: FillSpec, pool: Pool) -> list[PoolModel]:
    """Return the models that measure, and the judge if it is none of them."""
    return [*pool.models, *(model for model in pool.judges if model.name == spec.judge)]


def _seen(spec: FillSpec, pool: Pool, models: list[PoolModel]) -> str:
    shown = []
    if any(model in pool.models for model in models):
        shown.append("every child that is measured")
        if spec.anchors:
            shown.insert(0, f"up to {ANCHORS} anchor items of the benchmark")
        shown.insert(-1, "the items beside a gap, if they have to be measured again")
    if any(model.name == spec.judge for model in models):
        shown.append("every child that passes the checks of its form, with its answer")
    writes = spec.rewriter == "llm" and any(
        spec.writer in {None, model.name} and model.writes
        for model in models
        if model in pool.models
    )
    if writes:
        who = "if its model is the ablest, " if spec.writer is None else ""
        shown.append(f"{who}the parents and references of each round, with their answers")
    return "; ".join(shown)


async def earlier_fills(redis: Redis, jobs: RedisJobs, spec: FillSpec) -> Earlier:
    """Return what earlier completed fills with this pool took."""
    rollouts, dollars = [], []
    found, _ = await jobs.list(limit=5 * _EARLIER, status="completed")
    for job in found:
        if not isinstance(job.spec, FillSpec) or job.spec.pool != spec.pool:
            continue
        report: Any = await jobs.result(job.id)
        if not report or not report.get("fills"):
            continue
        gaps = len(report["fills"])
        used = await read_usage(redis, usage_job(job.id))
        rollouts.append(report["rollouts_total"] / gaps)
        dollars.append(sum(one.cost for one in used) / gaps)
        if len(rollouts) == _EARLIER:
            break
    if not rollouts:
        return Earlier()
    count = len(rollouts)
    return Earlier(sum(rollouts) / count, sum(dollars) / count, count)


def _prices(models: list[PoolModel]) -> list[ModelPrice]:
    prices = []
    for model in models:
        price = price_of(model)
        prices.append(
            ModelPrice(
                model=model.name,
                provider=provider_of(model),
                usd_per_million_prompt_tokens=None if price is None else price.prompt * 1e6,
                usd_per_million_completion_tokens=None if price is None else price.completion * 1e6,
            )
        )
    return prices


def lower_than(new: FillBudget, old: FillBudget) -> list[str]:
    """Return the amounts that a budget would lower."""
    names = ("rollouts", "tokens", "usd")
    pairs = ((name, getattr(new, name), getattr(old, name)) for name in names)
    return [name for name, now, then in pairs if now is not None and (then is None or now < then)]
