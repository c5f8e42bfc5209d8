"""One call to a model through litellm, and what came back in our own terms."""

from __future__ import annotations

import asyncio
import functools
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import openai

from benchfill.errors import InputError

from .config import LOCAL, PoolModel
from .failures import Failure, classify

if TYPE_CHECKING:
    from types import ModuleType

    from .prompting import SolvePrompt

_NO_KEY = "no-key"
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
    finish_reason: str | None
    refused: bool
    prompt_tokens: int | None
    completion_tokens: int | None
    cost: float | None
    seconds: float


@functools.cache
def load_litellm() -> ModuleType:
    """Import litellm (seconds) and quieten it; done once, when the first call is near."""
    import litellm  # noqa: PLC0415 - takes seconds, and reading a pool file must not pay for it

    litellm.suppress_debug_info = True
    return litellm


class Caller:
    """Sends prompts. Its connections to OpenAI-compatible servers are kept open until it closes."""

    def __init__(self, local_api_base: str | None = None) -> None:
        self._local_api_base = local_api_base
        self._clients: dict[tuple[str, str], openai.AsyncOpenAI] = {}

    async def close(self) -> None:
        """Close the connections."""
        for client in self._clients.values():
            await client.close()
        self._clients.clear()

    async def call(self, model: PoolModel, prompt: SolvePrompt, *, seed: int | None) -> Reply:
        """Send a prompt once. Raises CallError."""
        litellm = load_litellm()
        secret = read_key(model)
        arguments = {**_arguments(model, seed=seed), **self._access(model, secret)}
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
        return _reply(response, seconds=seconds, cost=cost)

    def _access(self, model: PoolModel, secret: str | None) -> dict[str, Any]:
        """Give address, key and connection."""
        base = self._local_api_base if model.api_base == LOCAL else model.api_base
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


def _arguments(model: PoolModel, *, seed: int | None) -> dict[str, Any]:
    parameters = model.parameters
    arguments: dict[str, Any] = {
        "temperature": parameters.temperature,
        "top_p": parameters.top_p,
        "max_tokens": parameters.max_tokens,
        "stop": list(parameters.stop) or None,
        "seed": seed,
        "presence_penalty": parameters.presence_penalty,
        "frequency_penalty": parameters.frequency_penalty,
        "extra_body": parameters.extra_body or None,
    }
    sent = {name: value for name, value in arguments.items() if value is not None}
    # Retries are ours, so that they are counted and what was received is never asked again.
    return {
        "model": model.litellm_id,
        "timeout": model.timeout,
        "max_retries": 0,
        "num_retries": 0,
        **sent,
    }


def _reply(response: Any, *, seconds: float, cost: float | None) -> Reply:
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
    return Reply(
        text=text or (getattr(message, "refusal", None) or ""),
        finish_reason=choice.finish_reason,
        refused=refused,
        prompt_tokens=getattr(usage, "prompt_tokens", None),
        completion_tokens=getattr(usage, "completion_tokens", None),
        cost=cost,
        seconds=seconds,
    )


def _cost(response: Any) -> float | None:
    """Read the price of a reply in US dollars, as litellm reckoned it; None where it knows none."""
    hidden = getattr(response, "_hidden_params", None)
    cost = hidden.get("response_cost") if hidden is not None else None
    # litellm gives 0.0 for some models that it knows no price of.
    return float(cost) if cost else None
