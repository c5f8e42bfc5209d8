"""Calls that write and judge wait where rollouts wait, and drop no parameter in silence."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from autogen_core.models import CreateResult, UserMessage

from benchfill.errors import ProviderError
from benchfill.items import Item
from benchfill_agents.model_client import LiteLLMChatCompletionClient
from benchfill_agents.pool.config import Pool, PoolModel, Rate
from benchfill_agents.pool.ledger import InMemoryLedgerStore, Ledger
from benchfill_agents.pool.pace import WRITING, Pace
from benchfill_agents.pool.rollouts import RolloutRequest, RolloutRunner
from benchfill_agents.rewriter.draft import Draft
from benchfill_agents.spending import Allowance
from benchfill_agents.steps import InMemorySteps
from benchfill_agents.validator.judge import Judge
from benchfill_agents.validator.judge_calls import JudgeCalls
from support.judging import APPLES, ScriptedJudge, solution, verdict
from support.scripted_server import Reply

if TYPE_CHECKING:
    from pathlib import Path

    from support.scripted_server import Request, ScriptedServer

QUESTION = [UserMessage(content="What is 3 + 4?", source="user")]
ITEMS = tuple(Item(id=str(a), question=f"{a} + 3 =", answer=str(a + 3)) for a in range(6))


def model_at(url: str, **fields: Any) -> PoolModel:
    given = {"name": "judge", "model": "openai/judge", "api_base": url, **fields}
    return PoolModel.model_validate(given)


def runner_of(pool: Pool, path: Path) -> RolloutRunner:
    ledger = Ledger(path / "spool.jsonl", InMemoryLedgerStore())
    return RolloutRunner(pool, ledger, backoff=0.01)


def client_of(runner: RolloutRunner, model: PoolModel) -> LiteLLMChatCompletionClient:
    return LiteLLMChatCompletionClient.from_pool_model(model, door=runner.door_of(model))


def alone(server: ScriptedServer, **fields: Any) -> LiteLLMChatCompletionClient:
    """Return a client outside of any pool's runner."""
    return LiteLLMChatCompletionClient.from_pool_model(model_at(server.url, **fields))


async def warm(server: ScriptedServer) -> float:
    """Import and connect; return the time after it."""
    await alone(server).create(QUESTION)
    server.records.clear()
    return time.time()


async def test_the_judge_keeps_its_rate_on_the_wire(
    scripted_server: ScriptedServer, tmp_path: Path
) -> None:
    """Four items take 12 calls, at 5 a second, of a judge that measures nothing."""
    judging = model_at(scripted_server.url, rpm=300)
    pool = Pool(models=(model_at(scripted_server.url, name="m"),), judges=(judging,))
    client = client_of(runner_of(pool, tmp_path), judging)
    began = await warm(scripted_server)
    scripted_server.script(ScriptedJudge(blind=[solution("37")], verdict=[verdict()]))
    calls = JudgeCalls(client, identity="j", steps=InMemorySteps(), allowance=Allowance())
    items = [APPLES.model_copy(update={"id": str(n), "question": f"{APPLES.question} {n}"})
             for n in range(4)]  # fmt: skip
    found = await asyncio.gather(*(Judge(calls, "numeric").findings(item) for item in items))
    assert all(one.passed for findings in found for one in findings)
    arrived = sorted(one.received_at - began for one in scripted_server.records)
    assert len(arrived) == 12
    assert [arrived[n] >= 0.99 * n / 5 for n in (5, 10)] == [True, True]


async def test_rollouts_and_writing_share_the_rate_of_a_key(
    scripted_server: ScriptedServer, tmp_path: Path
) -> None:
    answering, writing = (model_at(scripted_server.url, name=n, model=f"openai/{n}") for n in "ab")
    pool = Pool(
        models=(answering,),
        judges=(writing,),
        rates={scripted_server.url: Rate(rpm=300)},
        scoring="numeric",
    )
    began = await warm(scripted_server)
    async with Ledger(tmp_path / "spool.jsonl", InMemoryLedgerStore()) as ledger:
        runner = RolloutRunner(pool, ledger)
        client = client_of(runner, writing)
        await asyncio.gather(
            runner.run([RolloutRequest("a", item, 0) for item in ITEMS]),
            *(client.create(QUESTION) for _ in ITEMS),
        )
    arrived = sorted(one.received_at - began for one in scripted_server.records)
    assert len(arrived) == 12
    assert [arrived[n] >= 0.99 * n / 5 for n in (5, 10)] == [True, True]


async def test_a_429_holds_back_all_that_is_asked_of_the_model(
    scripted_server: ScriptedServer, tmp_path: Path
) -> None:
    """The judge is told to wait, and rollouts of the same model wait, too."""
    model = model_at(scripted_server.url, name="m", model="openai/scripted", max_concurrency=2)
    pool = Pool(models=(model,), scoring="numeric")
    await warm(scripted_server)
    said = iter([Reply(status=429, retry_after=2)])
    scripted_server.script(lambda _: next(said, Reply("3", delay=0.2)))
    async with Ledger(tmp_path / "spool.jsonl", InMemoryLedgerStore()) as ledger:
        runner = RolloutRunner(pool, ledger, backoff=0.01)
        writing = asyncio.create_task(client_of(runner, model).create(QUESTION))
        while not scripted_server.records:  # noqa: ASYNC110 - it fills in another thread
            await asyncio.sleep(0.01)
        refused = scripted_server.records[0]
        rollouts = await runner.run([RolloutRequest("m", item, 0) for item in ITEMS])
        assert isinstance(await writing, CreateResult)
    assert {one.outcome for one in rollouts} == {"answered"}
    later = [one.received_at - refused.finished_at for one in scripted_server.records[1:]]
    assert len(later) == len(ITEMS) + 1
    assert min(later) >= 1.9


