"""What a failed call means: whether it may be tried again, and whether it may have been billed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import httpx
import openai

FailureKind = Literal[
    "rate_limit", "server", "timeout", "connection", "malformed", "content_policy", "fatal"
]
_RETRYABLE_STATUS = {408: "timeout", 409: "server", 425: "server", 429: "rate_limit"}
_KEY_LIKE = re.compile(r"\b(?:sk|pk|key|gsk|xai|hf)[-_][A-Za-z0-9_*.\-]{6,}|Bearer\s+\S+")
_MAX_MESSAGE = 240
_MAX_RETRY_AFTER = 120.0


@dataclass(frozen=True)
class Failure:
    """Why a call brought no reply."""

    kind: FailureKind
    message: str
    billed: bool
    """Whether the provider may have charged for it: only a refusal at its door surely is free."""
    retry_after: float | None = None

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later."""
        return self.kind not in {"fatal", "content_policy"}


def classify(error: BaseException, secret: str | None = None) -> Failure:
    """Say what an exception out of litellm means; litellm's own status codes hide some of it."""
    message = _clean(error, secret)
    for cause in _chain(error):
        match cause:
            case openai.APIStatusError():
                kind = _kind_of_status(cause, message)
                return Failure(kind, message, billed=False, retry_after=_retry_after(cause))
            case openai.APITimeoutError() | TimeoutError() | httpx.TimeoutException():
                return Failure("timeout", message or "no reply in time", billed=True)
            case httpx.ConnectError():
                return Failure("connection", message, billed=False)
            case httpx.TransportError():
                return Failure("connection", message, billed=True)
    chain = list(_chain(error))
    # litellm words an absent key as an internal error of the provider.
    if any(type(cause) is openai.OpenAIError for cause in chain):
        return Failure("fatal", message, billed=False)
    if any(isinstance(cause, openai.APIConnectionError) for cause in chain):
        return Failure("connection", message, billed=True)
    return Failure("malformed", message, billed=True)


def _kind_of_status(error: openai.APIStatusError, message: str) -> FailureKind:
    status = error.status_code
    if status == 400 and re.search(
        r"content[ _-]?(?:policy|filter|management)", message, re.IGNORECASE
    ):
        return "content_policy"
    if status == 429 and "insufficient_quota" in str(error.body):
        return "fatal"
    if status in _RETRYABLE_STATUS:
        return _RETRYABLE_STATUS[status]  # type: ignore[return-value]
    if status >= 500:
        return "server"
    return "malformed" if status < 400 else "fatal"


def _retry_after(error: openai.APIStatusError) -> float | None:
    try:
        seconds = float(error.response.headers.get("retry-after", ""))
    except ValueError:
        return None
    return min(seconds, _MAX_RETRY_AFTER) if seconds >= 0 else None


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__


def _clean(error: BaseException, secret: str | None) -> str:
    """Make one short line of a message, without anything that looks like a key."""
    text = " ".join(str(error).split())
    if secret:
        text = text.replace(secret, "***")
    text = _KEY_LIKE.sub("***", text)
    text = re.sub(r"^(?:litellm\.)?\w*(?:Error|Timeout):\s*", "", text)
    return text if len(text) <= _MAX_MESSAGE else f"{text[:_MAX_MESSAGE]}..."
