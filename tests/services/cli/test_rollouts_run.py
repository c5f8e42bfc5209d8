from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from benchfill.errors import BudgetExhaustedError, InputError, InterruptedRunError
from benchfill_agents.pool.ledger import InMemoryLedgerStore
from benchfill_services.cli.rollouts_run import RolloutsOptions, run_rollouts
from support.scripted_server import Reply, ScriptedServer

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def options(scripted_server: ScriptedServer, tmp_path: Path) -> RolloutsOptions:
    """Two models, three items, two answers a cell."""
    items = [{"id": f"i{n}", "question": f"{n} + 1 =", "answer": str(n + 1)} for n in range(3)]
    (tmp_path / "items.jsonl").write_text("\n".join(json.dumps(item) for item in items))
    models = [
        {"name": name, "model": f"openai/{name}", "api_base": scripted_server.url, "retries": 0}
        for name in ("a", "b")
    ]
    (tmp_path / "pool.yaml").write_text(json.dumps({"models": models, "scoring": "numeric"}))
    return RolloutsOptions(
        items=tmp_path / "items.jsonl",
        pool=tmp_path / "pool.yaml",
        per_cell=2,
        out=tmp_path / "responses.csv",
        data_dir=tmp_path / "data",
    )


def changed(options: RolloutsOptions, **changes: Any) -> RolloutsOptions:
    return RolloutsOptions(**{**options.__dict__, **changes})


async def test_the_matrix_and_the_report(
    scripted_server: ScriptedServer, options: RolloutsOptions
) -> None:
    scripted_server.script(lambda request: Reply("1" if request.model == "a" else "3"))
    result = await run_rollouts(options, InMemoryLedgerStore())
    assert options.out.read_text().splitlines() == [
        "model,item,correct,n",
        *("a,i0,2,2", "a,i1,0,2", "a,i2,0,2"),
        *("b,i0,0,2", "b,i1,0,2", "b,i2,2,2"),
    ]
    assert (result["rollouts"], result["calls"], result["unscored"]) == (12, 12, 0)
    assert result["models"][0]["accuracy"] == pytest.approx(1 / 3)
    assert result["models"][0]["cost"] is None
    json.dumps(result)
    again = await run_rollouts(options, InMemoryLedgerStore())
    assert again["calls"] == 0


async def test_a_spent_budget_leaves_a_partial_matrix_and_the_next_run_completes_it(
    scripted_server: ScriptedServer, options: RolloutsOptions
) -> None:
    with pytest.raises(BudgetExhaustedError, match=r"5 of 12 rollouts .*responses\.partial\.csv"):
        await run_rollouts(changed(options, budget=5), InMemoryLedgerStore())
    partial = options.out.with_name("responses.partial.csv")
    rows = partial.read_text().splitlines()[1:]
    assert sum(int(row.rsplit(",", 1)[1]) for row in rows) == 5
    assert not options.out.exists()
    result = await run_rollouts(options, InMemoryLedgerStore())
    assert result["calls"] == 7
    assert not partial.exists()


async def test_an_interrupt_says_what_is_kept(
    scripted_server: ScriptedServer, options: RolloutsOptions
) -> None:
    scripted_server.script(lambda request: Reply("1", delay=0 if "0 + 1" in request.prompt else 3))
    received = asyncio.Event()
    task = asyncio.create_task(
        run_rollouts(
            options,
            InMemoryLedgerStore(),
            lambda state: received.set() if state.received == 4 else None,
        )
    )
    async with asyncio.timeout(30):
        await received.wait()
    task.cancel()
    with pytest.raises(InterruptedRunError, match="4 of 12 rollouts are kept"):
        await task


async def test_a_failed_cell_is_left_out_and_counted(
    scripted_server: ScriptedServer, options: RolloutsOptions
) -> None:
    scripted_server.script(
        lambda request: Reply("1", status=500 if "2 + 1" in request.prompt else 200)
    )
    result = await run_rollouts(options, InMemoryLedgerStore())
    assert result["unscored"] == 4
    assert "i2" not in options.out.read_text()


async def test_a_file_that_cannot_be_written_is_refused_before_anything_is_bought(
    scripted_server: ScriptedServer, options: RolloutsOptions, tmp_path: Path
) -> None:
    for out in (tmp_path, tmp_path / "none" / "responses.csv"):
        with pytest.raises(InputError):
            await run_rollouts(changed(options, out=out), InMemoryLedgerStore())
    assert not scripted_server.records


async def test_a_parameter_that_was_left_out_is_reported_from_the_ledger_too(
    scripted_server: ScriptedServer, options: RolloutsOptions
) -> None:
    pool = json.loads(options.pool.read_text())
    pool["models"][0]["parameters"] = {"temperature": 0.3}
    options.pool.write_text(json.dumps(pool))

    def answer(request: Any) -> Reply:
        rejected = "temperature" in request.body
        return Reply("temperature is not supported", status=400) if rejected else Reply("1")

    scripted_server.script(answer)
    for calls in (12, 0):
        result = await run_rollouts(options, InMemoryLedgerStore())
        assert result["calls"] == calls
        assert [one["left_out"] for one in result["models"]] == [["temperature"], []]
