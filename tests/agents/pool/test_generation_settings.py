"""What is sent along with a prompt: in the key of a rollout, and what a provider does not take."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import litellm
import pytest
from pydantic import ValidationError

from benchfill.errors import ProviderError
from benchfill.items import Item
from benchfill_agents.pool.config import Pool, PoolModel, SamplingParameters
from benchfill_agents.pool.failures import Failure, classify
from benchfill_agents.pool.ledger import InMemoryLedgerStore, Ledger
from benchfill_agents.pool.rejections import rejected_by
from benchfill_agents.pool.rollouts import RolloutRequest, RolloutRunner
from support.scripted_server import Reply, Request, ScriptedServer

if TYPE_CHECKING:
    from pathlib import Path

ITEMS = tuple(Item(id=f"{a}+3", question=f"{a} + 3 =", answer=str(a + 3)) for a in range(1, 5))
EXAMPLES = {
    "temperature": 0.5,
    "top_p": 0.9,
    "max_tokens": 7,
    "max_completion_tokens": 7,
    "reasoning_effort": "low",
    "stop": ("\n",),
    "seed": 3,
    "presence_penalty": 0.5,
    "frequency_penalty": 0.5,
    "extra_body": {"top_k": 3},
}


def model_of(server: ScriptedServer | None = None, **fields: Any) -> PoolModel:
    url = server.url if server else "http://127.0.0.1:9/v1"
    given = {"name": "m", "model": "openai/scripted", "api_base": url, **fields}
    return PoolModel.model_validate(given)


async def buy(path: Path, *models: PoolModel, samples: int = 1) -> Any:
    pool = Pool(models=models, scoring="numeric")
    async with Ledger(path / "spool.jsonl", InMemoryLedgerStore()) as ledger:
        runner = RolloutRunner(pool, ledger, backoff=0.01)
        requests = [
            RolloutRequest(model.name, item, sample)
            for model in models
            for item in ITEMS
            for sample in range(samples)
        ]
        return runner, await runner.run(requests)


def test_every_generation_setting_is_part_of_the_key() -> None:
    assert set(EXAMPLES) == set(SamplingParameters.model_fields)
    hashes = {model_of().parameters_hash}
    for name, value in EXAMPLES.items():
        hashes.add(model_of(parameters={name: value}).parameters_hash)
    assert len(hashes) == len(EXAMPLES) + 1


def test_how_fast_it_is_asked_is_no_part_of_the_key() -> None:
    slow = model_of(rpm=3, tpm=500, rejected_parameters="refuse")
    assert slow.parameters_hash == model_of().parameters_hash


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"parameters": {"max_tokens": 3, "max_completion_tokens": 3}}, "are one limit"),
        ({"parameters": {"reasoning_effort": "a lot"}}, "reasoning_effort"),
        (
            {"style": "completion", "parameters": {"max_tokens": 3, "reasoning_effort": "low"}},
            "reasoning_effort is for style chat",
        ),
        ({"rpm": 0}, "rpm"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(fields: Any, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        model_of(**fields)


async def test_settings_of_reasoning_models_go_out_as_they_are(
    scripted_server: ScriptedServer, tmp_path: Path
) -> None:
    settings = {"max_completion_tokens": 900, "reasoning_effort": "low"}
    await buy(tmp_path, model_of(scripted_server, parameters=settings))
    body = scripted_server.records[0].body
    assert body.get("max_completion_tokens", body.get("max_tokens")) == 900
    assert body["reasoning_effort"] == "low"
    assert "temperature" not in body


@pytest.mark.parametrize(
    "reply",
    [
        Reply("The answer is 4.", reasoning="1 + 3 might be 5. The answer is 5."),
        Reply("<think>1 + 3 might be 5. The answer is 5.</think>\nThe answer is 4."),
    ],
)
async def test_reasoning_is_kept_and_never_scored(
    scripted_server: ScriptedServer, tmp_path: Path, reply: Reply
) -> None:
    scripted_server.script(lambda _: reply)
    _, (first, *_) = await buy(tmp_path, model_of(scripted_server))
    assert (first.extracted, first.correct) == ("4", True)
    assert first.text.strip() == "The answer is 4."
    assert first.reasoning == "1 + 3 might be 5. The answer is 5."


@pytest.mark.parametrize(
    "reply",
    [
        Reply("", reasoning="The answer is 4", finish_reason="length"),
        Reply("<think>The answer is 4", finish_reason="length"),
    ],
)
async def test_tokens_that_end_in_the_reasoning_leave_no_answer(
    scripted_server: ScriptedServer, tmp_path: Path, reply: Reply
) -> None:
    scripted_server.script(lambda _: reply)
    _, rollouts = await buy(tmp_path, model_of(scripted_server, reply_retries=0))
    assert {(r.outcome, r.correct, r.extracted) for r in rollouts} == {("truncated", False, None)}
    assert {r.reasoning for r in rollouts} == {"The answer is 4"}


def picky(*names: str, parameter: bool = True) -> Any:
    """A provider that does not take these parameters."""

    def answer(request: Request) -> Reply:
        for name in names:
            if name in request.body:
                said = f"Unsupported parameter: '{name}' is not supported with this model."
                return Reply(said, status=400, parameter=name if parameter else None)
        return Reply("4")

    return answer


@pytest.mark.parametrize("parameter", [True, False])
async def test_what_a_provider_does_not_take_is_left_out_and_said(
    scripted_server: ScriptedServer,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    parameter: bool,
) -> None:
    scripted_server.script(picky("temperature", "seed", parameter=parameter))
    settings = {"temperature": 0.5, "top_p": 0.9, "seed": "per_sample"}
    model = model_of(scripted_server, parameters=settings, max_concurrency=1)
    with caplog.at_level(logging.WARNING):
        runner, rollouts = await buy(tmp_path, model)
    assert {r.left_out for r in rollouts} == {("seed", "temperature")}
    answered = [record.body for record in scripted_server.records if record.status == 200]
    assert len(answered) == 4
    assert all(body["top_p"] == 0.9 for body in answered)
    assert len(scripted_server.records) == 6  # found out once, not for every item
    assert runner.budget.spent == 4
    assert dict(runner.retries) == {"rejected_parameter": 2}
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 2
    assert "does not take temperature" in said[0]


async def test_calls_in_flight_when_it_is_found_out_are_asked_again(
    scripted_server: ScriptedServer, tmp_path: Path
) -> None:
    scripted_server.script(picky("temperature"))
    model = model_of(scripted_server, parameters={"temperature": 0.5}, retries=0)
    _, rollouts = await buy(tmp_path, model, samples=4)
    assert {(r.outcome, r.left_out) for r in rollouts} == {("answered", ("temperature",))}


@pytest.mark.parametrize(
    ("settings", "fields", "said"),
    [
        ({"temperature": 0.5}, {"rejected_parameters": "refuse"}, "remove it from the model's"),
        ({"max_tokens": 9}, {}, "limit the reply by max_completion_tokens instead"),
        ({"reasoning_effort": "low"}, {}, "does not take reasoning_effort"),
    ],
)
async def test_what_changes_meaning_or_cost_is_not_left_out(
    scripted_server: ScriptedServer, tmp_path: Path, settings: Any, fields: Any, said: str
) -> None:
    scripted_server.script(picky(*settings))
    model = model_of(scripted_server, parameters=settings, max_concurrency=1, **fields)
    with pytest.raises(ProviderError, match=said):
        await buy(tmp_path, model)
    assert len(scripted_server.records) == 1


async def test_models_that_differ_only_in_what_is_rejected_are_refused(
    scripted_server: ScriptedServer, tmp_path: Path
) -> None:
    scripted_server.script(picky("temperature"))
    cold = model_of(scripted_server, name="cold", parameters={"temperature": 0.0})
    hot = model_of(scripted_server, name="hot", parameters={"temperature": 1.5})
    with pytest.raises(ProviderError, match="differ only in temperature"):
        await buy(tmp_path, cold, hot)


SENT = ("temperature", "top_p", "seed", "stop")


@pytest.mark.parametrize(
    ("message", "rejected"),
    [
        ("Unsupported value: 'temperature' does not support 0.5 with this model.", ["temperature"]),
        ("openai does not support parameters: ['seed', 'stop'], for model=o1", ["seed", "stop"]),
        ("`temperature` is deprecated for this model.", ["temperature"]),
        ("stop: Extra inputs are not permitted", ["stop"]),
        ("`temperature` and `top_p` cannot both be specified for this model; unsupported.", []),
        ("Invalid value for temperature: must be at most 1.", []),
        ("frequency_penalty is not supported", []),  # was not sent
        ("the temperature of the room", []),
    ],
)
def test_only_what_is_said_to_be_unsupported_counts(message: str, rejected: list[str]) -> None:
    assert rejected_by(Failure("fatal", message, billed=False, status=400), SENT) == tuple(rejected)
    for status in (401, 404, None):
        assert rejected_by(Failure("fatal", message, billed=False, status=status), SENT) == ()


def test_what_litellm_itself_does_not_send_is_told_apart_as_well() -> None:
    """Its own refusal comes before any call; the sentence is its own and may change."""
    with pytest.raises(litellm.UnsupportedParamsError) as caught:
        litellm.completion(
            model="anthropic/claude-haiku-4-5",
            messages=[{"role": "user", "content": "?"}],
            seed=3,
            api_key="none",
            drop_params=False,
        )
    failure = classify(caught.value)
    assert rejected_by(failure, ("temperature", "seed")) == ("seed",)
