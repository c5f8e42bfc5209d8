"""What cannot be played over HTTP: dates in Retry-After, and texts that hold keys."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import openai
import pytest

from benchfill_agents.provider_errors import classify, without_keys


def _limited(retry_after: str) -> openai.RateLimitError:
    response = httpx.Response(
        429, headers={"retry-after": retry_after}, request=httpx.Request("POST", "http://x")
    )
    return openai.RateLimitError("slow down", response=response, body=None)  # type: ignore[arg-type]


def test_retry_after_as_a_date() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    wait = classify(_limited(later), model="m").retry_after
    assert wait is not None
    assert 25 < wait <= 30


@pytest.mark.parametrize(("value", "wait"), [("7", 7), ("0.5", 0.5), ("-3", 0), ("soon", None)])
def test_retry_after_as_a_number(value: str, wait: float | None) -> None:
    assert classify(_limited(value), model="m").retry_after == wait


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: sk-proj-abcdefgh12345678.",
        "Authorization: Bearer abc.def.ghi failed",
        "AIzaSyA1234567890abcdef is invalid",
        "the key my secret passphrase is invalid",
    ],
)
def test_keys_are_taken_out(text: str) -> None:
    cleaned = without_keys(text, "my secret passphrase")
    assert "***" in cleaned
    assert not [part for part in ("abcdefgh", "abc.def", "SyA12", "passphrase") if part in cleaned]


def test_ordinary_words_stay() -> None:
    text = "the keyboard of task-oriented models needs skills-based prompts; check key_of_the_model"
    assert without_keys(text) == text


def test_foreign_error_is_a_sentence() -> None:
    error = classify(KeyError("choices"), model="m")
    assert error.message == "model 'm' could not be called: 'choices'."
    assert not error.retryable
