"""One call to a model through litellm, and what came back in our own terms."""

from __future__ import annotations

import asyncio
import functools
import os
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import openai

from benchfill.errors import InputError

from .config import LOCAL, LOCAL_MODEL, PoolModel
from .failures import Failure, classify

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from types import ModuleType

    from .config import Style
    from .prompting import SolvePrompt

_NO_KEY = "no-key"
_THOUGHTS = re.compile(r"\s*<think(?:ing)?>(?P<thoughts>.*?)(?:</think(?:ing)?>\s*|\Z)", re.DOTALL)
_FREE = {"input_cost_per_token": 0.0, "output_cost_per_token": 0.0}


class CallError(Exception):
    """A call brought no reply; `failure` says why."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


@dataclass(frozen=True)
class Reply:
    """What a model said, and what it took."""

    text: str
    reasoning: str | None
    """What came beside the text: it is no part of the answer."""
    finish_reason: str | None
    refused: bool
    prompt_tokens: int | None
    completion_tokens: int | None
    reasoning_tokens: int | None
    cost: float | None
    seconds: float
    logprobs: bool = False
    """Whether log probabilities came with it."""

    @property
    def tokens(self) -> int | None:
        """Tokens of prompt and reply; None where the provider did not tell."""
        if self.prompt_tokens is None or self.completion_tokens is None:
            return None
        return self.prompt_tokens + self.completion_tokens


@functools.cache
def load_litellm() -> ModuleType:
    """Import litellm (seconds) and quieten it; done once, when the first call is near."""
    import litellm  # noqa: PLC0415 - takes seconds, and reading a pool file must not pay for it

    litellm.suppress_debug_info = True
    return litellm


class Caller:
    """Sends prompts. Its connections to OpenAI-compatible servers are kept open until it closes.

    `local` is the address of the local server: one, or by the name of the model that it carries.
    """

    def __init__(self, local: str | Mapping[str, str] | None = None) -> None:
        self._local = addresses(local)
        self._clients: dict[tuple[str, str], openai.AsyncOpenAI] = {}

    async def close(self) -> None:
        """Close the connections."""
        for client in self._clients.values():
            await client.close()
        self._clients.clear()

    async def call(
        self,
        model: PoolModel,
        prompt: SolvePrompt,
        *,
        seed: int | None,
        left_out: Collection[str] = (),
        also: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Send a prompt once, without the parameters left out and with what is `also` sent.

        Raises CallError, and InputError when the key's variable is not set.
        """
        if model.runner is not None:
            said = "a runner is no model; let it answer an item by `benchfill rollouts`"
            raise CallError(Failure("fatal", said, billed=False))
        litellm = load_litellm()
        secret = read_key(model)
        arguments = {
            **_to_litellm(model),
            **sent_parameters(model, seed=seed, left_out=left_out),
            **(also or {}),
            **self._access(model, secret),
        }
        started = time.monotonic()
        try:
            async with asyncio.timeout(model.timeout):
                if prompt.text is not None:
                    response = await litellm.atext_completion(prompt=prompt.text, **arguments)
                else:
                    messages = [{"role": m.role, "content": m.content} for m in prompt.messages]
                    response = await litellm.acompletion(messages=messages, **arguments)
        except Exception as error:
            raise CallError(classify(error, secret)) from None
        seconds = time.monotonic() - started
        cost = 0.0 if model.api_base == LOCAL else _cost(response)
        return _reply(response, seconds=seconds, cost=cost, style=model.style)

    def _access(self, model: PoolModel, secret: str | None) -> dict[str, Any]:
        """Give address, key and connection."""
        base = model.api_base
        if base == LOCAL:
            base = self._local[model.local_model]
        if base is None:
            return {"api_key": secret} if secret else {}
        key = secret or _NO_KEY
        if not model.litellm_id.startswith(("openai/", "text-completion-openai/")):
            return {"api_base": base, "api_key": key}
        if (base, key) not in self._clients:
            # litellm would open one too, but leave it open when the event loop ends.
            self._clients[base, key] = openai.AsyncOpenAI(
                base_url=base, api_key=key, max_retries=0, organization="", project=""
            )
        access = {"api_base": base, "api_key": key, "client": self._clients[base, key]}
        # Told that it costs nothing, litellm does not search its price list for the local model.
        return access | _FREE if model.api_base == LOCAL else access


