"""What the environment decides: the only place where BenchFill reads it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

from platformdirs import user_data_path
from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from benchfill.errors import InputError

from .observability.redaction import secrets_in


class Settings(BaseSettings):
    """Settings of a process, built once at its entry point and handed down.

    Raises
    ------
    InputError
        A variable has a value that cannot be used; the value itself is not repeated.
    """

    model_config = SettingsConfigDict(
        env_prefix="BENCHFILL_", env_ignore_empty=True, frozen=True, extra="ignore"
    )

    data_dir: Path = Field(
        default_factory=lambda: user_data_path("benchfill", appauthor=False),
        description="folder of the embedded Valkey and of the rollouts' spool",
    )
    redis_url: SecretStr | None = Field(
        None, description="redis://, rediss:// or unix:// URL; the embedded Valkey when missing"
    )
    pools_dir: Path | None = Field(
        None, description="folder of the service's pools, one file POOL.yaml each"
    )
    max_upload_bytes: int = Field(
        64 << 20, ge=1 << 16, description="most that an upload of a benchmark may have"
    )
    judge: str | None = Field(
        None,
        description="pool model that judges new items of fills which name none, in pools that have "
        "a model of this name",
    )
    reviews_needed: int = Field(
        2, ge=1, le=9, description="reviewers who must agree on an item before it may be merged"
    )
    review_rollouts: int = Field(
        20_000, ge=0, description="rollouts that one requested change of an item may use"
    )

    api_key: SecretStr | None = Field(
        None, description="key of whoever reviews on the command line, see `benchfill keys create`"
    )

    log_format: Literal["json", "console"] | None = Field(
        None, description="of log lines: `console` on a terminal, else `json`, when missing"
    )
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    otlp_endpoint: str | None = Field(
        None,
        validation_alias="OTEL_EXPORTER_OTLP_ENDPOINT",
        pattern=r"^https?://",
        description="OpenTelemetry collector (http://host:4318) that traces go to; none if missing",
    )

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            wrong = error.errors(include_input=False, include_url=False)[0]
            name = str(wrong["loc"][0]) if wrong["loc"] else ""
            source = name if name.isupper() else f"BENCHFILL_{name.upper()}"
            said = wrong["msg"][:1].lower() + wrong["msg"][1:]
            raise InputError(f"{said}.", source=source) from None

    @field_validator("log_format", "log_level", mode="before")
    @classmethod
    def _lower(cls, value: object) -> object:
        return value.lower() if isinstance(value, str) else value

    @field_validator("data_dir")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        return value.expanduser().absolute()


def environment_secrets() -> frozenset[str]:
    """Return what must never be logged: values of variables that are named like a key."""
    return secrets_in(os.environ)
