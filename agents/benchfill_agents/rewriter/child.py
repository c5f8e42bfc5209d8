"""What a Rewriter is asked for and what it gives."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Protocol

from pydantic import BaseModel, ConfigDict, Field

from benchfill.items import Item

from ..memory import MemoryEntry

if TYPE_CHECKING:
    import numpy as np


class Child(BaseModel):
    """A new item that was written from a parent; its difficulty is not measured yet."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    item: Item
    parent_id: str = Field(description="id of the item it was rewritten from")
    target_z: float = Field(description="difficulty that was aimed at, on the frozen z scale")
    rewriter: str = Field(description="which rewriter wrote it")
    what_changed: str = Field(description="what differs from the parent")
    rationale: str = Field(description="why that should give the target difficulty")


class Rejection(BaseModel):
    """A child that the Validator turned down."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str
    answer: str
    reasons: tuple[str, ...] = Field(min_length=1)


class RewriteTask(BaseModel):
    """One parent, one target, and what is known around it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    target_z: float = Field(description="difficulty to aim at, on the frozen z scale")
    parent: MemoryEntry
    references_below: tuple[MemoryEntry, ...] = Field((), description="easier, nearest first")
    references_above: tuple[MemoryEntry, ...] = Field((), description="harder, nearest first")
    count: int = Field(4, ge=1, le=64, description="children wanted")
    rejected: tuple[Rejection, ...] = Field((), description="earlier children, latest last")


class RevisionTask(BaseModel):
    """A change that a reviewer asks for, and what is known around the item. All text is untrusted.

    Entries of the item itself and of its earlier wordings belong into neither list of references.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    target_z: float = Field(description="difficulty to aim at, on the frozen z scale")
    item: Item = Field(description="the wording that the request is about")
    item_z: float | None = Field(None, description="its measured difficulty")
    parent: Item | None = None
    parent_z: float | None = None
    references_below: tuple[MemoryEntry, ...] = Field((), description="easier, nearest first")
    references_above: tuple[MemoryEntry, ...] = Field((), description="harder, nearest first")
    request: str = Field(min_length=1)
    rejected: tuple[Rejection, ...] = Field((), description="earlier attempts, latest last")

    @property
    def parent_id(self) -> str:
        """Id under which the revision descends: that of the parent, else of the item."""
        return self.parent.id if self.parent is not None else self.item.id


class Shortfall(BaseModel):
    """Fewer children than were asked for, and why."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    parent_id: str
    wanted: int
    delivered: int
    reasons: tuple[str, ...]


class Rewriter(Protocol):
    """Writes children. The same task and the same state of `rng` ask for the same children."""

    async def rewrite(self, task: RewriteTask, rng: np.random.Generator) -> tuple[Child, ...]:
        """Return up to `task.count` children, no two alike.

        Raises
        ------
            ProviderError: a model that it needs could not be reached.
        """
        ...


def child_id(parent_id: str, question: str, answer: str) -> str:
    """Return ``PARENT~HASH``, the same for the same child whenever it is written."""
    content = json.dumps([question, answer], ensure_ascii=False).encode("utf-8", "surrogatepass")
    return f"{parent_id}~{hashlib.sha256(content).hexdigest()[:10]}"
