"""The client over real HTTP: replies of every kind, bad days, and AutoGen's agents on top."""

from __future__ import annotations

import asyncio
import json
import time
import traceback
from typing import TYPE_CHECKING, Any

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core import CancellationToken, FunctionCall
from autogen_core.models import (
    AssistantMessage,
    ChatCompletionClient,
    CreateResult,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    LLMMessage,
    SystemMessage,
    UserMessage,
)
from autogen_core.tools import FunctionTool
from pydantic import BaseModel, SecretStr

from benchfill.errors import InputError, ProviderError
from benchfill_agents.model_client import LiteLLMChatCompletionClient, ModelClientConfig
from benchfill_agents.pool.config import PoolModel
from benchfill_agents.provider_errors import ModelCallError
from support.scripted_server import Reply

if TYPE_CHECKING:
    from support.scripted_server import Request, ScriptedServer

CANARY = "sk-canary-1234567890abcdef"
QUESTION = [UserMessage(content="What is 3 + 4?", source="user")]


class Sum(BaseModel):
    a: int
    total: int


class Solution(BaseModel):
    sums: list[Sum]
    text: str


def _client(server: ScriptedServer, **more: Any) -> LiteLLMChatCompletionClient:
    settings = {"name": "m", "model": "openai/scripted", "first_wait": 0.01, "timeout": 5, **more}
    config = ModelClientConfig(api_base=server.url, **settings)
    return LiteLLMChatCompletionClient(config, api_key=SecretStr(CANARY))


async def test_create(scripted_server: ScriptedServer) -> None:
    client = _client(scripted_server, parameters={"temperature": 0.5})
    messages: list[LLMMessage] = [SystemMessage(content="Calculate."), *QUESTION]
    result = await client.create(messages)
    assert (result.content, result.finish_reason, result.logprobs) == ("7", "stop", None)
    body = scripted_server.records[0].body
    assert [m["role"] for m in body["messages"]] == ["system", "user"]
    assert body["temperature"] == 0.5
    assert client.actual_usage() == result.usage
    assert (result.usage.prompt_tokens, result.usage.completion_tokens) == (6, 1)
    await client.create(messages)
    assert client.total_usage().prompt_tokens == 12
    assert client.cost is None  # nobody knows the price of this model


async def test_known_price_is_accounted(scripted_server: ScriptedServer) -> None:
    client = _client(scripted_server, model="openai/gpt-4o-mini")
    assert client.cost == 0
    await client.create(QUESTION)
    assert client.cost == pytest.approx(5 * 0.15e-6 + 1 * 0.6e-6)
    before = client.cost
    assert isinstance([piece async for piece in client.create_stream(QUESTION)][-1], CreateResult)
    assert client.cost == pytest.approx(2 * before)


async def test_stream_yields_pieces_then_result_with_usage(scripted_server: ScriptedServer) -> None:
    scripted_server.script(["one two three"])
    *pieces, result = [piece async for piece in _client(scripted_server).create_stream(QUESTION)]
    assert pieces == ["one", " two", " three"]
    assert isinstance(result, CreateResult)
    assert (result.content, result.finish_reason) == ("one two three", "stop")
    assert (result.usage.prompt_tokens, result.usage.completion_tokens) == (5, 3)


@pytest.mark.parametrize("around", ["{}", "Here it is:\n```json\n{}\n```\nDone.", "I say {}!"])
async def test_structured_output(scripted_server: ScriptedServer, around: str) -> None:
    wanted = Solution(sums=[Sum(a=3, total=7)], text="{x}")
    scripted_server.script([around.replace("{}", wanted.model_dump_json())])
    result = await _client(scripted_server).create(QUESTION, json_output=Solution)
    assert isinstance(result.content, str)
    assert Solution.model_validate_json(result.content) == wanted
    sent = scripted_server.records[0].body["response_format"]
    assert sent["type"] == "json_schema"
    assert sent["json_schema"]["schema"]["required"] == ["sums", "text"]


