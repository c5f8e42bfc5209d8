"""What a reviewer may ask the agents for, and who takes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from .case import Case, Revision
    from .rules import Person


@dataclass(frozen=True)
class AgentTask:
    """What the agents of a case are asked for."""

    kind: Literal["revise", "answer"]
    case: Case
    revision: Revision
    text: str
    message: str
    """Key of the message in the thread."""


class Agents(Protocol):
    """Takes tasks for the agents, as jobs."""

    async def prepare(self, task: AgentTask, person: Person) -> str:
        """Put a task on record and return the id of its job; nobody works on it yet.

        Raises
        ------
        DailyBudgetError
            The person's key may not spend any more today.
        """
        ...

    async def start(self, job: str) -> None:
        """Let a worker take it up."""
        ...

    async def drop(self, job: str) -> None:
        """Take it back: it was not started."""
        ...
