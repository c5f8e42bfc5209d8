"""What is reviewed: a candidate, its revisions, and what was said and decided about them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from benchfill.items import Item
from benchfill.textbook.chapter import SourceSpan
from benchfill.textbook.question import Letter
from benchfill.textbook.solution_graph import SolutionGraph
from benchfill_agents.calibrator import Calibration
from benchfill_agents.target import FillTarget

VerdictKind = Literal["approve", "reject", "request_change"]
Reason = Literal[
    "wrong_answer",
    "ambiguous",
    "not_self_contained",
    "trivial_rewrite",
    "off_topic",
    "formatting",
    "other",
]
GAP = r"(?:gap|item)-[0-9]{1,4}"
"""A gap of a fill, or an item that a generation wrote: both have a transcript of their own."""
CANDIDATE = rf"^[0-9a-f]{{32}}\.{GAP}\.[0-9a-f]{{16}}$"
"""Job, gap and item: the form of a candidate's id."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class Revision(_Frozen):
    """One wording of a candidate. Revision 1 is what the fill chose. All text is untrusted."""

    number: int = Field(ge=1)
    item: Item
    calibration: Calibration | None = Field(None, description="None: it was not measured")
    findings: tuple[str, ...] = Field((), description="what the Validator found wrong")
    rewriter: str | None = Field(None, description="hidden from reviewers")
    what_changed: str = ""
    rationale: str = ""
    requested_by: str | None = Field(None, description="id of the reviewer who asked for it")
    at: str = Field(description="ISO 8601, UTC")
    prompts: dict[str, str] = Field({}, description="SHA-256 of each template, by name")


class OptionError(_Frozen):
    """The named error behind a wrong option."""

    option: Letter
    name: str
    node: str = Field(description="node of the solution graph at which it is made")
    description: str


class TextbookOrigin(_Frozen):
    """How an item from a textbook was made. All text is untrusted."""

    competency: str
    bloom: str
    difficulty: str = Field(description="as it was asked for, not measured")
    key: Letter
    graph: SolutionGraph
    errors: tuple[OptionError, ...]
    solution: str = Field("", description="as the Verifier solved it")
    spans: tuple[SourceSpan, ...] = Field((), description="where the source says what it rests on")
    attribution: str | None = None
    licence: str | None = None


class Case(_Frozen):
    """A candidate under review, with all that a reviewer needs beside the transcript."""

    id: str = Field(pattern=CANDIDATE)
    job: str
    gap: str
    benchmark: str = Field(description="id of the benchmark, or name of the items file")
    version: int | None = Field(None, description="None for a fill of the command line")
    items_sha256: str
    responses_sha256: str
    target: FillTarget
    parent: Item | None
    parent_z: float | None = None
    first: Revision
    textbook: TextbookOrigin | None = Field(None, description="of an item from a textbook")
    writer: str | None = Field(
        None, description="pool model that can be asked; None when no agent can. Hidden."
    )
    matrix_names: dict[str, str] = Field(
        {}, description="pool models' names in the responses; one that is missing is the same there"
    )
    seed: int | None = Field(None, description="seed of the fill")
    benchfill_version: str = Field("", description="of the fill")
    opened_at: str


EventKind = Literal["verdict", "undo", "adjudication", "revision", "revision_failed"]


class Event(_Frozen):
    """A line of the audit trail; lines are only ever added."""

    kind: EventKind
    at: str
    by: str = Field(description="id of the API key, `anonymous`, or `BenchFill`")
    revision: int = Field(ge=1, description="the revision that was looked at")
    verdict: VerdictKind | None = None
    reasons: tuple[Reason, ...] = ()
    text: str = ""
    seconds: float | None = Field(None, description="from opening the page to the verdict")
    job: str | None = Field(None, description="the rewriting that a change request started")
    made: Revision | None = Field(None, description="the new revision")


AuthorKind = Literal["agent", "reviewer"]
MessageKind = Literal[
    "question", "answer", "request", "rewriting", "validation", "calibration", "failure"
]


class ThreadMessage(_Frozen):
    """What reviewers and agents said about a candidate after the fill. Untrusted text."""

    id: str = Field("", description="place in the stream")
    author: str = Field(description="name of the agent, or id of the reviewer's key")
    author_kind: AuthorKind
    kind: MessageKind
    revision: int = Field(ge=1, description="the revision that it is about")
    text: str
    at: str
    job: str | None = Field(None, description="the job in which an agent said it")
    private_to: str | None = Field(
        None, description="until the case is decided only this reviewer sees it"
    )
