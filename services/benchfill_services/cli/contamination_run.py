"""The work of `benchfill contamination`: tasks, answers through the ledger, figures, report."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from benchfill.errors import BenchFillError, InputError, InterruptedRunError, ProviderError
from benchfill.items import read_items
from benchfill.textbook.contamination import Guess
from benchfill.textbook.contamination import contamination as counted
from benchfill.textbook.guessing import PROTOCOLS, guess_tasks
from benchfill_agents.guess_questions import guess_item, guessing_pool
from benchfill_agents.pool.config import read_pool
from benchfill_agents.pool.ledger import Ledger
from benchfill_agents.pool.rollouts import Progress, RolloutRequest, open_runner

from ..fill_job import SPOOL
from ..report.contamination_page import contamination_methods, contamination_page
from ..report.result import print_result, write_result
from ..store.connection import connect
from ..store.ledger import RedisLedgerStore
from .progress import counting

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from benchfill.items import Item
    from benchfill.textbook.contamination import Contamination
    from benchfill.textbook.guessing import GuessTask, Protocol, Skipped
    from benchfill_agents.pool.config import Pool
    from benchfill_agents.pool.rollout import LedgerStore, Rollout
    from benchfill_agents.pool.rollouts import RolloutRunner

    from ..settings import Settings
    from .output import CommandOutput

NOT_COMPLETE = 3
ProtocolName = Literal["both", "option", "keyword"]


@dataclass(frozen=True)
class ContaminationOptions:
    """What the user asked for."""

    items: Path
    pool: Path
    data_dir: Path
    baseline: Path | None = None
    protocol: str = "both"
    limit: int | None = None
    budget: int | None = None
    seed: int = 0
    out: Path | None = None

    @property
    def protocols(self) -> tuple[Protocol, ...]:
        """The protocols that are meant."""
        return tuple(one for one in PROTOCOLS if self.protocol in {"both", one.split()[1]})


@dataclass(frozen=True)
class _Asked:
    """A task, and whether it is the baseline's."""

    task: GuessTask
    item: Item
    baseline: bool


@dataclass(frozen=True)
class Tasks:
    """All that is asked, and what cannot be."""

    asked: tuple[_Asked, ...]
    skipped: tuple[Skipped, ...]
    skipped_baseline: tuple[Skipped, ...]
    items: int
    baseline_items: int | None


def run_with_progress(
    options: ContaminationOptions, settings: Settings, output: CommandOutput
) -> None:
    """Run with the ledger in Redis and a progress bar on stderr; write the report if asked."""
    url = settings.redis_url.get_secret_value() if settings.redis_url else None

    prepared = prepare(options)  # what cannot be used is said before anything begins

    async def run() -> tuple[Contamination, dict[str, Any]]:
        async with connect(url, settings.data_dir) as redis:
            with counting() as bar:
                task = bar.add_task("guesses", total=None)
                return await run_contamination(
                    options,
                    RedisLedgerStore(redis),
                    lambda state: bar.update(task, total=state.total, completed=state.done),
                    prepared,
                )

    found, spent = asyncio.run(run())
    output.result = found.model_dump(mode="json") | {"spent": spent}
    page = contamination_page(found, spent)
    output.summary = lambda console: print_result(console, page, options.out)
    output.exit_code = NOT_COMPLETE if spent["failed"] else 0
    if options.out is not None:
        envelope = output.envelope()
        methods = contamination_methods(envelope, found, options.protocols)
        write_result(options.out, envelope, output.result, page, methods)


async def run_contamination(
    options: ContaminationOptions,
    store: LedgerStore,
    on_progress: Callable[[Progress], None] | None = None,
    prepared: tuple[Pool, Tasks] | None = None,
) -> tuple[Contamination, dict[str, Any]]:
    """Ask every model for everything hidden, once; return the figures and what was spent.

    Calls that failed are left out of the figures, and `spent` counts them.

    Raises
    ------
    InputError
        No item can be used, or a file cannot be read.
    BudgetExhaustedError, ProviderError, InterruptedRunError
        What was received is kept, and the next run goes on from there. Of a model that gave no
        reply at all nothing can be said.
    """
    pool, tasks = prepared or prepare(options)
    # Task by task, so that a budget that runs out leaves whole tasks, asked of all models.
    requests = [
        RolloutRequest(model.name, one.item, 0) for one in tasks.asked for model in pool.models
    ]
    async with (
        Ledger(options.data_dir / SPOOL, store) as ledger,
        open_runner(pool, ledger, budget=options.budget, on_progress=on_progress) as runner,
    ):
        rollouts = await _run(runner, requests)
        spent = _spent(rollouts, runner, len(ledger.in_flight_lost))
    _check_replies(rollouts)
    by_model = {
        model.name: [one for one in zip(requests, rollouts, strict=True)
                     if one[0].model == model.name]
        for model in pool.models
    }  # fmt: skip
    guesses = [
        Guess(name, asked.task, rollout.text, asked.baseline)
        for name, pairs in by_model.items()
        for asked, (_, rollout) in zip(tasks.asked, pairs, strict=True)
        if rollout.outcome != "failed"
    ]
    found = counted(
        guesses,
        tasks.skipped,
        tasks.skipped_baseline,
        items=tasks.items,
        baseline_items=tasks.baseline_items,
    )
    return found, spent