async def test_json_mode(scripted_server: ScriptedServer) -> None:
    await _client(scripted_server).create(QUESTION, json_output=True)
    assert scripted_server.records[0].body["response_format"] == {"type": "json_object"}


async def test_what_does_not_fit_the_schema_is_left_alone(scripted_server: ScriptedServer) -> None:
    scripted_server.script(['{"text": 1}'])
    result = await _client(scripted_server).create(QUESTION, json_output=Solution)
    assert result.content == '{"text": 1}'


async def test_logprobs(scripted_server: ScriptedServer) -> None:
    scripted_server.script([Reply("7", logprobs=(("7", -0.25),))])
    result = await _client(scripted_server).create(
        QUESTION, extra_create_args={"logprobs": True, "top_logprobs": 1}
    )
    assert result.logprobs is not None
    assert (result.logprobs[0].token, result.logprobs[0].logprob) == ("7", -0.25)
    assert result.logprobs[0].top_logprobs is not None
    assert result.logprobs[0].top_logprobs[0].logprob == -0.25


@pytest.mark.parametrize(
    ("reply", "content", "reason"),
    [
        (Reply("3 +", finish_reason="length"), "3 +", "length"),
        (Reply("", refusal="I will not."), "I will not.", "content_filter"),
        (Reply(""), "", "stop"),
    ],
)
async def test_ends(
    scripted_server: ScriptedServer, reply: Reply, content: str, reason: str
) -> None:
    scripted_server.script([reply])
    result = await _client(scripted_server).create(QUESTION)
    assert (result.content, result.finish_reason) == (content, reason)
    assert len(scripted_server.records) == 1  # an answer received is never bought again


def _add(a: int, b: int) -> int:
    return a + b


async def test_tools_go_out_and_calls_come_back(scripted_server: ScriptedServer) -> None:
    tool = FunctionTool(_add, description="Add.", name="add")
    call = ("add", '{"a": 3, "b": 4}')
    scripted_server.script([Reply(tool_calls=(call,)), Reply(tool_calls=(call,)), "7"])
    client = _client(scripted_server)
    result = await client.create(QUESTION, tools=[tool], tool_choice=tool)
    streamed = [piece async for piece in client.create_stream(QUESTION, tools=[tool])][-1]
    expected = [FunctionCall(id="call_0", name="add", arguments=call[1])]
    assert isinstance(streamed, CreateResult)
    assert result.content == streamed.content == expected
    assert result.finish_reason == streamed.finish_reason == "function_calls"
    body = scripted_server.records[0].body
    assert body["tools"][0]["function"]["name"] == "add"
    assert body["tool_choice"] == {"type": "function", "function": {"name": "add"}}
    answered = FunctionExecutionResult(content="7", name="add", call_id="call_0")
    await client.create(
        [
            *QUESTION,
            AssistantMessage(content=expected, source="m"),
            FunctionExecutionResultMessage(content=[answered]),
        ]
    )
    sent = scripted_server.records[-1].body["messages"]
    assert sent[1]["tool_calls"][0]["id"] == sent[2]["tool_call_id"] == "call_0"


async def test_assistant_agent_with_structured_output(scripted_server: ScriptedServer) -> None:
    agent = AssistantAgent("solver", _client(scripted_server), output_content_type=Sum)
    result = await agent.run(task="What is 3 + 4?")
    assert getattr(result.messages[-1], "content", None) == Sum(a=7, total=7)


@pytest.mark.parametrize("stream", [False, True])
async def test_round_robin_of_two(scripted_server: ScriptedServer, stream: bool) -> None:
    def speak(request: Request) -> str:
        return f"{len(request.body['messages'])} heard"

    scripted_server.script(speak)
    client = _client(scripted_server)
    agents = [AssistantAgent(name, client, model_client_stream=stream) for name in ("one", "two")]
    team = RoundRobinGroupChat(list(agents), termination_condition=MaxMessageTermination(5))
    result = await team.run(task="Talk.")
    said = [message.to_text() for message in result.messages]
    assert said == ["Talk.", "2 heard", "3 heard", "4 heard", "5 heard"]


