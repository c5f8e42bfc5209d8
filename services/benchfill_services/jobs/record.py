"""What a job is: what was asked for, how far it is, and what came of it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

JobKind = Literal["fill", "diagnosis", "revision", "answer"]
JobStatus = Literal["queued", "running", "completed", "budget_exhausted", "cancelled", "failed"]
Lane = Literal["small", "large"]

RESTING: frozenset[JobStatus] = frozenset({"completed", "budget_exhausted", "cancelled", "failed"})
"""Statuses in which nobody works on the job and nobody will unless it is resumed."""

SMALL_ROLLOUTS = 2_000
"""A fill that may use no more rollouts than this goes past larger ones."""


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class FillBudget(_Strict):
    """What a fill may use at most; None is no bound. It can be raised, and the fill resumed."""

    rollouts: int | None = Field(None, ge=0, le=10_000_000, description="answers of the pool")
    tokens: int | None = Field(None, ge=0, description="prompt and completion tokens, all models")
    usd: float | None = Field(
        None, ge=0, allow_inf_nan=False, description="US dollars, as litellm reckons them"
    )


class FillSpec(_Strict):
    """A fill of one version of a benchmark by one pool; see the options of `benchfill fill`."""

    benchmark: str = Field(min_length=1, max_length=128)
    version: int = Field(ge=1)
    pool: str = Field(min_length=1, max_length=128, description="id of one of the service's pools")
    max_gaps: int = Field(3, ge=1, le=100)
    include_unresolved: bool = False
    at: tuple[Annotated[float, Field(ge=-1, le=2)], ...] = Field(
        (), max_length=100, strict=False, description="aim at these z instead of the widest gaps"
    )
    rounds: int = Field(8, ge=1, le=100, description="rounds a gap at most")
    rewriter: Literal["llm", "template"] = "llm"
    writer: str | None = Field(None, max_length=256, description="pool model that writes children")
    judge: str | None = Field(
        None,
        max_length=256,
        description="pool model, or one of the pool's `judges`, that solves children blind and "
        "judges them; `none`: nobody; null: BENCHFILL_JUDGE, if the pool has it",
    )
    calibration: Literal["sequential", "fixed"] = "sequential"
    min_p_in_gap: float = Field(0.9, ge=0.5, le=0.999)
    anchors: bool = True
    seed: int = Field(0, ge=0, le=2**32 - 1)
    budget: FillBudget = FillBudget()

    @property
    def lane(self) -> Lane:
        """Which queue the fill waits in."""
        rollouts = self.budget.rollouts
        return "small" if rollouts is not None and rollouts <= SMALL_ROLLOUTS else "large"


class DiagnosisSpec(_Strict):
    """A diagnosis of one version of a benchmark."""

    benchmark: str = Field(min_length=1, max_length=128)
    version: int = Field(ge=1)
    engine: Literal["mcmc", "map"] = "mcmc"
    seed: int = Field(0, ge=0, le=2**32 - 1)

    @property
    def lane(self) -> Lane:
        """Which queue the diagnosis waits in."""
        return "small"


class CaseSpec(_Strict):
    """What a reviewer asks the agents of a case for: a revision, or an answer to a question."""

    benchmark: str = Field(min_length=1, max_length=128)
    version: int = Field(ge=1)
    fill: str = Field(pattern="^[0-9a-f]{32}$", description="id of the fill's job")
    candidate: str = Field(min_length=1, max_length=128)
    revision: int = Field(ge=1, description="number of the revision that was looked at")
    text: str = Field(min_length=1, description="the request or the question; untrusted")
    message: str = Field(min_length=1, max_length=128, description="its key in the thread")
    requested_by: str = Field(description="id of the reviewer's API key, or `anonymous`")
    budget: FillBudget = FillBudget()

    @property
    def lane(self) -> Lane:
        """Which queue it waits in: somebody sits before a page and waits."""
        return "small"


class Job(BaseModel):
    """A job's record. Times are ISO 8601, UTC."""

    model_config = ConfigDict(frozen=True)

    id: str = Field(pattern="^[0-9a-f]{32}$")
    kind: JobKind
    spec: FillSpec | DiagnosisSpec | CaseSpec
    status: JobStatus = "queued"
    created_at: str
    created_by: str = Field(description="id of the API key, or `anonymous`")
    started_at: str | None = Field(None, description="when a worker first took it up")
    finished_at: str | None = None
    updated_at: str
    cancel_requested: bool = False
    attempts: int = Field(0, description="how often a worker took it up")
    gap: str | None = Field(None, description="the gap that is worked on")
    round: int | None = Field(None, description="its round")
    error: str | None = Field(None, description="why it failed, one sentence")
    in_flight_lost: int = Field(
        0, description="calls that were out when a worker was killed: paid for, perhaps"
    )
