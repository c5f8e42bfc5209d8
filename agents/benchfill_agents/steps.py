"""The record of a job's finished steps: what makes a killed run continue where it was.

A step has a key that is the same whenever the same command runs again (for example
``gap-1/round-3/rewrite``). Its result is written before the next step begins; a step with a record
is never carried out again, its record is returned instead.
"""

from __future__ import annotations

from typing import Any, Protocol


class StepRecord(Protocol):
    """Results of finished steps of one job, as JSON objects, in the order they were written."""

    async def get(self, key: str) -> dict[str, Any] | None:
        """Return the result recorded for a step, or None."""
        ...

    async def put(self, key: str, result: dict[str, Any]) -> None:
        """Record a step's result, durably, before returning. The first record of a key stays."""
        ...

    async def keys(self) -> tuple[str, ...]:
        """Return the keys of all recorded steps, oldest first."""
        ...


class InMemorySteps:
    """A `StepRecord` that lives and ends with the process."""

    def __init__(self) -> None:
        self._results: dict[str, dict[str, Any]] = {}

    async def get(self, key: str) -> dict[str, Any] | None:
        """See `StepRecord.get`."""
        return self._results.get(key)

    async def put(self, key: str, result: dict[str, Any]) -> None:
        """See `StepRecord.put`."""
        self._results.setdefault(key, result)

    async def keys(self) -> tuple[str, ...]:
        """See `StepRecord.keys`."""
        return tuple(self._results)
