"""Who sits where, and what is said before anything is paid for."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest
from autogen_core.models import UserMessage

from benchfill.errors import InputError
from benchfill_agents.pool.config import Pool, Rate, read_pool
from benchfill_agents.sample import pool_path
from benchfill_services.textbook.seating import TOO_SMALL, models_of, seats_of

if TYPE_CHECKING:
    from support.scripted_server import ScriptedServer

URL = "http://127.0.0.1:9/v1"


def pool_of(*names: str) -> Pool:
    models = [{"name": one, "model": f"openai/{one}", "api_base": URL} for one in names]
    return Pool.model_validate({"models": models})


def test_seats_are_taken_from_different_families() -> None:
    seated = models_of(None, None, None, pool_of("gpt-a", "gpt-b", "claude-c", "qwen-d"))
    assert [seated.designer.name, seated.verifier.name, seated.solver.name] == [
        "gpt-a",
        "claude-c",
        "qwen-d",
    ]
    assert seats_of(seated).warnings == ()


def test_models_that_measure_nothing_come_first() -> None:
    measuring, judging = pool_of("gpt-a", "llama-b"), pool_of("claude-c", "qwen-d")
    seated = models_of(None, None, None, Pool(models=measuring.models, judges=judging.models))
    names = [one.name for one in (seated.designer, seated.verifier, seated.solver)]
    assert names == ["claude-c", "qwen-d", "gpt-a"]


def test_models_may_be_named() -> None:
    seated = models_of("claude-c", "gpt-a", None, pool_of("gpt-a", "gpt-b", "claude-c"))
    assert [seated.designer.name, seated.verifier.name, seated.solver.name] == [
        "claude-c",
        "gpt-a",
        "gpt-b",
    ]


def test_two_models_of_a_family_are_warned_of() -> None:
    seated = models_of("gpt-a", "gpt-b", "claude-c", pool_of("gpt-a", "gpt-b", "claude-c"))
    (warning,) = seats_of(seated).warnings
    assert "both of the family OpenAI" in warning


@pytest.mark.parametrize("pool", [None, read_pool(pool_path())], ids=["no pool", "the sample's"])
def test_local_models_are_said_to_be_too_small(pool: Pool | None) -> None:
    with pytest.raises(InputError) as refused:
        models_of(None, None, None, pool)
    assert str(refused.value) == TOO_SMALL
    assert TOO_SMALL.count(". ") == 0  # one sentence


def test_a_local_model_is_no_designer_by_name_either() -> None:
    local = read_pool(pool_path())
    name = next(model.name for model in local.models)
    with pytest.raises(InputError, match="local models cannot write"):
        models_of(name, name, name, local)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("gpt-a", None, None), "--verifier: no model is left"),
        (("gpt-a", "claude-c", None), "--solver: no model is left"),
        (("gpt-9", None, None), "--designer: 'gpt-9' is no model of the pool"),
    ],
)
def test_a_seat_that_cannot_be_filled(names: tuple[str | None, ...], said: str) -> None:
    pool = pool_of("gpt-a") if names[1] is None else pool_of("gpt-a", "claude-c")
    with pytest.raises(InputError) as refused:
        models_of(*names, pool)  # type: ignore[arg-type]
    assert str(refused.value).startswith(said)


def test_a_missing_key_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
    with pytest.raises(InputError, match="set ANTHROPIC_API_KEY"):
        models_of("anthropic/claude-opus-4-1", "gpt-a", "gpt-b", pool_of("gpt-a", "gpt-b"))


async def test_seats_share_the_rate_of_their_address(scripted_server: ScriptedServer) -> None:
    names = ("gpt-a", "claude-c", "qwen-d")
    models = [
        {"name": one, "model": f"openai/{one}", "api_base": scripted_server.url} for one in names
    ]
    pool = Pool.model_validate({"models": models})
    pool = pool.model_copy(update={"rates": {scripted_server.url: Rate(rpm=300)}})
    seats = seats_of(models_of(None, None, None, pool), pool)
    question = [UserMessage(content="What is 3 + 4?", source="user")]
    await seats.solver.client.create(question)  # imports and connects
    await asyncio.sleep(0.25)
    scripted_server.records.clear()
    began = time.time()
    clients = [one.client for one in (seats.designer, seats.verifier, seats.solver)]
    await asyncio.gather(*(client.create(question) for client in clients for _ in range(4)))
    arrived = sorted(one.received_at - began for one in scripted_server.records)
    assert len(arrived) == 12
    # five a second for all three of them together
    assert [arrived[n] >= 0.99 * n / 5 for n in (5, 10)] == [True, True]
