"""The work of `benchfill rollouts`: every model of a pool answers every item k times."""

from __future__ import annotations

import asyncio
import contextlib
import csv
import io
import os
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from rich.table import Table
from rich.text import Text

from benchfill.errors import BenchFillError, InputError, InterruptedRunError
from benchfill.items import read_items
from benchfill_agents.pool.config import Pool, PoolModel, read_pool
from benchfill_agents.pool.external_config import RUNNER
from benchfill_agents.pool.ledger import Ledger
from benchfill_agents.pool.rollouts import Progress, RolloutRequest, RolloutRunner, open_runner

from ..fill_job import SPOOL
from ..store.connection import connect
from ..store.ledger import RedisLedgerStore
from .progress import counting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rich.console import Console

    from benchfill_agents.pool.rollout import LedgerStore, Rollout, RolloutKey

    from ..settings import Settings
    from .output import CommandOutput


@dataclass(frozen=True)
class RolloutsOptions:
    """What the user asked for."""

    items: Path
    pool: Path | None
    per_cell: int
    out: Path
    data_dir: Path
    budget: int | None = None
    runner: str | None = None


def run_with_progress(options: RolloutsOptions, settings: Settings, output: CommandOutput) -> None:
    """Run with the ledger in Redis and a progress bar on stderr."""
    url = settings.redis_url.get_secret_value() if settings.redis_url else None

    async def run() -> dict[str, Any]:
        async with connect(url, settings.data_dir) as redis:
            with counting() as bar:
                task = bar.add_task("rollouts", total=None)
                return await run_rollouts(
                    options,
                    RedisLedgerStore(redis),
                    lambda state: bar.update(task, total=state.total, completed=state.done),
                )

    output.result = asyncio.run(run())
    output.summary = lambda console: _print(console, output.result)


def _print(console: Console, result: dict[str, Any]) -> None:
    table = Table("model", "scored", "accuracy", "cost")
    for one in result["models"]:
        accuracy = "-" if one["accuracy"] is None else f"{one['accuracy']:.3f}"
        cost = "unknown" if one["cost"] is None else f"${one['cost']:.4f}"
        table.add_row(Text(one["model"]), f"{one['scored']}/{one['rollouts']}", accuracy, cost)
    console.print(table)
    for one in result["models"]:
        if one["left_out"]:
            listed = ", ".join(one["left_out"])
            console.print(Text(f"{one['model']}: asked without {listed}, which it does not take."))
    console.print(
        f"{result['rollouts']} rollouts ({result['calls']} calls made now, "
        f"{len(result['in_flight_lost'])} lost in flight by an earlier kill) in",
        Text(result["out"]),
    )


async def run_rollouts(
    options: RolloutsOptions,
    store: LedgerStore,
    on_progress: Callable[[Progress], None] | None = None,
) -> dict[str, Any]:
    """Fill the response matrix, and return what the command reports.

    Raises InterruptedRunError on Ctrl-C; then, and at any other end before the last answer, what
    was received stands in a file beside the one that was asked for, and the next run goes on.
    """
    items = read_items(options.items)
    pool = _pool(options)
    if options.per_cell < 1:
        raise InputError(f"-k must be 1 or more, not {options.per_cell}.")
    _check_writable(options.out)
    # Item by item, so that a budget that runs out leaves whole items, answered by all models.
    requests = [
        RolloutRequest(model.name, item, sample)
        for item in items
        for sample in range(options.per_cell)
        for model in pool.models
    ]
    async with (
        Ledger(options.data_dir / SPOOL, store) as ledger,
        open_runner(pool, ledger, budget=options.budget, on_progress=on_progress) as runner,
    ):
        lost = ledger.in_flight_lost
        try:
            rollouts = await runner.run(requests)
        except asyncio.CancelledError:
            note = await _keep_partial(options, pool, runner, requests)
            raise InterruptedRunError(f"interrupted; {note}") from None
        except InputError:
            raise
        except BenchFillError as error:
            note = await _keep_partial(options, pool, runner, requests)
            error.message = f"{error.message} {note}"
            error.args = (error.message,)
            raise
        write_responses(options.out, pool, rollouts)
        with contextlib.suppress(FileNotFoundError):
            _partial_path(options.out).unlink()
        return _report(options, rollouts, runner, lost)