def read_key(model: PoolModel) -> str | None:
    """Read a model's key from the environment: the one place of the pool that does.

    Without `api_key_env` a provider's own variable is litellm's business, but only for that
    provider's own address: a key is never sent to an `api_base` that it was not named for.
    """
    if model.api_key_env is None:
        return None
    key = os.environ.get(model.api_key_env)
    if not key:
        raise InputError(
            f"model {model.name!r} takes its key from the environment variable "
            f"{model.api_key_env}, which is not set; set it, or correct api_key_env."
        )
    return key


def addresses(local: str | Mapping[str, str] | None) -> dict[str, str]:
    """Return the addresses of local servers by model; one alone is that of the usual model."""
    if local is None:
        return {}
    return {LOCAL_MODEL: local} if isinstance(local, str) else dict(local)


def sent_parameters(
    model: PoolModel, *, seed: int | None, left_out: Collection[str] = ()
) -> dict[str, Any]:
    """Return the parameters that go out with a prompt, by litellm's names."""
    parameters = model.parameters
    arguments: dict[str, Any] = {
        "temperature": parameters.temperature,
        "top_p": parameters.top_p,
        "max_tokens": parameters.max_tokens,
        "max_completion_tokens": parameters.max_completion_tokens,
        "reasoning_effort": parameters.reasoning_effort,
        "stop": list(parameters.stop) or None,
        "seed": seed,
        "presence_penalty": parameters.presence_penalty,
        "frequency_penalty": parameters.frequency_penalty,
        "extra_body": parameters.extra_body or None,
    }
    return {
        name: value
        for name, value in arguments.items()
        if value is not None and name not in left_out
    }


def _to_litellm(model: PoolModel) -> dict[str, Any]:
    # Retries are ours, so that they are counted and what was received is never asked again.
    # Whatever litellm's global setting, it drops nothing in silence.
    return {
        "model": model.litellm_id,
        "timeout": model.timeout,
        "max_retries": 0,
        "num_retries": 0,
        "drop_params": False,
    }


def _reply(response: Any, *, seconds: float, cost: float | None, style: Style) -> Reply:
    """Read litellm's response; a shape that is not as promised is a malformed reply."""
    try:
        choice = response.choices[0]
        message = getattr(choice, "message", None)
        text = choice.text if message is None else message.content
        refused = choice.finish_reason == "content_filter" or bool(
            getattr(message, "refusal", None)
        )
    except (AttributeError, IndexError, TypeError) as error:
        raise CallError(Failure("malformed", f"unexpected reply ({error})", billed=True)) from None
    if not isinstance(text, str | None):
        message = f"unexpected reply (its text is {type(text).__name__})"
        raise CallError(Failure("malformed", message, billed=True))
    usage = getattr(response, "usage", None)
    details = getattr(usage, "completion_tokens_details", None)
    reasoning = getattr(message, "reasoning_content", None)
    if style == "chat" and not reasoning:
        reasoning, text = _thoughts(text or "")
    return Reply(
        text=text or (getattr(message, "refusal", None) or ""),
        reasoning=reasoning if isinstance(reasoning, str) and reasoning else None,
        finish_reason=choice.finish_reason,
        refused=refused,
        prompt_tokens=getattr(usage, "prompt_tokens", None),
        completion_tokens=getattr(usage, "completion_tokens", None),
        reasoning_tokens=getattr(details, "reasoning_tokens", None),
        cost=cost,
        seconds=seconds,
        logprobs=bool(getattr(choice, "logprobs", None)),
    )


def _thoughts(text: str) -> tuple[str | None, str]:
    """Part reasoning that a server left in the text; cut off in it, there is no answer yet."""
    found = _THOUGHTS.match(text)
    return (found["thoughts"], text[found.end() :]) if found else (None, text)


def _cost(response: Any) -> float | None:
    """Read the price of a reply in US dollars, as litellm reckoned it; None where it knows none."""
    hidden = getattr(response, "_hidden_params", None)
    cost = hidden.get("response_cost") if hidden is not None else None
    # litellm gives 0.0 for some models that it knows no price of.
    return float(cost) if cost else None
