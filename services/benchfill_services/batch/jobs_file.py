"""The file of jobs (YAML): what is common to all, and a list of fills."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from benchfill.errors import InputError

from ..fill_request import FillRequest
from ..jobs.record import FillBudget
from .lined_yaml import read_yaml

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .lined_yaml import LinedYaml, Place

MOST_JOBS = 1000
NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
_NEEDED = ("items", "responses", "pool")


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class JobSettings(_Strict):
    """A job, or the defaults of all; what a job leaves out is taken from the defaults."""

    items: str | None = Field(None, min_length=1, description="path, from the file's own folder")
    responses: str | None = Field(None, min_length=1, description="path")
    pool: str | None = Field(None, min_length=1, description="path of the pool file")
    gaps: int | None = Field(None, ge=1, le=100, description="how many to fill at most; 3")
    include_unresolved: bool | None = None
    at: tuple[Annotated[float, Field(ge=-1, le=2)], ...] | None = Field(
        None, max_length=100, strict=False, description="aim at these z instead"
    )
    rounds: int | None = Field(None, ge=1, le=100)
    rewriter: Literal["llm", "template"] | None = None
    writer: str | None = Field(None, min_length=1, max_length=256)
    judge: str | None = Field(None, min_length=1, max_length=256, description="or `none`")
    calibration: Literal["sequential", "fixed"] | None = None
    min_p_in_gap: float | None = Field(None, ge=0.5, le=0.999)
    anchors: bool | None = None
    seed: int | None = Field(None, ge=0, le=2**32 - 1)
    budget: FillBudget | None = Field(None, description="of this job alone")


class JobEntry(JobSettings):
    """A job of the list."""

    name: str | None = Field(
        None, pattern=NAME, description="of its folder; job-1, job-2, ... else"
    )


class JobsContent(_Strict):
    """The whole file."""

    at_once: int = Field(8, ge=1, le=64, description="jobs that may be at work at a time")
    budget: FillBudget = Field(FillBudget(), description="of all jobs together")
    defaults: JobSettings = JobSettings()
    jobs: tuple[JobEntry, ...] = Field(min_length=1, max_length=MOST_JOBS, strict=False)


@dataclass(frozen=True)
class NamedRequest:
    """A job: its name, and the fill that it asks for."""

    name: str
    request: FillRequest
    source: str = ""
    """The file of jobs."""
    line: int | None = None
    """Where the job begins in it."""


@dataclass(frozen=True)
class Jobs:
    """The jobs of a file."""

    jobs: tuple[NamedRequest, ...]
    at_once: int
    budget: FillBudget


def read_jobs(path: Path, out: Path) -> Jobs:
    """Read a file of jobs; each one's report goes into a folder of `out`. No other file is read.

    Raises
    ------
    InputError
        Names the line and the field at fault.
    """
    found = read_yaml(path)
    if found.data is None:
        raise InputError(
            "is empty; it needs `jobs:` with a list of fills.", source=str(path), line=1
        )
    if not isinstance(found.data, dict):
        raise InputError("must be a mapping with the key `jobs`, a list.", source=str(path), line=1)
    try:
        content = JobsContent.model_validate(found.data)
    except ValidationError as error:
        raise _told(error, found, path) from None
    names = [entry.name or f"job-{number}" for number, entry in enumerate(content.jobs, start=1)]
    _refuse_twins(names, found, path)
    jobs = tuple(
        NamedRequest(
            name,
            _request(content.defaults, entry, number, (found, path), out / name),
            str(path),
            found.line_of(("jobs", number)),
        )
        for number, (name, entry) in enumerate(zip(names, content.jobs, strict=True))
    )
    return Jobs(jobs, content.at_once, content.budget)


def _request(
    defaults: JobSettings, entry: JobEntry, number: int, where: tuple[LinedYaml, Path], out: Path
) -> FillRequest:
    found, path = where
    told = {**_said(defaults), **_said(entry)}
    for name in _NEEDED:
        if name not in told:
            raise InputError(
                f"is missing, and the defaults have no {name}.",
                source=str(path),
                line=found.line_of(("jobs", number)),
                field=f"jobs[{number}].{name}",
            )
    budget: FillBudget = told.pop("budget", FillBudget())
    told.pop("name", None)
    files = {name: path.parent / Path(told.pop(name)).expanduser() for name in _NEEDED}
    if "gaps" in told:
        told["max_gaps"] = told.pop("gaps")
    return FillRequest(
        items=files["items"],
        responses=files["responses"],
        pool=files["pool"],
        out=out,
        budget_rollouts=budget.rollouts,
        budget_tokens=budget.tokens,
        budget_usd=budget.usd,
        **told,
    )


def _said(settings: JobSettings) -> dict[str, Any]:
    """Return what is set."""
    fields = type(settings).model_fields
    return {name: value for name in fields if (value := getattr(settings, name)) is not None}


def _refuse_twins(names: Sequence[str], found: LinedYaml, path: Path) -> None:
    # folders that differ in case only are one on some machines
    name, count = Counter(one.lower() for one in names).most_common(1)[0]
    if count > 1:
        last = max(place for place, one in enumerate(names) if one.lower() == name)
        raise InputError(
            f"{count} jobs have the name {names[last]!r}; give each its own.",
            source=str(path),
            line=found.line_of(("jobs", last, "name")),
            field=f"jobs[{last}].name",
        )


def _told(error: ValidationError, found: LinedYaml, path: Path) -> InputError:
    first = error.errors(include_url=False, include_input=False)[0]
    place: Place = first["loc"]
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        message = "is no field of this file; take it out or correct its name"
    elif first["type"] == "missing":
        message = "is missing"
    elif first["type"] == "string_pattern_mismatch":
        message = "may have letters, digits, `.`, `_` and `-`, 64 at most, and begins with no mark"
    elif first["type"] == "tuple_type":
        message = "must be a list"
    elif first["type"] == "too_short":
        message = "has no job in it; a list of one or more is needed"
    elif first["type"] in {"model_type", "dict_type", "model_attributes_type"}:
        message = "must be a mapping (`key: value`)"
    return InputError(
        f"{message[0].lower()}{message[1:]}.",
        source=str(path),
        line=found.line_of(place),
        field=_words(place) or None,
    )


def _words(place: Place) -> str:
    """Write ``jobs[3].budget.usd``."""
    path = ""
    for part in place:
        path += f"[{part}]" if isinstance(part, int) else f"{'.' if path else ''}{part}"
    return path