async def _run(runner: RolloutRunner, requests: Sequence[RolloutRequest]) -> Sequence[Rollout]:
    try:
        return await runner.run(requests)
    except asyncio.CancelledError:
        raise InterruptedRunError(f"interrupted; {await _kept(runner, requests)}") from None
    except InputError:
        raise
    except BenchFillError as error:
        error.message = f"{error.message} {await _kept(runner, requests)}"
        error.args = (error.message,)
        raise


async def _kept(runner: RolloutRunner, requests: Sequence[RolloutRequest]) -> str:
    known = await runner.known(requests)
    return (
        f"{len(known)} of {len(requests)} guesses are kept; run the same command again to get the "
        "rest."
    )


def prepare(options: ContaminationOptions) -> tuple[Pool, Tasks]:
    """Read the files, and hide things.

    Raises
    ------
    InputError
        No item can be used, or a file cannot be read.
    """
    return guessing_pool(read_pool(options.pool)), _tasks(options)


def _check_replies(rollouts: Sequence[Rollout]) -> None:
    """Refuse to say anything of a model whose calls all failed."""
    answered = {one.model_name for one in rollouts if one.outcome != "failed"}
    for one in rollouts:
        if one.model_name not in answered:
            raise ProviderError(
                f"model {one.model_name!r} gave no reply at all ({one.error}); nothing can be said "
                "of it. All replies of others are kept; run the same command again when it is "
                "back, or leave it out of the pool.",
                model=one.model_name,
            )


def _tasks(options: ContaminationOptions) -> Tasks:
    items = _drawn(read_items(options.items), options)
    baseline = None if options.baseline is None else _drawn(read_items(options.baseline), options)
    if baseline is not None:
        _no_overlap(items, baseline, options)
    corpus = (*items, *(baseline or ()))
    asked: list[_Asked] = []
    skipped: list[Skipped] = []
    skipped_baseline: list[Skipped] = []
    for protocol in options.protocols:
        for side, is_baseline in ((items, False), (baseline or (), True)):
            tasks, without = guess_tasks(side, protocol, seed=options.seed, corpus=corpus)
            asked += [_Asked(task, guess_item(task), is_baseline) for task in tasks]
            (skipped_baseline if is_baseline else skipped).extend(without)
    if not any(not one.baseline for one in asked):
        why = skipped[0].why if skipped else "nothing was given"
        raise InputError(
            f"none of its items can be used: the first one {why}.", source=str(options.items)
        )
    return Tasks(
        tuple(asked),
        tuple(skipped),
        tuple(skipped_baseline),
        len(items),
        None if baseline is None else len(baseline),
    )


def _drawn(items: tuple[Item, ...], options: ContaminationOptions) -> tuple[Item, ...]:
    if options.limit is None or options.limit >= len(items):
        return items
    rng = np.random.default_rng(options.seed)
    chosen = sorted(rng.choice(len(items), options.limit, replace=False).tolist())
    return tuple(items[index] for index in chosen)


def _no_overlap(
    items: Sequence[Item], baseline: Sequence[Item], options: ContaminationOptions
) -> None:
    known = {item.content_hash for item in items}
    same = next((item.id for item in baseline if item.content_hash in known), None)
    if same is not None:
        raise InputError(
            f"item {same!r} stands among the items that are tested, too; a baseline holds items "
            "known to be new.",
            source=str(options.baseline),
        )


def _spent(rollouts: Sequence[Rollout], runner: RolloutRunner, lost: int) -> dict[str, Any]:
    costs = [one.cost for one in rollouts]
    known = [cost for cost in costs if cost is not None]
    return {
        "guesses": len(rollouts),
        "failed": sum(one.outcome == "failed" for one in rollouts),
        "calls": runner.budget.spent,
        "in_flight_lost": lost,
        "cost": sum(known) if len(known) == len(costs) else None,
        "prompt_tokens": sum(one.prompt_tokens or 0 for one in rollouts),
        "completion_tokens": sum(one.completion_tokens or 0 for one in rollouts),
    }
