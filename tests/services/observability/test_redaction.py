"""No secret passes, and nothing else is lost."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchfill_services.observability.redaction import HIDDEN, Redactor, secrets_in

ENVIRONMENT = {
    "OPENAI_API_KEY": "canary-openai",
    "HF_TOKEN": "canary-hf",
    "WEBHOOK_SECRET": "canary-webhook",
    "DB_PASSWORD": "canary/db \"'ä",
    "BENCHFILL_REDIS_URL": "redis://user:canary-redis@host:6379/0",
    "SHORT_KEY": "1",
    "KEYBOARD": "dvorak-layout",
    "HOME": "/home/somebody",
    "MONKEY": "not a secret",
}
SECRETS = {"canary-openai", "canary-hf", "canary-webhook", "canary/db \"'ä", "canary-redis"}


def test_variables_named_like_a_key_and_passwords_of_urls_are_secret() -> None:
    assert secrets_in(ENVIRONMENT) == SECRETS


@pytest.mark.parametrize("secret", sorted(SECRETS))
@pytest.mark.parametrize("form", [str, repr, json.dumps, lambda secret: f"x{secret}y"])
def test_a_known_secret_is_hidden_in_every_form(secret, form) -> None:
    said = Redactor(secrets_in(ENVIRONMENT)).value({"a": [{"b": (form(secret),)}], form(secret): 1})
    assert "canary" not in str(said)
    assert HIDDEN in str(said)


@given(
    secret=st.text(st.characters(exclude_categories=["Cs"]), min_size=6, max_size=12),
    before=st.text(max_size=5),
    after=st.text(max_size=5),
)
def test_whatever_characters_it_has(secret, before, after) -> None:
    assert secret not in Redactor({secret}).text(f"{before}{secret}{after}").replace(HIDDEN, "")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Authorization: Bearer abcdefghijkl.mno", f"Authorization: Bearer {HIDDEN}"),
        ("{'Authorization': 'Basic dXNlcjpwYXNz'}", f"{{'Authorization': 'Basic {HIDDEN}'}}"),
        ("at redis://:p4ss@host:6379/0.", f"at redis://:{HIDDEN}@host:6379/0."),
        ("wrong key sk-proj-0123456789abcdef.", f"wrong key sk-{HIDDEN}."),
        (f"bf_0123456789ab_{'x' * 43} is revoked", f"bf_0123456789ab_{HIDDEN} is revoked"),
    ],
)
def test_what_looks_like_a_secret_is_hidden(said, expected) -> None:
    assert Redactor(()).text(said) == expected


@pytest.mark.parametrize(
    "said",
    [
        "took 12 tokens of a budget of 500",
        "http://host:8000/v1/fills?limit=5 and mailto:a@b.example",
        "the bearer of this key",
        "0123456789abcdef0123456789abcdef",
        "a task-list; risk-averse",
    ],
)
def test_what_is_no_secret_stays(said) -> None:
    assert Redactor({"another"}).text(said) == said


def test_values_keep_their_kind() -> None:
    value = {"n": 1, "x": 0.5, "on": True, "none": None, "list": ["a", 2], "tokens": 7}
    assert Redactor({"secret"}).value(value) == value


def test_fields_named_like_a_secret_are_hidden_whatever_they_hold() -> None:
    value = {"api_key": "x", "x-api-key": "y", "Authorization": "z", "password": "p", "token": 3}
    hidden = Redactor(()).value(value)
    assert hidden == dict.fromkeys(value, HIDDEN) | {"token": 3}


def test_the_longer_of_two_secrets_that_begin_alike_is_hidden_whole() -> None:
    assert Redactor({"secret", "secret-tail"}).text("secret-tail") == HIDDEN
