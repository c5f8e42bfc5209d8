"""Which parameters a model takes: asked for all together, and one by one where that is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from .calls import CallError
from .prompting import Message, SolvePrompt
from .rejections import rejected_by

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from .calls import Reply
    from .config import PoolModel, SamplingParameters

SCHEMA = "json_schema"
_SCHEMA = {
    "type": "json_schema",
    "json_schema": {
        "name": "sum",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {"answer": {"type": "string"}},
            "required": ["answer"],
            "additionalProperties": False,
        },
    },
}
# temperature and top_p in two calls: some models take one of them, and not both together
_CHAT: tuple[dict[str, Any], ...] = (
    {"temperature": 0.5, "seed": 7, "stop": ["\n\n\n"], "logprobs": True},
    {"top_p": 0.9, "response_format": _SCHEMA},
)
_COMPLETION: tuple[dict[str, Any], ...] = (
    {"temperature": 0.5, "seed": 7, "stop": ["\n\n\n"], "logprobs": 1},
    {"top_p": 0.9},
)
_NAMES = {"response_format": SCHEMA}
_SAID = 160


Outcome = Literal["accepted", "rejected", "ignored", "not_tried"]


class ParameterCheck(BaseModel):
    """What came of sending one parameter."""

    model_config = ConfigDict(frozen=True)

    name: str
    outcome: Outcome = Field(
        description="ignored: accepted, and the reply does not show it (logprobs, json_schema)"
    )
    said: str | None = Field(None, description="the provider's words, where it rejects it")


class Asks(Protocol):
    """A caller, or what stands before one."""

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
        ...


async def check_parameters(
    caller: Asks, model: PoolModel, limit: int
) -> tuple[ParameterCheck, ...]:
    """Try the parameters on a model that answers; replies have `limit` tokens at most."""
    bare = model.model_copy(update={"parameters": _necessary(model.parameters, limit)})
    found: dict[str, ParameterCheck] = {}
    for together in _COMPLETION if model.style == "completion" else _CHAT:
        await _try(caller, bare, together, found)
    if model.style == "completion":
        said = "a raw completion has no such parameter"
        found["response_format"] = ParameterCheck(name=SCHEMA, outcome="not_tried", said=said)
    return tuple(found.values())


def _necessary(parameters: SamplingParameters, limit: int) -> SamplingParameters:
    """Leave only what the model cannot do without, and the limit under the name that it takes."""
    name = "max_completion_tokens" if parameters.max_completion_tokens else "max_tokens"
    return type(parameters)(
        **{name: limit},
        reasoning_effort=parameters.reasoning_effort,
        extra_body=parameters.extra_body,
    )


async def _try(
    caller: Asks, model: PoolModel, together: dict[str, Any], found: dict[str, ParameterCheck]
) -> None:
    left = dict(together)
    while left:
        try:
            reply = await caller.call(model, _prompt(model), seed=None, also=left)
        except CallError as error:
            failure = error.failure
            said = failure.message[:_SAID]
            # a call that never got through says nothing of parameters
            outcome: Outcome = "rejected" if failure.status in {400, 422} else "not_tried"
            names = rejected_by(failure, left)
            if not names and outcome == "rejected" and len(left) > 1:
                for name, value in left.items():
                    await _try(caller, model, {name: value}, found)
                return
            for name in names or tuple(left):
                shown = _NAMES.get(name, name)
                found[name] = ParameterCheck(name=shown, outcome=outcome, said=said)
                del left[name]
        else:
            for name in left:
                outcome = "accepted" if _shows(name, reply) else "ignored"
                found[name] = ParameterCheck(name=_NAMES.get(name, name), outcome=outcome)
            return


def _prompt(model: PoolModel) -> SolvePrompt:
    if model.style == "completion":
        return SolvePrompt(text="1 + 1 =")
    asked = "What is 1 + 1? Reply with JSON: an object with the key answer."
    return SolvePrompt(messages=(Message("user", asked),))


def _shows(name: str, reply: Reply) -> bool:
    """Whether a reply shows a parameter's effect, for those where it can."""
    if name == "logprobs":
        return reply.logprobs
    if name != "response_format" or reply.finish_reason == "length":
        return True
    try:
        content = json.loads(reply.text)
    except ValueError:
        return False
    return isinstance(content, dict) and set(content) == {"answer"}
