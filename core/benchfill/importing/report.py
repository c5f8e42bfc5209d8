"""What an import did: every row accounted for, every choice named with the option behind it."""

from __future__ import annotations

from pydantic import BaseModel, Field


class ChoiceMade(BaseModel):
    """One thing that a format leaves open, and how it was settled."""

    option: str = Field(description="the option that changes it")
    value: str
    by_default: bool = Field(description="whether nobody asked for it")
    among: tuple[str, ...] = Field((), description="what there was to choose from, if listed")
    because: str = Field("", description="why this is the default")


class PartialScores(BaseModel):
    """Scores between nothing and everything, which a matrix of counts cannot hold."""

    count: int = 0
    mean: float = Field(0.0, description="their mean")


class TotalCheck(BaseModel):
    """An aggregate that the file itself states, beside the same one of what was imported."""

    name: str
    stated: float
    imported: float | None = Field(None, description="mean score of the rows imported from it")
    same: bool | None = Field(None, description="whether they agree to 1e-6; null without rows")


class FileReport(BaseModel):
    """What was done with one file."""

    file: str
    format: str
    reason: str = Field(description="what it was recognised by")
    sha256: str = ""
    rows_read: int = 0
    rows_used: int = Field(0, description="rows whose score counts")
    dropped: dict[str, int] = Field({}, description="rows left out, by reason")
    missing: dict[str, int] = Field({}, description="rows without a score, by reason")
    duplicates: int = Field(0, description="rows that say again what was said of model and item")
    superseded: int = Field(0, description="rows told twice, of which the later counts")
    partial: PartialScores = PartialScores()
    accuracy: float | None = Field(None, description="right answers per rollout of its scored rows")
    mean_score: float | None = Field(None, description="before the threshold")
    totals: list[TotalCheck] = []
    choices: list[ChoiceMade] = []
    notes: list[str] = []


class SkippedFile(BaseModel):
    """A file that was not read, and why."""

    file: str
    why: str


class Suspicion(BaseModel):
    """Two subjects that may be one."""

    models: tuple[str, str]
    common: int = Field(description="items that both answered")
    agreement: float = Field(description="share of those with the same result")
    why: str


class ImportReport(BaseModel):
    """What an import did."""

    models: int
    items: int
    rollouts: int
    missing_cells: int
    accuracy: float
    rows_read: int
    rows_used: int
    items_with_question: int
    items_without_answer: int
    items_without_response: int
    models_without_response: tuple[str, ...] = ()
    repeated_cells: int = Field(0, description="cells with more than one rollout")
    merged_items: int = Field(0, description="ids that content matching put onto another id")
    same_content: int = Field(0, description="items with the same text under different ids")
    conflicting_items: int = Field(0, description="ids whose question differs between files")
    conflicts: tuple[str, ...] = Field((), description="some of them")
    aliases_used: dict[str, str] = {}
    choices: list[ChoiceMade] = Field([], description="those that concern all files")
    suspicions: list[Suspicion] = []
    warnings: list[str] = []
    files: list[FileReport] = []
    skipped: list[SkippedFile] = []
