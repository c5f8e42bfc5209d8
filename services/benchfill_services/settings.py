"""What the environment decides: the only place where BenchFill reads it."""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_data_path
from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Settings of a process, built once at its entry point and handed down."""

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

    @field_validator("data_dir")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        return value.expanduser().absolute()
