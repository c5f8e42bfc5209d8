"""Whether the models of a pool answer, what a rollout costs, and what each model does not take.

One call as the pool file says, and two with the parameters that providers differ in; only where one
is rejected do further calls find out which. Nothing goes to the ledger.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from benchfill.errors import InputError
from benchfill.items import Item

from .calls import Caller, CallError, load_litellm, sent_parameters
from .check_parameters import ParameterCheck, check_parameters
from .check_problems import explain, lacking_environment
from .config import LOCAL
from .local import local_server, model_file
from .prices import cost_of, price_of, retires_on
from .prompting import Message, SolvePrompt, build_prompt
from .providers import provider_of
from .rejections import SAMPLING, rejected_by

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from .calls import Reply
    from .check_parameters import Asks
    from .config import Pool, PoolModel

SAMPLE_ITEM = Item(id="check", question="17 + 25 =", answer="42")
REPLY_LIMIT = 1000  # tokens, where the pool file gives no limit
PROBE_LIMIT = 48  # tokens
_PROBES = 2
_AT_ONCE = 8
_SECONDS = 120.0
_SHOWN = 120  # characters of a reply
_CHARS_PER_TOKEN = 4
_FRAME = 20  # tokens around a chat's turns


class ModelCheck(BaseModel):
    """What came of the calls to one model."""

    model_config = ConfigDict(frozen=True)

    name: str
    model: str = Field(description="litellm id")
    provider: str
    answers: bool | None = Field(description="None of an external runner, which is not started")
    problem: str | None = Field(None, description="why it does not answer, and what to do")
    seconds: float | None = Field(None, description="of the call as the pool file has it")
    reply: str | None = Field(None, description="the beginning of what it said; untrusted")
    prompt_tokens: int | None = None
    completion_tokens: int | None = Field(None, description="reasoning included")
    reasoning_tokens: int | None = None
    cut: bool = Field(False, description="a chat's reply ended at its limit of tokens")
    usd_per_1000_rollouts: float | None = Field(None, description="None: the price is unknown")
    left_out: tuple[str, ...] = Field((), description="parameters of the pool it does not take")
    parameters: tuple[ParameterCheck, ...] = ()
    retires: str | None = Field(None, description="day on which the provider ends it, if known")
    calls: int = Field(0, description="calls made, those that were refused included")
    usd: float | None = Field(0.0, description="what they cost; None where no price is known")


class Forecast(BaseModel):
    """What a check will take, at most, if no parameter is rejected."""

    model_config = ConfigDict(frozen=True)

    calls: int
    usd: float = Field(description="of the models whose price is known")
    price_unknown: tuple[str, ...] = Field(description="names of the others")


class PoolCheck(BaseModel):
    """What came of checking a pool."""

    model_config = ConfigDict(frozen=True)

    models: tuple[ModelCheck, ...]
    calls: int
    usd: float = Field(description="of the models whose price is known")

    @property
    def failed(self) -> tuple[ModelCheck, ...]:
        """The models that do not answer."""
        return tuple(one for one in self.models if one.answers is False)


def forecast(pool: Pool, item: Item = SAMPLE_ITEM, *, parameters: bool = True) -> Forecast:
    """Reckon what checking a pool costs at most, before anything is asked."""
    usd, unknown = 0.0, []
    probes = _PROBES if parameters else 0
    called = [model for model in pool.who_may_judge if model.runner is None]
    for model in called:
        price = price_of(model)
        if price is None:
            unknown.append(model.name)
            continue
        prompt = build_prompt(model, pool.shots_of(model), item, pool.scoring).chars
        prompt = prompt // _CHARS_PER_TOKEN + _FRAME
        limit = model.parameters.token_limit or REPLY_LIMIT
        usd += price.of(prompt, limit) + probes * price.of(prompt, PROBE_LIMIT)
    return Forecast(calls=len(pool.models) * (1 + probes), usd=usd, price_unknown=tuple(unknown))


async def check_pool(
    pool: Pool,
    item: Item = SAMPLE_ITEM,
    *,
    parameters: bool = True,
    on_model: Callable[[ModelCheck], None] | None = None,
) -> PoolCheck:
    """Call each model of a pool, judges too, with an item, and find out which parameters it takes.

    A model that fails is part of the result, no error.
    """
    await asyncio.to_thread(load_litellm)  # its import takes seconds
    places = asyncio.Semaphore(_AT_ONCE)
    async with contextlib.AsyncExitStack() as stack:
        local: dict[str, str] = {}
        for name in pool.local_models:
            with contextlib.suppress(InputError):  # not installed: its check says so
                await asyncio.to_thread(model_file, name)
                local[name] = await stack.enter_async_context(local_server(1, name))
        caller = Caller(local)
        stack.push_async_callback(caller.close)

        async def placed(model: PoolModel) -> ModelCheck:
            async with places:
                prompt = build_prompt(model, pool.shots_of(model), item, pool.scoring)
                checked = await _check(caller, model, prompt, parameters=parameters)
            if on_model is not None:
                on_model(checked)
            return checked

        models = await asyncio.gather(*(placed(model) for model in pool.who_may_judge))
    return PoolCheck(
        models=tuple(models),
        calls=sum(one.calls for one in models),
        usd=sum(one.usd or 0.0 for one in models),
    )


async def brief_call(caller: Caller, model: PoolModel, *, seconds: float) -> Reply:
    """Call a model for a few tokens, only to see whether it answers.

    Raises CallError, and InputError when the key's variable is not set.
    """
    few = model.parameters.model_copy(
        update={"max_tokens": 8, "max_completion_tokens": None, "stop": ()}
    )
    cheap = model.model_copy(update={"parameters": few, "timeout": min(model.timeout, seconds)})
    prompt = (
        SolvePrompt(text="1 + 1 =")
        if model.style == "completion"
        else SolvePrompt(messages=(Message("user", "1 + 1 = ?"),))
    )
    return await caller.call(cheap, prompt, seed=None)


class _Meter:
    """Stands before a caller, and counts calls and what they cost."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self.calls = 0
        self.usd: float | None = 0.0

    async def call(
        self,
        model: PoolModel,
        prompt: SolvePrompt,
        *,
        seed: int | None,
        left_out: Collection[str] = (),
        also: Mapping[str, Any] | None = None,
    ) -> Reply:
        """See `Caller.call`."""
        self.calls += 1
        reply = await self._caller.call(model, prompt, seed=seed, left_out=left_out, also=also)
        cost = cost_of(model, reply)
        self.usd = None if cost is None or self.usd is None else self.usd + cost
        return reply


