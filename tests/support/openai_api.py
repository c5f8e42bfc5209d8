"""What the scripted provider reads and writes: requests, replies and their bodies."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from support.arithmetic import answer_arithmetic, fill_schema

if TYPE_CHECKING:
    from collections.abc import Iterator

VOLATILE_FIELDS = frozenset({"stream", "stream_options", "user", "metadata", "store"})


@dataclass(frozen=True)
class Reply:
    """What the provider does with one request."""

    text: str = ""
    status: int = 200
    retry_after: float | None = None
    delay: float = 0.0  # seconds before the first byte
    chunk_delay: float = 0.0  # seconds between the chunks of a stream
    reset: bool = False  # send half of the body, then reset the connection
    malformed: bool = False  # send half of the JSON as if it were all
    refusal: str | None = None
    reasoning: str | None = None  # beside the text, as vLLM and llama.cpp send it
    parameter: str | None = None  # `param` of an error
    finish_reason: str = "stop"
    tool_calls: tuple[tuple[str, str], ...] = ()  # (function name, arguments as JSON)
    logprobs: tuple[tuple[str, float], ...] = ()  # (token, log probability)


@dataclass(frozen=True)
class Request:
    """A request as it arrived."""

    path: str
    body: dict[str, Any]
    headers: dict[str, str] = field(repr=False)  # names in lower case
    received_at: float

    @property
    def key(self) -> str:
        """SHA-256 of path and body without the fields that do not change the answer."""
        kept = {name: value for name, value in self.body.items() if name not in VOLATILE_FIELDS}
        return hashlib.sha256(json.dumps([self.path, kept], sort_keys=True).encode()).hexdigest()

    @property
    def model(self) -> str:
        """Name of the model that was asked for."""
        return str(self.body.get("model", ""))

    @property
    def prompt(self) -> str:
        """Text of a completion's prompt, or of the last chat message."""
        if "messages" in self.body:
            content = self.body["messages"][-1].get("content") or ""
            if isinstance(content, list):
                return "".join(part.get("text", "") for part in content)
            return str(content)
        prompt = self.body.get("prompt", "")
        return prompt[-1] if isinstance(prompt, list) else str(prompt)


def default_reply(request: Request) -> Reply:
    """Answer the last sum in the prompt; in the requested JSON schema if there is one."""
    answer = answer_arithmetic(request.prompt)
    response_format = request.body.get("response_format") or {}
    if response_format.get("type") == "json_schema":
        answer = json.dumps(fill_schema(response_format["json_schema"]["schema"], answer))
    return Reply(text=answer)


def error_body(status: int, message: str, parameter: str | None = None) -> dict[str, Any]:
    """An error as the API words it."""
    message = message or f"scripted error {status}"
    code = str(status)
    return {"error": {"message": message, "type": "scripted", "code": code, "param": parameter}}


def _head(request: Request, kind: str) -> dict[str, Any]:
    identity = f"scripted-{request.key[:12]}"
    return {"id": identity, "object": kind, "created": 0, "model": request.model}


def _usage(request: Request, reply: Reply) -> dict[str, int]:
    """Count words as tokens: enough to see that usage arrives."""
    if "messages" in request.body:
        asked = sum(len(str(m.get("content") or "").split()) for m in request.body["messages"])
    else:
        asked = len(request.prompt.split())
    given = len(reply.text.split())
    return {"prompt_tokens": asked, "completion_tokens": given, "total_tokens": asked + given}


def _tool_calls(reply: Reply) -> list[dict[str, Any]]:
    return [
        {
            "index": number,
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": name, "arguments": arguments},
        }
        for number, (name, arguments) in enumerate(reply.tool_calls)
    ]


def _chat_logprobs(reply: Reply) -> dict[str, Any] | None:
    if not reply.logprobs:
        return None
    tokens = [
        {
            "token": token,
            "logprob": value,
            "bytes": list(token.encode()),
            "top_logprobs": [{"token": token, "logprob": value, "bytes": list(token.encode())}],
        }
        for token, value in reply.logprobs
    ]
    return {"content": tokens, "refusal": None}


def chat_body(request: Request, reply: Reply) -> dict[str, Any]:
    """A whole chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    if reply.reasoning is not None:
        message["reasoning_content"] = reply.reasoning
    if reply.tool_calls:
        message["tool_calls"] = _tool_calls(reply)
    reason = "tool_calls" if reply.tool_calls else reply.finish_reason
    choices = [
        {
            "index": number,
            "message": message,
            "finish_reason": reason,
            "logprobs": _chat_logprobs(reply),
        }
        for number in range(request.body.get("n") or 1)
    ]
    head = _head(request, "chat.completion")
    return {**head, "choices": choices, "usage": _usage(request, reply)}


def completion_body(request: Request, reply: Reply) -> dict[str, Any]:
    """A whole text completion."""
    choices = [
        {
            "index": number,
            "text": reply.text,
            "finish_reason": reply.finish_reason,
            "logprobs": None,
        }
        for number in range(request.body.get("n") or 1)
    ]
    return {
        **_head(request, "text_completion"),
        "choices": choices,
        "usage": _usage(request, reply),
    }


def events(request: Request, reply: Reply) -> Iterator[dict[str, Any]]:
    """One event a word, then the reason for the end, then the usage if it was asked for."""
    is_chat = request.path == "/v1/chat/completions"
    head = _head(request, "chat.completion.chunk" if is_chat else "text_completion")

    def event(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        piece = {"delta": delta} if is_chat else {"text": delta.get("content", "")}
        return {**head, "choices": [{"index": 0, **piece, "finish_reason": reason}]}

    yield event({"role": "assistant", "content": ""})
    words = reply.text.split(" ")
    for number, word in enumerate(words):
        yield event({"content": word if number == 0 else f" {word}"})
    if reply.refusal is not None:
        yield event({"refusal": reply.refusal})
    for call in _tool_calls(reply):
        yield event({"tool_calls": [call]})
    yield event({}, "tool_calls" if reply.tool_calls else reply.finish_reason)
    if (request.body.get("stream_options") or {}).get("include_usage"):
        yield {**head, "choices": [], "usage": _usage(request, reply)}