@pytest.mark.parametrize("stream", [False, True])
async def test_cancellation_is_prompt(scripted_server: ScriptedServer, stream: bool) -> None:
    scripted_server.script([Reply("a", delay=1.0)])
    token = CancellationToken()
    client = _client(scripted_server)

    async def ask() -> None:
        if stream:
            async for _ in client.create_stream(QUESTION, cancellation_token=token):
                pass
        else:
            await client.create(QUESTION, cancellation_token=token)

    task = asyncio.create_task(ask())
    await asyncio.sleep(0.3)
    start = time.perf_counter()
    token.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.perf_counter() - start < 0.1
    with pytest.raises(asyncio.CancelledError):  # a token that is already cancelled
        await ask()


async def test_rate_limit_is_waited_out(scripted_server: ScriptedServer) -> None:
    scripted_server.script([Reply(status=429, retry_after=0.3), Reply(status=500), "7"])
    result = await _client(scripted_server).create(QUESTION)
    assert result.content == "7"
    first, second, third = scripted_server.records
    assert second.received_at - first.finished_at >= 0.3
    assert third.status == 200


@pytest.mark.parametrize("broken", [Reply("a b", reset=True), Reply("a b", malformed=True)])
async def test_broken_body_is_asked_again(scripted_server: ScriptedServer, broken: Reply) -> None:
    scripted_server.script([broken, "7"])
    assert (await _client(scripted_server).create(QUESTION)).content == "7"
    assert len(scripted_server.records) == 2


async def test_stream_is_tried_again_only_before_its_first_piece(
    scripted_server: ScriptedServer,
) -> None:
    client = _client(scripted_server)
    scripted_server.script([Reply(status=503), "7"])
    assert await anext(client.create_stream(QUESTION)) == "7"
    scripted_server.script([Reply("a b c d e f", reset=True)])
    pieces = []

    async def listen() -> None:
        async for piece in client.create_stream(QUESTION):
            pieces.append(piece)  # noqa: PERF401 - what came before the error is looked at

    with pytest.raises(ProviderError) as caught:
        await listen()
    assert caught.value.retryable
    assert pieces[:2] == ["a", " b"]
    assert len(scripted_server.records) == 3


async def test_stream_left_early_is_closed(scripted_server: ScriptedServer) -> None:
    scripted_server.script([Reply("a b c d", chunk_delay=0.2)])
    stream = _client(scripted_server).create_stream(QUESTION)
    assert await anext(stream) == "a"
    await stream.aclose()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    assert not [task for task in others if "_with_retries" in repr(task) or "_stream" in repr(task)]


@pytest.mark.parametrize(
    ("reply", "tried", "retryable", "says"),
    [
        (Reply(status=401, text="Incorrect API key"), 1, False, "key was refused"),
        (Reply(status=403), 1, False, "may not use this model"),
        (Reply(status=404, text="no such model"), 1, False, "no such model"),
        (Reply(status=400, text="bad temperature"), 1, False, "bad temperature"),
        (Reply(status=429, text="You exceeded your insufficient_quota"), 1, False, "no credit"),
        (Reply(status=429, retry_after=3600), 1, True, "rate limit"),
        (Reply(status=429), 3, True, "rate limit"),
        (Reply(status=502), 3, True, "try later"),
        (Reply(delay=0.5), 3, True, "time limit"),
    ],
)
async def test_errors_are_typed(
    scripted_server: ScriptedServer, reply: Reply, tried: int, retryable: bool, says: str
) -> None:
    scripted_server.script(lambda request: reply)
    with pytest.raises(ProviderError, match=says) as caught:
        await _client(scripted_server, retries=2, timeout=0.2 if reply.delay else 20).create(
            QUESTION
        )
    assert (caught.value.model, caught.value.retryable) == ("m", retryable)
    await asyncio.sleep(reply.delay)
    assert len(scripted_server.records) == tried


