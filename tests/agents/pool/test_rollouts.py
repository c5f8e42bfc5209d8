from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest

from benchfill.errors import BudgetExhaustedError, InputError, ProviderError
from benchfill.items import Item
from benchfill_agents.pool.config import Pool, PoolModel
from benchfill_agents.pool.ledger import InMemoryLedgerStore, Ledger
from benchfill_agents.pool.rollouts import Progress, RolloutRequest, RolloutRunner, open_runner
from support.scripted_server import Reply, ScriptedServer

if TYPE_CHECKING:
    from pathlib import Path

ITEMS = tuple(
    Item(id=f"{a}+{b}", question=f"{a} + {b} =", answer=str(a + b)) for a in (1, 2) for b in (3, 4)
)


def pool_of(server: ScriptedServer, *, scoring: Any = "numeric", **fields: Any) -> Pool:
    model = {"name": "m", "model": "openai/scripted", "api_base": server.url, **fields}
    return Pool(models=(PoolModel.model_validate(model),), scoring=scoring)


COMPLETION = {"style": "completion", "parameters": {"max_tokens": 8, "stop": "\n"}}


async def buy(pool: Pool, path: Path, *, samples: int = 1, **options: Any) -> Any:
    async with Ledger(path / "spool.jsonl", InMemoryLedgerStore()) as ledger:
        runner = RolloutRunner(pool, ledger, backoff=0.01, **options)
        requests = [
            RolloutRequest(model.name, item, sample)
            for item in ITEMS
            for sample in range(samples)
            for model in pool.models
        ]
        try:
            return runner, await runner.run(requests)
        except (BudgetExhaustedError, ProviderError) as error:
            return runner, error


@pytest.mark.parametrize("fields", [{}, COMPLETION])
async def test_answers_come_in_order_and_are_bought_once(
    scripted_server: ScriptedServer, tmp_path: Path, fields: dict[str, Any]
) -> None:
    pool = pool_of(scripted_server, **fields)
    _, rollouts = await buy(pool, tmp_path, samples=2)
    assert [r.item_id for r in rollouts] == [item.id for item in ITEMS for _ in range(2)]
    assert all(r.correct and r.outcome == "answered" for r in rollouts)
    assert rollouts[0].prompt_tokens is not None
    assert rollouts[0].cost is None
    assert len(scripted_server.records) == 8
    states: list[Progress] = []
    runner, again = await buy(pool, tmp_path, samples=3, on_progress=states.append)
    assert len(again) == 12
    assert len(scripted_server.records) == 12
    assert runner.budget.spent == 4
    assert (states[-1].done, states[-1].total, states[-1].from_ledger) == (12, 12, 8)


