"""How the work on a job ended, and what an error means for the job."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import structlog
from redis.exceptions import RedisError, ResponseError

from benchfill.errors import (
    BenchFillError,
    BudgetExhaustedError,
    InputError,
    InterruptedRunError,
    ProviderError,
)
from benchfill_agents.rewriter.revise import NotRevisedError
from benchfill_agents.validator.answering import NoAnswerError

from ..store.jobs import LeaseLostError
from .leasing import HandedBackError
from .record import CaseSpec

if TYPE_CHECKING:
    from .record import Job, JobStatus

_log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class End:
    """How the work on a job ended."""

    status: JobStatus
    result: dict[str, Any] | None = None
    error: str = ""
    told: str = ""
    """The same for a reviewer who waits: without names of models, which would say who wrote."""


def meaning(error: Exception, job: Job) -> End | Literal["handed_back", "left"]:
    """Say what an error makes of a job: its end, or that somebody goes on with it."""
    causes = list(_flat(error))
    if any(isinstance(one, LeaseLostError) or _is_fenced(one) for one in causes):
        return "left"
    if any(isinstance(one, HandedBackError) for one in causes):
        return "handed_back"
    if any(isinstance(one, RedisError | InterruptedRunError) for one in causes):
        _log.warning("redis was lost", job=job.id, error=str(error))
        return "left"
    said = next((one for one in causes if isinstance(one, BenchFillError)), None)
    if said is not None:
        spent = isinstance(said, BudgetExhaustedError) and isinstance(job.spec, CaseSpec)
        status: JobStatus = "budget_exhausted" if spent else "failed"
        return End(status, error=_without_paths(said), told=_told(said))
    _log.error("job failed", job=job.id, exc_info=error)
    name = type(causes[0]).__name__
    bug = f"an error of BenchFill itself ({name}); its log says more."
    return End("failed", error=bug, told=bug)


def _told(error: BenchFillError) -> str:
    if isinstance(error, NotRevisedError | NoAnswerError):
        return error.message
    if isinstance(error, BudgetExhaustedError):
        return "the budget of this request is spent; what was measured is kept."
    if isinstance(error, ProviderError):
        return (
            "a model could not be reached, or its provider failed; ask again later."
            if error.retryable
            else "a model's provider refused the call; an operator finds out why in the log."
        )
    return "it cannot be done with this fill's pool or benchmark; an operator finds why in the log."


def _without_paths(error: BenchFillError) -> str:
    """Leave out of a sentence where this machine keeps its files."""
    if isinstance(error, InputError) and error.source is not None:
        return error.message.replace(error.source, Path(error.source).name)
    return error.message


def _flat(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [one for part in error.exceptions for one in _flat(part)]
    found = [error]
    if error.__cause__ is not None:
        found += _flat(error.__cause__)
    return found


def _is_fenced(error: BaseException) -> bool:
    return isinstance(error, ResponseError) and str(error).startswith("FENCED")