async def test_calls_at_a_time_are_those_of_the_pool(
    scripted_server: ScriptedServer, tmp_path: Path
) -> None:
    model = model_at(scripted_server.url)
    pool = Pool(models=(model,), limits={scripted_server.url: 1})
    client = client_of(runner_of(pool, tmp_path), model)
    await warm(scripted_server)
    scripted_server.script(lambda _: Reply("7", delay=0.1))
    await asyncio.gather(*(client.create(QUESTION) for _ in range(4)))
    spans = sorted((one.received_at, one.finished_at) for one in scripted_server.records)
    assert all(one[1] <= later[0] for one, later in pairwise(spans))


async def test_tokens_of_writing_are_not_reckoned_by_those_of_answers() -> None:
    pool = Pool(models=(PoolModel(name="m", model="openai/m", tpm=100_000),))
    pace, stopping, model = Pace(pool), asyncio.Event(), pool.models[0]
    pace.settle(model, await pace.wait(model, 40, stopping), 30)
    pace.settle(model, await pace.wait(model, 40, stopping, use=WRITING), 4_000, use=WRITING)
    assert await pace.wait(model, 40, stopping) == 30
    assert await pace.wait(model, 40, stopping, use=WRITING) == 4_000


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        ("seed", "Unsupported parameter: 'seed' is not supported with this model."),
        ("temperature", "`temperature` is deprecated for this model."),
        ("response_format", "Invalid parameter: 'response_format' is not supported."),
    ],
)
async def test_what_the_provider_rejects_is_left_out_and_said_once(
    scripted_server: ScriptedServer,
    caplog: pytest.LogCaptureFixture,
    parameter: str,
    message: str,
) -> None:
    def answer(request: Request) -> Reply:
        if parameter in request.body:
            return Reply(message, status=400)
        return Reply(json.dumps({"question": "1 + 1 =", "answer": "2", "choices": []}))

    scripted_server.script(answer)
    # none of its tries is spent on it
    client = alone(scripted_server, retries=0, parameters={"temperature": 0.5})
    with caplog.at_level(logging.WARNING):
        for seed in (1, 2):
            await client.create(QUESTION, json_output=Draft, extra_create_args={"seed": seed})
    said = [one.getMessage() for one in caplog.records if "benchfill" in one.name]
    assert len(said) == 1
    assert f"model 'judge': the provider does not take {parameter} (" in said[0]
    assert message.rstrip(".") in said[0]
    assert client.left_out == (parameter,)
    first, *later = [set(one.body) for one in scripted_server.records]
    assert [first - one for one in later] == [{parameter}] * 2


async def test_what_litellm_knows_to_be_rejected_is_said_as_well(
    scripted_server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is dropped on the way: o1 takes no temperature, which litellm knows by its name."""
    client = alone(scripted_server, model="openai/o1", parameters={"temperature": 0.5})
    with caplog.at_level(logging.WARNING):
        assert (await client.create(QUESTION)).content == "7"
    assert client.left_out == ("temperature",)
    assert "the provider does not take temperature" in caplog.text
    assert "temperature" not in scripted_server.records[0].body


@pytest.mark.parametrize(
    ("fields", "extra", "parameter", "says"),
    [
        ({"parameters": {"top_p": 0.5}, "rejected_parameters": "refuse"}, {}, "top_p", "remove it"),
        ({"parameters": {"reasoning_effort": "low"}}, {}, "reasoning_effort", "remove it"),
    ],
)
async def test_what_must_be_sent_ends_the_run(
    scripted_server: ScriptedServer,
    fields: dict[str, Any],
    extra: dict[str, Any],
    parameter: str,
    says: str,
) -> None:
    scripted_server.script(
        lambda _: Reply(f"Unsupported parameter: {parameter}", status=400, parameter=parameter)
    )
    with pytest.raises(ProviderError, match=f"does not take {parameter} .*{says}"):
        await alone(scripted_server, **fields).create(QUESTION, extra_create_args=extra)
    assert len(scripted_server.records) == 1


async def test_a_seed_of_ours_is_left_out_even_where_those_of_the_user_must_stay(
    scripted_server: ScriptedServer,
) -> None:
    scripted_server.script([Reply("seed is not supported", status=400, parameter="seed"), "7"])
    client = alone(scripted_server, rejected_parameters="refuse", parameters={"top_p": 0.5})
    await client.create(QUESTION, extra_create_args={"seed": 1})
    assert client.left_out == ("seed",)
    assert scripted_server.records[1].body["top_p"] == 0.5