async def test_shots_are_sent_as_lines_or_as_turns(
    scripted_server: ScriptedServer, tmp_path: Path
) -> None:
    common = {
        "max_concurrency": 1,
        "shots": 1,
        "examples": [{"question": "5 + 5 =", "answer": "10"}],
    }
    await buy(pool_of(scripted_server, **common, **COMPLETION), tmp_path / "a")
    assert scripted_server.records[0].body["prompt"].startswith("5 + 5 = 10\n1 + 3 =")
    await buy(pool_of(scripted_server, **common), tmp_path / "b")
    turns = scripted_server.records[-1].body["messages"]
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]
    assert turns[1]["content"] == "10"


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        (Reply(status=429, retry_after=0.05), "rate_limit"),
        (Reply(status=500), "server"),
        (Reply(status=503), "server"),
        (Reply("4", reset=True), "connection"),
        (Reply("4", malformed=True), "malformed"),
        (Reply("4", delay=6), "timeout"),
        (Reply(""), "empty"),
        (Reply("I think that", finish_reason="length"), "truncated"),
        (Reply("The answer is 1", finish_reason="length"), "truncated"),
    ],
)
async def test_a_bad_reply_is_asked_again(
    scripted_server: ScriptedServer, tmp_path: Path, bad: Reply, kind: str
) -> None:
    scripted_server.script([bad])
    runner, rollouts = await buy(pool_of(scripted_server, timeout=2 if bad.delay else 20), tmp_path)
    assert dict(runner.retries) == {kind: 1}
    assert all(r.correct for r in rollouts)
    assert sorted(r.attempts for r in rollouts) == [1, 1, 1, 2]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_a_refused_call_is_not_tried_again(
    scripted_server: ScriptedServer, tmp_path: Path, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POOL_KEY", "sk-very-secret-0123456789")
    scripted_server.script(lambda _: Reply("no: sk-very-secret-0123456789", status=status))
    pool = pool_of(scripted_server, max_concurrency=1, api_key_env="POOL_KEY")
    _, error = await buy(pool, tmp_path)
    assert isinstance(error, ProviderError)
    assert "model 'm' refused the call" in error.message
    assert len(scripted_server.records) == 1
    everything = error.message + (tmp_path / "spool.jsonl").read_text()
    assert "very-secret" not in everything


@pytest.mark.parametrize(
    ("reply", "outcome", "correct"),
    [
        (Reply(""), "empty", False),
        (Reply("", finish_reason="length"), "truncated", False),
        (Reply("let me see", finish_reason="length"), "truncated", False),
        (Reply("let me see"), "answered", False),
        (Reply("", finish_reason="content_filter"), "refused", None),
        (Reply("", refusal="I will not."), "refused", None),
        (Reply("content_policy violated", status=400), "refused", None),
        (Reply(status=500), "failed", None),
    ],
)
async def test_outcomes_without_an_answer(
    scripted_server: ScriptedServer, tmp_path: Path, reply: Reply, outcome: str, correct: Any
) -> None:
    scripted_server.script(lambda _: reply)
    pool = pool_of(scripted_server, retries=1, reply_retries=1)
    _, rollouts = await buy(pool, tmp_path)
    assert {(r.outcome, r.correct) for r in rollouts} == {(outcome, correct)}


async def test_a_completion_cut_after_its_number_is_answered(
    scripted_server: ScriptedServer, tmp_path: Path
) -> None:
    scripted_server.script(lambda _: Reply(" 4\n5 + 5", finish_reason="length"))
    _, rollouts = await buy(pool_of(scripted_server, **COMPLETION), tmp_path)
    assert {r.outcome for r in rollouts} == {"answered"}
    assert [r.correct for r in rollouts] == [True, False, False, False]


async def test_failed_rollouts_are_asked_again_by_the_next_run(
    scripted_server: ScriptedServer, tmp_path: Path
) -> None:
    pool = pool_of(scripted_server, retries=0, max_concurrency=1)
    scripted_server.script([Reply(status=500)])
    _, rollouts = await buy(pool, tmp_path)
    assert [r.outcome for r in rollouts] == ["failed", *["answered"] * 3]
    _, rollouts = await buy(pool, tmp_path)
    assert all(r.correct for r in rollouts)
    assert len(scripted_server.records) == 5


async def test_a_server_that_is_down_ends_the_run(
    scripted_server: ScriptedServer, tmp_path: Path
) -> None:
    pool = pool_of(scripted_server, retries=0).models[0]
    gone = pool.model_copy(update={"api_base": "http://127.0.0.1:9/v1"})
    runner, error = await buy(Pool(models=(gone,), scoring="numeric"), tmp_path, samples=5)
    assert isinstance(error, ProviderError)
    assert error.retryable
    assert runner.budget.spent == 0


async def test_the_budget_ends_the_run_before_it_is_exceeded(
    scripted_server: ScriptedServer, tmp_path: Path
) -> None:
    pool = pool_of(scripted_server)
    scripted_server.script([Reply(status=429), Reply("")])  # free, and paid for in vain
    runner, error = await buy(pool, tmp_path, budget=3)
    assert isinstance(error, BudgetExhaustedError)
    paid = sum(record.status == 200 for record in scripted_server.records)
    assert runner.budget.spent == paid <= 3
    runner, rollouts = await buy(pool, tmp_path, budget=5 - paid)
    assert len(rollouts) == 4
    assert sum(record.status == 200 for record in scripted_server.records) == 5


async def test_concurrency_stays_within_the_limits(
    scripted_server: ScriptedServer, tmp_path: Path
) -> None:
    out, most = 0, 0

    def answer(request: Any) -> Reply:
        nonlocal out, most
        out += 1
        most = max(most, out)
        time.sleep(0.03)
        out -= 1
        return Reply("4")

    scripted_server.script(answer)
    base = pool_of(scripted_server, max_concurrency=3).models[0]
    other = base.model_copy(update={"name": "n", "model": "openai/other"})
    pool = Pool(models=(base, other), scoring="numeric", limits={scripted_server.url: 4})
    await buy(pool, tmp_path, samples=4)
    assert 1 < most <= 4


async def test_a_cancelled_run_keeps_what_was_received(
    scripted_server: ScriptedServer, tmp_path: Path
) -> None:
    scripted_server.script(lambda request: Reply("4", delay=0 if "1 + 3" in request.prompt else 3))
    pool = pool_of(scripted_server)
    received = asyncio.Event()

    def note(state: Progress) -> None:
        if state.received:
            received.set()

    task = asyncio.create_task(buy(pool, tmp_path, on_progress=note))
    async with asyncio.timeout(20):
        await received.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with Ledger(tmp_path / "spool.jsonl", InMemoryLedgerStore()) as ledger:
        assert len(ledger.in_flight_lost) == 3
        runner = RolloutRunner(pool, ledger)
        known = await runner.known([RolloutRequest("m", item, 0) for item in ITEMS])
    assert [(r.item_id, r.correct) for r in known] == [("1+3", True)]


async def test_kept_answers_are_scored_as_the_pool_scores_now(
    scripted_server: ScriptedServer, tmp_path: Path
) -> None:
    scripted_server.script(lambda _: Reply("The answer is 4."))
    _, numeric = await buy(pool_of(scripted_server), tmp_path)
    scripted_server.script(lambda _: Reply(status=500))
    _, exact = await buy(pool_of(scripted_server, scoring="exact"), tmp_path)
    assert [r.extracted for r in numeric] == ["4"] * 4
    assert [r.extracted for r in exact] == ["4."] * 4


async def test_a_reference_that_cannot_be_scored_is_refused_before_anything_is_bought(
    scripted_server: ScriptedServer, tmp_path: Path
) -> None:
    async with Ledger(tmp_path / "spool.jsonl", InMemoryLedgerStore()) as ledger:
        runner = RolloutRunner(pool_of(scripted_server), ledger)
        with pytest.raises(
            InputError, match="item 'x' cannot be scored as numeric: the answer 'four'"
        ):
            await runner.run([RolloutRequest("m", Item(id="x", question="?", answer="four"), 0)])
    assert not scripted_server.records


async def test_a_missing_key_names_the_variable(
    scripted_server: ScriptedServer, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="BENCHFILL_TEST_NO_SUCH_KEY, which is not set"):
        await buy(pool_of(scripted_server, api_key_env="BENCHFILL_TEST_NO_SUCH_KEY"), tmp_path)


async def test_a_foreign_address_is_not_sent_the_key_of_openai(
    scripted_server: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    seen: list[str] = []

    def look(request: Any) -> Reply:
        seen.append(str(request.headers))
        return Reply("4")

    scripted_server.script(look)
    await buy(pool_of(scripted_server), tmp_path)
    assert seen
    assert "sk-of-openai" not in "".join(seen)


async def test_the_local_server_answers(tmp_path: Path) -> None:
    """The real model, through the real server: one-digit sums with shots are mostly right."""
    examples = [{"question": f"{a} + {b} =", "answer": str(a + b)} for a, b in ((5, 2), (3, 3))]
    model = {
        "name": "tiny",
        "model": "openai/SmolLM2-135M-Instruct",
        "api_base": "local",
        "style": "completion",
        "shots": 2,
        "parameters": {"max_tokens": 6, "stop": "\n", "temperature": 0, "seed": "per_sample"},
    }
    pool = Pool.model_validate({"models": [model], "examples": examples, "scoring": "numeric"})
    async with (
        Ledger(tmp_path / "spool.jsonl", InMemoryLedgerStore()) as ledger,
        open_runner(pool, ledger) as runner,
    ):
        rollouts = await runner.run([RolloutRequest("tiny", item, 0) for item in ITEMS])
    assert {r.outcome for r in rollouts} == {"answered"}
    assert sum(bool(r.correct) for r in rollouts) >= 2
    assert rollouts[0].cost == 0.0