async def test_nobody_listens() -> None:
    config = ModelClientConfig(
        name="m", model="openai/x", api_base="http://127.0.0.1:9/v1", retries=0, timeout=5
    )
    with pytest.raises(ProviderError, match="could not be reached") as caught:
        await LiteLLMChatCompletionClient(config).create(QUESTION)
    assert caught.value.retryable


async def test_key_is_nowhere(scripted_server: ScriptedServer) -> None:
    def tell(request: Request) -> Reply:
        assert request.headers["authorization"] == f"Bearer {CANARY}"
        return Reply(status=401, text=f"Incorrect API key provided: {CANARY}")

    scripted_server.script(tell)
    client = _client(scripted_server)
    with pytest.raises(ModelCallError) as caught:
        await client.create(QUESTION)
    assert caught.value.status == 401
    agent = AssistantAgent("one", client)
    team = RoundRobinGroupChat([agent], termination_condition=MaxMessageTermination(2))
    with pytest.raises(RuntimeError, match="key was refused") as in_team:
        await team.run(task="Talk.")
    texts = [
        *traceback.format_exception(caught.value),
        *traceback.format_exception(in_team.value),
        repr(client),
        str(vars(client)),
        client.dump_component().model_dump_json(),
        json.dumps(await team.save_state()),
    ]
    assert not [text for text in texts if CANARY in text]
    error: BaseException | None = caught.value
    while error is not None:  # nor in what travels along
        assert CANARY not in repr(error)
        error = error.__context__ or error.__cause__


async def test_no_foreign_key_goes_to_a_keyless_server(
    scripted_server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def look(request: Request) -> str:
        seen.append(request.headers["authorization"])
        return "7"

    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    scripted_server.script(look)
    config = ModelClientConfig(name="m", model="openai/x", api_base=scripted_server.url)
    await LiteLLMChatCompletionClient(config).create(QUESTION)
    assert seen
    assert CANARY not in seen[0]


async def test_component_round_trip(scripted_server: ScriptedServer) -> None:
    dumped = _client(scripted_server).dump_component()
    again = ChatCompletionClient.load_component(dumped.model_dump())
    assert isinstance(again, LiteLLMChatCompletionClient)
    assert again.dump_component() == dumped
    assert (await again.create(QUESTION)).content == "7"


def test_context_window() -> None:
    known = LiteLLMChatCompletionClient(ModelClientConfig(name="m", model="openai/gpt-4o-mini"))
    assert 100_000 < known.remaining_tokens(QUESTION) < 128_000
    assert 5 <= known.count_tokens(QUESTION) <= 20
    config = ModelClientConfig(name="m", model="openai/x", context_window=100)
    assert 80 <= LiteLLMChatCompletionClient(config).remaining_tokens(QUESTION) <= 95
    unknown = LiteLLMChatCompletionClient(ModelClientConfig(name="m", model="openai/x"))
    with pytest.raises(InputError, match="context window of model 'm'"):
        unknown.remaining_tokens(QUESTION)


async def test_from_pool_model(scripted_server: ScriptedServer) -> None:
    model = PoolModel.model_validate(
        {
            "name": "small",
            "model": "openai/SmolLM2-135M-Instruct",
            "api_base": "local",
            "parameters": {"temperature": 0.3, "max_tokens": 8, "seed": "per_sample"},
        }
    )
    with pytest.raises(InputError, match="'small' runs on the local server"):
        LiteLLMChatCompletionClient.from_pool_model(model)
    client = LiteLLMChatCompletionClient.from_pool_model(model, api_base=scripted_server.url)
    await client.create(QUESTION)
    body = scripted_server.records[0].body
    assert (body["model"], body["temperature"]) == ("SmolLM2-135M-Instruct", 0.3)
    assert body["max_tokens"] == 8
    assert "seed" not in body
