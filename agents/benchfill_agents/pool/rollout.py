"""A rollout: one sampled answer of one model to one item, as the ledger keeps it."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field


class RolloutKey(BaseModel):
    """What makes two rollouts the same: whoever asks with the same key gets the answer kept."""

    model_config = ConfigDict(frozen=True)

    model: str = Field(description="SHA-256 of the litellm id and all parameters that are sent")
    prompt: str = Field(description="SHA-256 of the prompt as sent, items' text left in")
    item: str = Field(description="content hash of the item")
    sample: int = Field(ge=0, description="index of the sample, from 0")

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the four parts."""
        parts = json.dumps([self.model, self.prompt, self.item, self.sample]).encode()
        return hashlib.sha256(parts).hexdigest()


class Rollout(BaseModel):
    """One answer received (or given up), with its score and what it cost."""

    model_config = ConfigDict(frozen=True)

    key: RolloutKey
    purpose: Literal["solve", "write"] = Field(
        "solve", description="write: a call of an agent that writes or judges; it has no score"
    )
    model_name: str = Field(description="name of the model in the pool")
    item_id: str = Field(description="of a call of an agent: its place in the job")
    outcome: Literal["answered", "empty", "truncated", "refused", "failed"] = Field(
        description="what came back once retries were spent; only `failed` has no answer"
    )
    text: str | None = Field(None, description="the reply as received; untrusted")
    reasoning: str | None = Field(
        None, description="reasoning that came beside the reply; kept, never scored; untrusted"
    )
    choice_order: tuple[int, ...] | None = Field(
        None, description="places of the item's options in the order shown; None: as they are"
    )
    extracted: str | None = Field(None, description="the answer found in the reply")
    correct: bool | None = Field(description="None when there is no answer to score")
    scored_by: str | None = Field(
        None, description="what the score came from: domain, its version, hash of the reference"
    )
    prompt_tokens: int | None = None
    completion_tokens: int | None = Field(None, description="those of the reasoning included")
    reasoning_tokens: int | None = Field(None, description="None where they are not told apart")
    cost: float | None = Field(None, description="US dollars; None when the price is not known")
    seconds: float | None = Field(None, description="duration of the call that was answered")
    attempts: int = Field(1, description="calls made, the last one included")
    received_at: str = Field(description="ISO 8601, UTC")
    left_out: tuple[str, ...] = Field(
        (), description="parameters of the pool that the provider rejects, so that none was sent"
    )
    error: str | None = Field(None, description="why it failed, without secrets")


class LedgerStore(Protocol):
    """Where rollouts are kept beyond this process, by the digest of their key."""

    async def get_many(self, digests: list[str]) -> dict[str, dict[str, Any]]:
        """Return the rollouts kept under these digests, as JSON objects."""
        ...

    async def put(self, digest: str, rollout: dict[str, Any]) -> None:
        """Keep a rollout; the first one kept under a digest stays."""
        ...

    async def claim(self, digest: str) -> dict[str, Any] | bool:
        """Claim a rollout before it is asked for, until it is put or released.

        Returns the rollout if it is kept already, True if it is ours to ask for, and False while
        somebody else is asking.
        """
        ...

    async def release(self, digest: str) -> None:
        """Give up a claim of ours."""
        ...
