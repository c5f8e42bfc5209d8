"""What a failed model call means: one sentence, and whether the same call may succeed later."""

from __future__ import annotations

import re

import openai

from benchfill.errors import ProviderError

from .pool.failures import pause_asked_for

_KEY_LIKE = re.compile(
    r"(?i:bearer\s+\S+)|\bAIza[-_A-Za-z0-9]{8,}"
    r"|\b(?:sk|pk|rk|gsk|xai|hf|key)[-_](?=[-_a-z*]*[0-9A-Z*])[-_A-Za-z0-9*]{8,}"
)
_RETRYABLE_STATUS = frozenset({408, 409, 425, 429})
_OUT_OF_CREDIT = ("insufficient_quota", "billing", "credit balance")
_ADVICE = {
    400: "the provider cannot use the request",
    401: "the key was refused; check the environment variable that holds it",
    402: "the account has no credit left; top it up and run the same command again",
    403: "the key may not use this model; check the account's permissions",
    404: "the provider does not know the model or the address; check model and api_base",
    413: "the request is too large for the model",
    422: "the provider cannot use the request",
    429: "the provider's rate limit is reached; lower max_concurrency or try later",
}


class ModelCallError(ProviderError):
    """A model call that failed; `retry_after` is the provider's own wish in seconds, or None."""

    def __init__(
        self,
        message: str,
        *,
        model: str,
        retryable: bool = False,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, model=model, retryable=retryable)
        self.status, self.retry_after = status, retry_after


def classify(error: Exception, *, model: str, key: str | None = None) -> ModelCallError:
    """Return the typed error for whatever a call through litellm raised, without any key in it."""
    detail = _detail(error, key)
    if isinstance(error, TimeoutError | openai.APITimeoutError):
        return ModelCallError(
            f"model {model!r} did not answer within its time limit; raise timeout or try later.",
            model=model,
            retryable=True,
        )
    status = getattr(error, "status_code", None)
    if not isinstance(error, openai.APIError) or not isinstance(status, int):
        return ModelCallError(f"model {model!r} could not be called: {detail}.", model=model)
    if status == 429 and any(mark in str(error).lower() for mark in _OUT_OF_CREDIT):
        status = 402
    if isinstance(error, openai.APIConnectionError) or status >= 500:
        advice, retryable = "the provider could not be reached or failed; try later", True
    else:
        advice = _ADVICE.get(status, "the provider refused the call")
        retryable = status in _RETRYABLE_STATUS
    return ModelCallError(
        f"model {model!r}: {advice} (HTTP {status}: {detail}).",
        model=model,
        retryable=retryable,
        status=status,
        retry_after=_pause(error) if retryable else None,
    )


def without_keys(text: str, key: str | None = None) -> str:
    """Replace the key, and whatever looks like one, by ``***``."""
    if key:
        text = text.replace(key, "***")
    return _KEY_LIKE.sub("***", text)


def _detail(error: Exception, key: str | None) -> str:
    """Shorten a provider's text to one line, without the names of litellm's classes before it."""
    text = " ".join(without_keys(str(error), key).split())
    text = re.sub(r"^(?:(?:litellm\.)?\w+(?:Error|Exception)\s*[:-]\s+)+", "", text)
    return (text[:200] or type(error).__name__).rstrip(".")


def _pause(error: Exception) -> float | None:
    headers = getattr(getattr(error, "response", None), "headers", None)
    return None if headers is None else pause_asked_for(headers)
