"""The environment decides where data are, and nothing secret is shown."""

from __future__ import annotations

from pathlib import Path

import platformdirs
import pytest
from pydantic import ValidationError

from benchfill.errors import InputError
from benchfill_services.settings import Settings


def test_without_variables_data_are_in_the_users_data_folder(monkeypatch) -> None:
    monkeypatch.delenv("BENCHFILL_DATA_DIR", raising=False)
    monkeypatch.setenv("BENCHFILL_REDIS_URL", "")
    settings = Settings()
    assert settings.data_dir == platformdirs.user_data_path("benchfill", appauthor=False)
    assert settings.redis_url is None


def test_variables_are_read_and_the_url_is_not_shown(monkeypatch) -> None:
    monkeypatch.setenv("BENCHFILL_DATA_DIR", "~/bench")
    monkeypatch.setenv("BENCHFILL_REDIS_URL", "redis://:secret@host")
    settings = Settings()
    assert settings.data_dir == Path.home() / "bench"
    assert settings.redis_url.get_secret_value() == "redis://:secret@host"
    assert "secret" not in repr(settings)


def test_settings_do_not_change() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Settings().data_dir = Path("/elsewhere")


def test_a_value_that_cannot_be_used_is_named_without_being_shown(monkeypatch) -> None:
    monkeypatch.setenv("BENCHFILL_LOG_FORMAT", "secret")
    with pytest.raises(InputError, match=r"BENCHFILL_LOG_FORMAT: .*'json' or 'console'") as caught:
        Settings()
    assert "secret" not in caught.value.message
    monkeypatch.setenv("BENCHFILL_LOG_FORMAT", "JSON")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "secret")
    with pytest.raises(InputError, match="OTEL_EXPORTER_OTLP_ENDPOINT: ") as caught:
        Settings()
    assert "secret" not in caught.value.message.removeprefix("OTEL_EXPORTER_OTLP_ENDPOINT")


def test_empty_variables_count_as_missing(monkeypatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "")
    monkeypatch.setenv("BENCHFILL_LOG_LEVEL", "")
    settings = Settings()
    assert (settings.otlp_endpoint, settings.log_level) == (None, "info")
