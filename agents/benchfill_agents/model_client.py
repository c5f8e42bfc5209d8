"""The one door from AutoGen to models: a `ChatCompletionClient` over litellm.

Errors arrive typed (`benchfill.errors.ProviderError`) and what may pass is tried again in here,
because inside a team AutoGen turns every exception into a bare RuntimeError.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal, Self

import litellm
from autogen_core import CancellationToken, Component
from autogen_core.models import (
    ChatCompletionClient,
    CreateResult,
    LLMMessage,
    ModelFamily,
    ModelInfo,
    RequestUsage,
)
from pydantic import BaseModel, ConfigDict, Field, SecretStr
from typing_extensions import override

from benchfill.errors import InputError

from .chat_messages import to_api_messages, to_result, tool_arguments
from .client_sending import Sender
from .pool.config import LOCAL, PoolModel
from .pool.door import Door
from .pool.failures import LONGEST_PAUSE

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

    from autogen_core.tools import Tool, ToolSchema

litellm.suppress_debug_info = True  # it would print to stdout, where --json prints its object

_NO_KEY = "none"  # keyless servers want some key; None would send the environment's key to them


class ModelClientConfig(BaseModel):
    """What a client is made of, apart from the key, which is never part of a configuration."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, description="what errors and records call the model")
    model: str = Field(min_length=1, description="litellm id, for example openai/gpt-4o-mini")
    api_base: str | None = Field(None, description="URL of an OpenAI-compatible server")
    parameters: dict[str, Any] = Field({}, description="sent with every call")
    timeout: float = Field(60.0, gt=0, description="seconds a call may take")
    retries: int = Field(5, ge=0, description="after 429, 5xx, timeouts, broken replies")
    first_wait: float = Field(0.5, ge=0, description="seconds; doubles with each retry")
    longest_wait: float = Field(60.0, ge=0, description="seconds between retries at most")
    longest_pause: float = Field(
        LONGEST_PAUSE, ge=0, description="a provider that asks for more is given up"
    )
    kept: tuple[str, ...] = Field((), description="parameters without which nothing is asked")
    context_window: int | None = Field(None, ge=1, description="tokens; None asks litellm")
    vision: bool = False
    function_calling: bool = True
    structured_output: bool = Field(True, description="whether a JSON schema can be sent along")


