"""A job's files: their hashes and so the job's id, what is kept of it, and its report."""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from benchfill.errors import InputError
from benchfill_agents.fill_report import FillReport
from benchfill_agents.pool.config import read_pool

from ..fill_job import read_inputs
from ..fill_judge import judge_of
from ..report.fill_report import write_fill_report
from ..store.jobs import RedisJobs
from ..store.transcript import RedisTranscript
from .outcome import end_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from redis.asyncio import Redis

    from ..fill_job import FillInputs
    from ..fill_request import FillRequest
    from ..settings import Settings
    from .jobs_file import NamedRequest

PAGE = "report.html"


@dataclass(frozen=True)
class KnownJob:
    """A job whose files can be read."""

    name: str
    request: FillRequest
    id: str
    inputs: dict[str, str]
    """SHA-256 of its files by path."""

    def envelope(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the JSON of its report begins with, given that of the batch."""
        own = {"command": "fill", "seed": self.request.seed, "inputs": self.inputs}
        return {**batch, **own, "job": self.id}


def known_job(named: NamedRequest, settings: Settings) -> KnownJob:
    """Settle who judges, and hash the files.

    Raises
    ------
    InputError
        A file cannot be read; names the line of the file of jobs, too.
    """
    try:
        judge = judge_of(named.request.judge, settings.judge, read_pool(named.request.pool))
        request = replace(named.request, judge=judge)
        paths = (request.items, request.responses, request.pool)
        inputs = {str(path): _sha256(path) for path in paths}
    except InputError as error:
        raise InputError(error.message, source=named.source, line=named.line) from None
    return KnownJob(named.name, request, request.job_id(inputs), inputs)


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        reason = (error.strerror or "unknown error").lower()
        raise InputError(f"cannot be read ({reason}).", source=str(path)) from None


async def kept_report(redis: Redis, job: str) -> FillReport | None:
    """Return the report of a job that an earlier run completed, or None."""
    kept = await RedisJobs(redis).result(job)
    if kept is None:
        return None
    report = FillReport.model_validate(kept)
    return report if end_of(report) == "completed" else None


class JobReports:
    """Writes the report folders of jobs, one after another: drawing takes seconds of a core."""

    def __init__(self, redis: Redis, settings: Settings, envelope: Mapping[str, Any]) -> None:
        self._redis, self._settings, self._envelope = redis, settings, envelope
        self._drawing = asyncio.Lock()

    async def write(
        self, job: KnownJob, report: FillReport, inputs: FillInputs | None = None
    ) -> None:
        """Write a job's report; its fit is made again where this machine does not keep it.

        Raises
        ------
        InputError
            The folder cannot be written.
        """
        async with self._drawing:
            data_dir = self._settings.data_dir
            if inputs is None:
                inputs = await asyncio.to_thread(read_inputs, job.request, data_dir)
            transcripts = {
                fill.gap: await RedisTranscript(self._redis, job.id, fill.gap).read()
                for fill in report.fills
            }
            await asyncio.to_thread(
                write_fill_report,
                job.request.out,
                job.envelope(self._envelope),
                inputs.diagnosis,
                report,
                transcripts,
            )

    async def is_there(self, job: KnownJob) -> bool:
        """Whether the folder holds the completed report of this very job."""
        return await asyncio.to_thread(_is_there, job)


def _is_there(job: KnownJob) -> bool:
    folder = job.request.out
    try:
        written = json.loads((folder / "report.json").read_bytes())
        fills = written["fills"]
        done = all(one["status"] not in {"interrupted", "budget_exhausted"} for one in fills)
        return bool((folder / PAGE).is_file() and written["job"] == job.id and done)
    except (OSError, ValueError, KeyError, TypeError):
        return False