async def _check(
    caller: Caller, model: PoolModel, prompt: SolvePrompt, *, parameters: bool
) -> ModelCheck:
    meter = _Meter(caller)
    found = ModelCheck(
        name=model.name,
        model=model.model,
        provider=provider_of(model),
        answers=False if model.runner is None else None,
        retires=retires_on(model),
    )
    if model.runner is not None:
        return found
    try:
        if model.api_base == LOCAL:
            await asyncio.to_thread(model_file, model.local_model)
        problem = lacking_environment(model)
        if problem is not None:
            return found.model_copy(update={"problem": problem})
        reply, left_out = await _as_the_pool_asks(meter, model, prompt)
    except CallError as error:
        problem = explain(model, error.failure)
        said = {"problem": problem, "calls": meter.calls, "usd": meter.usd}
        return found.model_copy(update=said)
    except InputError as error:  # no key, or a local model that is not installed
        return found.model_copy(update={"problem": error.message})
    tried = await check_parameters(meter, model, PROBE_LIMIT) if parameters else ()
    return found.model_copy(
        update={
            **_measured(model, reply),
            "left_out": left_out,
            "parameters": tried,
            "calls": meter.calls,
            "usd": meter.usd,
        }
    )


async def _as_the_pool_asks(
    caller: Asks, model: PoolModel, prompt: SolvePrompt
) -> tuple[Reply, tuple[str, ...]]:
    """Ask as a rollout would, without what turns out to be rejected; that is returned as well."""
    update: dict[str, object] = {"timeout": min(model.timeout, _SECONDS)}
    if model.parameters.token_limit is None:
        update["parameters"] = model.parameters.model_copy(update={"max_tokens": REPLY_LIMIT})
    asked = model.model_copy(update=update)
    seed = 1 if asked.parameters.seed == "per_sample" else asked.parameters.seed
    left_out: set[str] = set()
    while True:
        try:
            reply = await caller.call(asked, prompt, seed=seed, left_out=left_out)
        except CallError as error:
            sent = sent_parameters(asked, seed=seed, left_out=left_out)
            names = set(rejected_by(error.failure, sent)) & set(SAMPLING)
            if not names or model.rejected_parameters == "refuse":
                raise
            left_out |= names
        else:
            return reply, tuple(sorted(left_out))


def _measured(model: PoolModel, reply: Reply) -> dict[str, object]:
    cost = cost_of(model, reply)
    return {
        "answers": True,
        "seconds": round(reply.seconds, 3),
        "reply": " ".join(reply.text.split())[:_SHOWN],
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "reasoning_tokens": reply.reasoning_tokens,
        # a raw completion does not end by itself
        "cut": reply.finish_reason == "length" and model.style == "chat",
        "usd_per_1000_rollouts": None if cost is None else 1000 * cost,
    }
