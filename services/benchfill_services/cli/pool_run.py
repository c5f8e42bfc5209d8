"""The work of `benchfill pool template` and `benchfill pool check`."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import typer
from rich.table import Table
from rich.text import Text

from benchfill.errors import InputError
from benchfill.items import read_items
from benchfill_agents.pool.checking import SAMPLE_ITEM, check_pool, forecast
from benchfill_agents.pool.config import read_pool
from benchfill_agents.pool.templates import template_names, template_text

from .progress import counting

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from benchfill_agents.pool.checking import Forecast, ModelCheck, PoolCheck

    from .output import CommandOutput

UNUSABLE = 2


def run_template(name: str | None, out: Path | None, output: CommandOutput) -> None:
    """Print the names of all templates, or one template, or write it to a file.

    Raises InputError for a name that there is not, and a file that exists or cannot be written.
    """
    if name is None:
        names = template_names()
        if out is not None:
            raise InputError(f"needs the name of a template: {', '.join(names)}.", field="--out")
        output.result = {"templates": list(names)}
        output.summary = lambda console: console.print(*names, sep="\n")
        return
    text = template_text(name)
    output.result = {"template": name, "out": str(out) if out else None, "text": text}
    if out is None:
        output.summary = lambda _: typer.echo(text, nl=False)
        return
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InputError("exists; name another file.", source=str(out)) from None
    except OSError as error:
        reason = (error.strerror or "unknown error").lower()
        raise InputError(f"cannot be written ({reason}).", source=str(out)) from None
    output.summary = lambda console: console.print(
        Text(f"Wrote {out}; set the variables that it names, then: benchfill pool check {out}")
    )


def run_check(
    pool_file: Path, items: Path | None, output: CommandOutput, *, parameters: bool
) -> None:
    """Check a pool: say what it will cost, do it, show it; exit code 2 when a model fails.

    Raises InputError when the pool or the items cannot be read.
    """
    pool = read_pool(pool_file)
    item = read_items(items)[0] if items is not None else SAMPLE_ITEM
    expected = forecast(pool, item, parameters=parameters)
    typer.echo(_expectation(expected), err=True)
    with counting() as bar:
        task = bar.add_task("models", total=len(pool.who_may_judge))

        def advance(_: ModelCheck) -> None:
            bar.advance(task)

        found = asyncio.run(check_pool(pool, item, parameters=parameters, on_model=advance))
    output.result = {
        "expected": expected.model_dump(mode="json"),
        "asked": item.id if items is not None else None,
        **found.model_dump(mode="json"),
    }
    for one in found.failed:
        typer.echo(f"Error: {one.problem}", err=True)
    output.exit_code = UNUSABLE if found.failed else 0
    output.summary = lambda console: _print(console, found, own_items=items is not None)


def _expectation(expected: Forecast) -> str:
    unknown = expected.price_unknown
    more = f", and calls of unknown price to {', '.join(unknown)}" if unknown else ""
    return f"This makes about {expected.calls} calls, for ${expected.usd:.4f} at most{more}."


def _print(console: Console, found: PoolCheck, *, own_items: bool) -> None:
    table = Table("model", "answers", "seconds", "tokens", "$ per 1,000", "does not take")
    for one in found.models:
        table.add_row(*(Text(cell) for cell in _row(one)))
    console.print(table)
    for one in found.models:
        for line in _notes(one):
            console.print(Text(f"{one.name}: {line}"))
    asked = "the first of your items" if own_items else "a sum; --items asks one of your own"
    console.print(
        Text(
            f"{found.calls} calls, ${found.usd:.4f}. Tokens and cost of a rollout are those of "
            f"one reply to {asked}."
        )
    )


def _row(one: ModelCheck) -> tuple[str, ...]:
    if not one.answers:
        return (one.name, "not called" if one.answers is None else "no", "-", "-", "-", "-")
    tokens = f"{_known(one.prompt_tokens)} + {_known(one.completion_tokens)}"
    cost = one.usd_per_1000_rollouts
    price = f"{'at least ' if one.cut else ''}{cost:.3f}" if cost else "0"
    price = "price unknown" if cost is None else price
    rejected = dict.fromkeys(one.left_out)
    rejected |= dict.fromkeys(p.name for p in one.parameters if p.outcome == "rejected")
    return (one.name, "yes", f"{one.seconds:.2f}", tokens, price, ", ".join(rejected) or "-")


def _known(tokens: int | None) -> str:
    return "?" if tokens is None else f"{tokens:,}"


def _notes(one: ModelCheck) -> list[str]:
    notes = []
    if one.answers is None:
        notes.append("a runner of your own is not started here; let it answer by rollouts.")
    if one.left_out:
        notes.append(f"the pool sets {', '.join(one.left_out)}, which it is asked without.")
    if one.cut:
        thinking = " while it was thinking" if one.reasoning_tokens and not one.reply else ""
        notes.append(f"the reply was cut at its limit of tokens{thinking}; raise the limit.")
    ignored = [p.name for p in one.parameters if p.outcome == "ignored"]
    if ignored:
        notes.append(f"it accepts {' and '.join(ignored)}, but its replies do not show it.")
    if one.retires is not None:
        past = one.retires <= datetime.now(UTC).date().isoformat()
        notes.append(f"the provider {'ended' if past else 'ends'} it on {one.retires}.")
    return notes
