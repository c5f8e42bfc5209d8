"""Which of a pool's models writes for a fill, how it is asked, and by which prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import SecretStr

from benchfill.errors import InputError
from benchfill_agents.model_client import LiteLLMChatCompletionClient
from benchfill_agents.pool.calls import read_key
from benchfill_agents.pool.config import LOCAL, Pool, PoolModel
from benchfill_agents.pool.prompting import solve_prompts
from benchfill_agents.rewriter.llm import PROMPTS as REWRITER_PROMPTS
from benchfill_agents.validator.judge import PROMPTS as JUDGE_PROMPTS
from benchfill_prompts import load

if TYPE_CHECKING:
    import benchfill as bf
    from benchfill_agents.pool.rollouts import RolloutRunner

    from .fill_request import FillRequest
    from .store.usage import RedisUsage


def writer(request: FillRequest, pool: Pool, fit: bf.Fit1PL | None = None) -> PoolModel | None:
    """Return the pool model that writes children: the one named, else the ablest chat model."""
    if request.writer is not None:
        named = [model for model in pool.models if model.name == request.writer]
        if not named:
            raise InputError(
                f"the pool has no model {request.writer!r}; it has "
                f"{', '.join(model.name for model in pool.models)}.",
                field="--writer",
            )
        if named[0].runner is not None:
            raise InputError(
                f"{request.writer!r} is a runner, which answers items and writes none; name a "
                "model.",
                field="--writer",
            )
        return named[0]
    chats = [model for model in pool.models if model.writes]
    if request.rewriter == "llm" and not chats:
        raise InputError(
            "the llm rewriter needs a model of chat style, and the pool has none; add one, or use "
            "--rewriter template.",
            source=str(request.pool),
        )
    if fit is None or not chats:
        return None
    ability = dict(zip(fit.responses.models, fit.theta, strict=True))
    return max(chats, key=lambda model: ability[model.response_name])


def writing_client(
    model: PoolModel, runner: RolloutRunner, usage: RedisUsage
) -> LiteLLMChatCompletionClient:
    """Return a client of the pool model that writes, judges or answers; its calls are counted.

    They wait in the lines of the runner's rollouts.
    """
    freely = model.parameters.without_limits()
    key = read_key(model)
    return LiteLLMChatCompletionClient.from_pool_model(
        model.model_copy(update={"parameters": freely}),
        api_base=runner.address_of(model) if model.api_base == LOCAL else None,
        api_key=SecretStr(key) if key else None,
        on_usage=usage.note_call,
        door=runner.door_of(model),
    )


def prompt_hashes(request: FillRequest, pool: Pool) -> dict[str, str]:
    """Return the SHA-256 of each template that items of a fill came from, by name."""
    names = (
        *((*REWRITER_PROMPTS, f"rewrite_{pool.scoring}") if request.rewriter == "llm" else ()),
        *solve_prompts(pool),
        *(JUDGE_PROMPTS if request.judge is not None else ()),
    )
    return {name: load(name).sha256 for name in names}