def _pool(options: RolloutsOptions) -> Pool:
    """Return the pool of the file, with the runner of the command line as one more member."""
    if options.runner is None:
        if options.pool is None:
            raise InputError("name who answers: a pool file by --pool, or a program by --runner.")
        return read_pool(options.pool)
    try:
        added = PoolModel.model_validate({"name": RUNNER, "runner": options.runner})
        if options.pool is None:
            return Pool(models=(added,))
        known = read_pool(options.pool)
        return Pool.model_validate({**dict(known), "models": (*known.models, added)})
    except ValidationError as error:
        message = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        raise InputError(f"{message}.", field="--runner") from None


def write_responses(path: Path, pool: Pool, rollouts: Iterable[Rollout]) -> None:
    """Write the long response matrix (CSV), whole or not at all."""
    names = {model.name: model.response_name for model in pool.models}
    correct: Counter[tuple[str, str]] = Counter()
    scored: Counter[tuple[str, str]] = Counter()
    for rollout in rollouts:
        if rollout.correct is not None:
            cell = (names[rollout.model_name], rollout.item_id)
            scored[cell] += 1
            correct[cell] += rollout.correct
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["model", "item", "correct", "n"])
    order = {name: number for number, name in enumerate(names.values())}
    for model, item in sorted(scored, key=lambda cell: order[cell[0]]):
        writer.writerow([model, item, correct[model, item], scored[model, item]])
    _write_whole(path, text.getvalue())


def _write_whole(path: Path, text: str) -> None:
    try:
        with tempfile.NamedTemporaryFile(
            "w", dir=path.parent, prefix=f".{path.name}.", delete=False, encoding="utf-8"
        ) as file:
            try:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
                Path(file.name).chmod(0o644)
                Path(file.name).replace(path)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror}).", source=str(path)) from None


def _check_writable(path: Path) -> None:
    """Refuse before anything is bought, not after."""
    if path.is_dir():
        raise InputError("is a folder; --out is the CSV file to write.", source=str(path))
    if not path.parent.is_dir():
        raise InputError("stands in a folder that does not exist; create it.", source=str(path))
    if not os.access(path.parent, os.W_OK):
        raise InputError("stands in a folder that cannot be written to.", source=str(path))


def _partial_path(path: Path) -> Path:
    return path.with_name(f"{path.stem}.partial{path.suffix or '.csv'}")


async def _keep_partial(
    options: RolloutsOptions, pool: Pool, runner: RolloutRunner, requests: Sequence[RolloutRequest]
) -> str:
    known = await runner.known(requests)
    partial = _partial_path(options.out)
    write_responses(partial, pool, known)
    return (
        f"{len(known)} of {len(requests)} rollouts are kept and stand in {partial}; run the same "
        "command again to get the rest."
    )


def _report(
    options: RolloutsOptions,
    rollouts: Sequence[Rollout],
    runner: RolloutRunner,
    lost: Sequence[RolloutKey],
) -> dict[str, Any]:
    by_model: dict[str, list[Rollout]] = {}
    for rollout in rollouts:
        by_model.setdefault(rollout.model_name, []).append(rollout)
    return {
        "out": str(options.out),
        "rollouts": len(rollouts),
        "unscored": sum(rollout.correct is None for rollout in rollouts),
        "calls": runner.budget.spent,
        "in_flight_lost": [key.model_dump() for key in lost],
        "retries": dict(runner.retries),
        "models": [_of_model(name, answers) for name, answers in by_model.items()],
    }


def _of_model(name: str, rollouts: Sequence[Rollout]) -> dict[str, Any]:
    scores = [rollout.correct for rollout in rollouts if rollout.correct is not None]
    return {
        "model": name,
        "rollouts": len(rollouts),
        "scored": len(scores),
        "accuracy": sum(scores) / len(scores) if scores else None,
        "outcomes": dict(Counter(rollout.outcome for rollout in rollouts)),
        "prompt_tokens": _total(rollout.prompt_tokens for rollout in rollouts),
        "completion_tokens": _total(rollout.completion_tokens for rollout in rollouts),
        "reasoning_tokens": _total(rollout.reasoning_tokens for rollout in rollouts),
        "left_out": sorted({name for rollout in rollouts for name in rollout.left_out}),
        "cost": _total(rollout.cost for rollout in rollouts),
        "seconds": _total(rollout.seconds for rollout in rollouts),
    }


def _total(values: Iterable[float | None]) -> float | None:
    """Sum what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None
