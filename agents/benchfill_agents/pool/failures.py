"""What a failed call means: whether it may be tried again, and whether it may have been billed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Literal

import httpx
import openai

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FailureKind = Literal[
    "rate_limit", "server", "timeout", "connection", "malformed", "content_policy", "fatal"
]
_RETRYABLE_STATUS: dict[int, FailureKind] = {
    408: "timeout",
    409: "server",
    425: "server",
    429: "rate_limit",
}
_KEY_LIKE = re.compile(r"\b(?:sk|pk|key|gsk|xai|hf)[-_][A-Za-z0-9_*.\-]{6,}|Bearer\s+\S+")
_TIMEOUTS = (openai.APITimeoutError, httpx.TimeoutException, TimeoutError)
_LOST = (openai.APIConnectionError, httpx.TransportError)
_MAX_MESSAGE = 240
_POLICY = re.compile(r"content[ _-]?(?:policy|filter|management)", re.IGNORECASE)
LONGEST_PAUSE = 600.0
"""Seconds; a provider that asks for more is not waited for."""


@dataclass(frozen=True)
class Failure:
    """Why a call brought no reply."""

    kind: FailureKind
    message: str
    billed: bool
    """Whether the provider may have charged for it: only a refusal at its door surely is free."""
    retry_after: float | None = None
    status: int | None = None
    """The provider's HTTP status, or litellm's own where no provider was asked."""
    parameter: str | None = None
    """The parameter that the provider itself names in the error's `param`."""

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later."""
        return self.kind not in {"fatal", "content_policy"}


def classify(error: BaseException, secret: str | None = None) -> Failure:
    """Say what an exception out of litellm means; litellm's own status codes hide some of it."""
    message = _clean(error, secret)
    # litellm's own errors come first in the chain and wear openai's types, whatever the cause was.
    causes = [c for c in _chain(error) if not type(c).__module__.startswith("litellm")]
    for cause in causes:
        if isinstance(cause, openai.APIStatusError | httpx.HTTPStatusError):
            return _said_no(cause, message)
    if any(isinstance(cause, _TIMEOUTS) for cause in causes):
        return Failure("timeout", message or "no reply in time", billed=True)
    if any(isinstance(cause, _LOST) for cause in causes):
        # By name, since openai's and litellm's connections come from two copies of httpx.
        refused = any(type(cause).__name__ == "ConnectError" for cause in causes)
        return Failure("connection", message, billed=not refused)
    # litellm words an absent key as an internal error of the provider; for an id that it does not
    # know it makes up a 400, with no provider behind it.
    no_key = any(type(cause) is openai.OpenAIError for cause in causes)
    status = getattr(error, "status_code", None)
    if no_key or (isinstance(status, int) and _kind_of_status(status, message) == "fatal"):
        known = status if isinstance(status, int) and not no_key else None
        return Failure("fatal", message, billed=False, status=known)
    return Failure("malformed", message, billed=True)


def _said_no(error: Any, message: str) -> Failure:
    """Read a status that is none of success; a long pause that is asked for ends the run."""
    status = error.response.status_code
    kind = _kind_of_status(status, message)
    pause = pause_asked_for(error.response.headers)
    if pause is not None and pause > LONGEST_PAUSE and kind in {"rate_limit", "server"}:
        kind = "fatal"
        message = (
            f"it asks for a pause of {pause:,.0f} s, run the same command again then: {message}"
        )
    parameter = getattr(error, "param", None)
    return Failure(
        kind,
        message,
        billed=False,
        retry_after=pause,
        status=status,
        parameter=parameter if isinstance(parameter, str) else None,
    )


def _kind_of_status(status: int, message: str) -> FailureKind:
    if status == 400 and _POLICY.search(message):
        return "content_policy"
    if status == 429 and "insufficient_quota" in message:
        return "fatal"
    if status in _RETRYABLE_STATUS:
        return _RETRYABLE_STATUS[status]
    if status >= 500:
        return "server"
    return "malformed" if status < 400 else "fatal"


def pause_asked_for(headers: Mapping[str, str]) -> float | None:
    """Read the pause that is asked for, in seconds; it may be a date, or OpenAI's milliseconds."""
    milliseconds, value = headers.get("retry-after-ms"), headers.get("retry-after", "")
    try:
        seconds = float(milliseconds) / 1000 if milliseconds else float(value)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError):  # no date, or one without a zone
            return None
    return max(seconds, 0.0) if seconds < float("inf") else None


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
