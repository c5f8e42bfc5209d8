"""AutoGen's messages, tools and results on one side, the chat completion API on the other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from autogen_core import FunctionCall
from autogen_core.models import (
    AssistantMessage,
    ChatCompletionTokenLogprob,
    CreateResult,
    FinishReasons,
    FunctionExecutionResultMessage,
    LLMMessage,
    RequestUsage,
    SystemMessage,
    TopLogprob,
    UserMessage,
)
from autogen_core.tools import Tool, ToolSchema
from pydantic import BaseModel, ValidationError

from .structured import parse_structured

if TYPE_CHECKING:
    from collections.abc import Sequence

ToolChoice = Tool | Literal["auto", "required", "none"]

_FINISH_REASONS: dict[str, FinishReasons] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "function_calls",
    "function_call": "function_calls",
    "content_filter": "content_filter",
}


def to_api_messages(messages: Sequence[LLMMessage]) -> list[dict[str, Any]]:
    """Translate a conversation."""
    return [translated for message in messages for translated in _to_api(message)]


def _to_api(message: LLMMessage) -> list[dict[str, Any]]:
    match message:
        case SystemMessage(content=text):
            return [{"role": "system", "content": text}]
        case UserMessage(content=str(text)):
            return [{"role": "user", "content": text}]
        case UserMessage(content=parts):
            return [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": part}
                        if isinstance(part, str)
                        else part.to_openai_format()
                        for part in parts
                    ],
                }
            ]
        case AssistantMessage(content=str(text)):
            return [{"role": "assistant", "content": text}]
        case AssistantMessage(content=calls, thought=thought):
            return [
                {
                    "role": "assistant",
                    "content": thought,
                    "tool_calls": [_call_to_api(call) for call in calls],
                }
            ]
        case FunctionExecutionResultMessage(content=results):
            return [
                {"role": "tool", "tool_call_id": result.call_id, "content": result.content}
                for result in results
            ]


def _call_to_api(call: FunctionCall | str) -> dict[str, Any]:
    if isinstance(call, str):
        raise TypeError("an assistant's message holds either text or calls")
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def tool_arguments(tools: Sequence[Tool | ToolSchema], choice: ToolChoice) -> dict[str, Any]:
    """Return the request's fields for the tools, none where there are no tools."""
    if not tools:
        return {}
    schemas = [tool.schema if isinstance(tool, Tool) else tool for tool in tools]
    chosen: Any = choice
    if isinstance(choice, Tool):
        chosen = {"type": "function", "function": {"name": choice.name}}
    return {
        "tools": [{"type": "function", "function": dict(schema)} for schema in schemas],
        "tool_choice": chosen,
    }


def to_result(
    response: Any, usage: RequestUsage, json_output: bool | type[BaseModel] | None
) -> CreateResult:
    """Translate litellm's response. A refusal arrives as content_filter with the model's words."""
    choice = response.choices[0]
    message = choice.message
    thought = getattr(message, "reasoning_content", None)
    reason = _FINISH_REASONS.get(choice.finish_reason, "unknown")
    content: str | list[FunctionCall] = message.content or ""
    if message.tool_calls:
        thought = thought or message.content or None
        content = [
            FunctionCall(
                id=call.id, name=call.function.name, arguments=call.function.arguments or "{}"
            )
            for call in message.tool_calls
        ]
        reason = "function_calls"
    elif not content and getattr(message, "refusal", None):
        content, reason = message.refusal, "content_filter"
    if isinstance(content, str) and isinstance(json_output, type):
        content = _bare_json(content, json_output)
    return CreateResult(
        finish_reason=reason,
        content=content,
        usage=usage,
        cached=False,
        logprobs=_logprobs(getattr(choice, "logprobs", None)),
        thought=thought,
    )


def _bare_json(content: str, model: type[BaseModel]) -> str:
    """Strip words and fences around an object that fits; leave alone what does not fit."""
    try:
        parsed = parse_structured(content, model)
    except ValidationError:
        return content
    try:
        json.loads(content)
    except ValueError:
        return parsed.model_dump_json()
    return content


def _logprobs(logprobs: Any) -> list[ChatCompletionTokenLogprob] | None:
    tokens = getattr(logprobs, "content", None)
    if not tokens:
        return None
    return [
        ChatCompletionTokenLogprob(
            token=token.token,
            logprob=token.logprob,
            bytes=token.bytes,
            top_logprobs=[
                TopLogprob(logprob=top.logprob, bytes=top.bytes) for top in token.top_logprobs or ()
            ],
        )
        for token in tokens
    ]