class LiteLLMChatCompletionClient(ChatCompletionClient, Component[ModelClientConfig]):
    """Calls one model through litellm, and counts tokens and cost."""

    component_type = "model"
    component_config_schema = ModelClientConfig
    component_provider_override = "benchfill_agents.model_client.LiteLLMChatCompletionClient"

    def __init__(
        self,
        config: ModelClientConfig,
        *,
        api_key: SecretStr | None = None,
        on_usage: Callable[[str, int, int, float | None], None] | None = None,
        door: Door | None = None,
    ) -> None:
        self._config = config
        self._sender = Sender(config, door, key=self._key)
        self._on_usage = on_usage  # name, prompt and completion tokens, US dollars
        self._api_key = api_key
        self._actual = RequestUsage(0, 0)
        self._total = RequestUsage(0, 0)
        self._cost: float | None = 0.0

    @classmethod
    def from_pool_model(
        cls,
        model: PoolModel,
        *,
        api_base: str | None = None,
        api_key: SecretStr | None = None,
        on_usage: Callable[[str, int, int, float | None], None] | None = None,
        door: Door | None = None,
    ) -> Self:
        """Build a client for a model of the pool; `api_base` is where the local server runs.

        Its calls wait in the lines of `door`; by default the model has one of its own.
        """
        base = api_base or model.api_base
        if base == LOCAL:
            raise InputError(
                f"model {model.name!r} runs on the local server, whose address was not given."
            )
        parameters = model.parameters.model_dump(exclude_defaults=True, mode="json")
        if parameters.get("seed") == "per_sample":  # means something for rollouts only
            del parameters["seed"]
        config = ModelClientConfig(
            name=model.name,
            # A raw completion cannot hold a conversation: whatever the style, this is chat.
            model=model.model_copy(update={"style": "chat", "api_base": base}).litellm_id,
            api_base=base,
            parameters=parameters,
            timeout=model.timeout,
            retries=model.retries,
            kept=tuple(parameters) if model.rejected_parameters == "refuse" else (),
        )
        door = door or Door.of_its_own(model)
        return cls(config, api_key=api_key, on_usage=on_usage, door=door)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._config.name!r}, {self._config.model!r})"

    @property
    def name(self) -> str:
        """What errors and records call the model."""
        return self._config.name

    @property
    def left_out(self) -> tuple[str, ...]:
        """Parameters that are not sent, since the provider said that it does not take them."""
        return self._sender.rejections.left_out

    @property
    def cost(self) -> float | None:
        """US dollars spent so far; None once a call's price is unknown."""
        return self._cost

    @override
    async def create(
        self,
        messages: Sequence[LLMMessage],
        *,
        tools: Sequence[Tool | ToolSchema] = (),
        tool_choice: Tool | Literal["auto", "required", "none"] = "auto",
        json_output: bool | type[BaseModel] | None = None,
        extra_create_args: Mapping[str, Any] | None = None,
        cancellation_token: CancellationToken | None = None,
    ) -> CreateResult:
        """Ask for one reply. Raises ProviderError."""
        request = {
            **self._request(messages, json_output),
            **tool_arguments(tools, tool_choice),
            **(extra_create_args or {}),
        }

        async def ask(fitted: dict[str, Any]) -> Any:
            return await litellm.acompletion(**fitted)

        task = asyncio.ensure_future(self._sender.send(ask, request))
        if cancellation_token is not None:
            cancellation_token.link_future(task)
        return self._result(await task, request, json_output)

    @override
    async def create_stream(
        self,
        messages: Sequence[LLMMessage],
        *,
        tools: Sequence[Tool | ToolSchema] = (),
        tool_choice: Tool | Literal["auto", "required", "none"] = "auto",
        json_output: bool | type[BaseModel] | None = None,
        extra_create_args: Mapping[str, Any] | None = None,
        cancellation_token: CancellationToken | None = None,
    ) -> AsyncGenerator[str | CreateResult, None]:
        """Yield pieces of text and then the result. Raises ProviderError.

        Nothing is tried again after the first piece, which cannot be taken back.
        """
        request = {
            **self._request(messages, json_output),
            **tool_arguments(tools, tool_choice),
            **(extra_create_args or {}),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        pieces: asyncio.Queue[str | None] = asyncio.Queue()
        task = asyncio.ensure_future(self._stream(request, pieces.put_nowait))
        task.add_done_callback(lambda _: pieces.put_nowait(None))
        if cancellation_token is not None:
            cancellation_token.link_future(task)
        try:
            while (piece := await pieces.get()) is not None:
                yield piece
            yield self._result(await task, request, json_output)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _stream(self, request: dict[str, Any], emit: Callable[[str], None]) -> Any:
        has_begun = False

        async def ask(fitted: dict[str, Any]) -> Any:
            nonlocal has_begun
            chunks = []
            async for chunk in await litellm.acompletion(**fitted):
                chunks.append(chunk)
                text = chunk.choices[0].delta.content if chunk.choices else None
                if text:
                    has_begun = True
                    emit(text)
            return litellm.stream_chunk_builder(chunks, messages=request["messages"])

        return await self._sender.send(ask, request, may_retry=lambda: not has_begun)

    def _key(self) -> str | None:
        return self._api_key.get_secret_value() if self._api_key is not None else None

    def _request(
        self, messages: Sequence[LLMMessage], json_output: bool | type[BaseModel] | None
    ) -> dict[str, Any]:
        config = self._config
        request: dict[str, Any] = {
            **config.parameters,
            "model": config.model,
            "messages": to_api_messages(messages),
            "api_base": config.api_base,
            "api_key": self._key() or (_NO_KEY if config.api_base else None),
            "timeout": config.timeout,
            "num_retries": 0,  # retries are ours
            "max_retries": 0,
            "drop_params": False,  # whatever its setting: nothing is dropped in silence
        }
        if json_output is True:
            request["response_format"] = {"type": "json_object"}
        elif isinstance(json_output, type) and config.structured_output:
            request["response_format"] = json_output
        return request

    def _result(
        self,
        response: Any,
        request: dict[str, Any],
        json_output: bool | type[BaseModel] | None,
    ) -> CreateResult:
        usage = getattr(response, "usage", None)
        self._actual = RequestUsage(
            getattr(usage, "prompt_tokens", None) or 0,
            getattr(usage, "completion_tokens", None) or 0,
        )
        self._total = RequestUsage(
            self._total.prompt_tokens + self._actual.prompt_tokens,
            self._total.completion_tokens + self._actual.completion_tokens,
        )
        price = _price(response, request["model"])
        self._cost = None if price is None or self._cost is None else self._cost + price
        if self._on_usage is not None:
            tokens = self._actual
            self._on_usage(self.name, tokens.prompt_tokens, tokens.completion_tokens, price)
        return to_result(response, self._actual, json_output)

    async def close(self) -> None:
        """Do nothing: litellm's connections are shared by all calls of the process."""

    def actual_usage(self) -> RequestUsage:
        """Tokens of the latest call, as the provider counted them."""
        return self._actual

    def total_usage(self) -> RequestUsage:
        """Tokens of all calls so far, as the provider counted them."""
        return self._total

    def count_tokens(
        self, messages: Sequence[LLMMessage], *, tools: Sequence[Tool | ToolSchema] = ()
    ) -> int:
        """Estimate the tokens of a conversation with the tokenizer that litellm knows."""
        declared = tool_arguments(tools, "auto").get("tools")
        return int(
            litellm.token_counter(
                model=self._config.model, messages=to_api_messages(messages), tools=declared
            )
        )

    def remaining_tokens(
        self, messages: Sequence[LLMMessage], *, tools: Sequence[Tool | ToolSchema] = ()
    ) -> int:
        """Return what is left of the context window. Raises InputError if that is not known."""
        window = self._config.context_window
        if window is None:
            window = _known_window(self._config.model)
        if window is None:
            raise InputError(
                f"the context window of model {self.name!r} is not known; give context_window."
            )
        return window - self.count_tokens(messages, tools=tools)

    @property
    def model_info(self) -> ModelInfo:
        """What the model can do."""
        return ModelInfo(
            vision=self._config.vision,
            function_calling=self._config.function_calling,
            json_output=True,
            family=ModelFamily.UNKNOWN,
            structured_output=self._config.structured_output,
            multiple_system_messages=True,
        )

    @property
    def capabilities(self) -> ModelInfo:
        """See `model_info`; deprecated, but the base class wants it."""
        return self.model_info

    def _to_config(self) -> ModelClientConfig:
        return self._config

    @classmethod
    def _from_config(cls, config: ModelClientConfig) -> Self:
        return cls(config)


def _price(response: Any, model: str) -> float | None:
    try:
        return float(litellm.completion_cost(completion_response=response, model=model))
    except Exception:  # litellm raises a bare Exception for a model without a price
        return None


def _known_window(model: str) -> int | None:
    try:
        return litellm.get_model_info(model).get("max_input_tokens")
    except Exception:  # litellm raises a bare Exception for a model that it does not know
        return None
