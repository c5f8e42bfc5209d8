"""One run of an external runner: items go in as JSON lines, answers come back as JSON lines."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from benchfill.errors import InputError

from .external_config import words_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .config import PoolModel

LONGEST_LINE = 4_000_000  # bytes
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")
_STDERR = 2_000
_GRACE = 2.0  # seconds between asking it to end and ending it


class Answer(BaseModel):
    """One line of a runner: a score, or an answer that is scored here, or why there is neither."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    id: str = Field(description="of the item")
    sample: int = Field(0, ge=0)
    score: float | None = Field(None, description="1 or true: right; 0 or false: wrong")
    answer: str | None = Field(None, description="scored in the item's domain without a score")
    prompt_tokens: int | None = Field(None, ge=0)
    completion_tokens: int | None = Field(None, ge=0)
    cost: float | None = Field(None, ge=0, description="US dollars")
    seconds: float | None = Field(None, ge=0)
    error: str | None = Field(None, description="why it was not answered; it is asked again")

    @field_validator("score")
    @classmethod
    def _right_or_wrong(cls, value: float | None) -> float | None:
        if value is None or value in (0, 1):
            return value
        raise ValueError(f"a score is 0 or 1, not {value:g}")

    @model_validator(mode="after")
    def _says_something(self) -> Answer:
        if self.score is None and self.answer is None and not self.error:
            raise ValueError("it has neither score nor answer nor error")
        return self


@dataclass
class Run:
    """What came of one run of the process, besides the answers."""

    problems: list[str] = field(default_factory=list)
    """Lines that were set aside, a clause each."""
    ending: str = "ended without answering all"
    """How it ended, to go after the runner's name."""


async def run_process(
    model: PoolModel,
    lines: list[dict[str, Any]],
    on_answer: Callable[[Answer], Awaitable[str | None]],
    stopping: asyncio.Event,
) -> Run:
    """Give items to a process, and hand on each answer the moment it comes.

    `on_answer` may say why it cannot use one. Ends the process, and all that it started, when it
    takes longer than the member's `timeout` for each item, or when `stopping` is set.

    Raises InputError when it cannot be started.
    """
    process = await _started(model)
    run = Run()
    stderr = bytearray()
    tasks = [
        asyncio.create_task(_write(process, lines)),
        asyncio.create_task(_keep_end(process, stderr)),
    ]
    stopped = asyncio.create_task(stopping.wait())
    reading = asyncio.create_task(_read(process, run, on_answer))
    try:
        seconds = model.timeout * len(lines)
        done, _ = await asyncio.wait(
            (reading, stopped), timeout=seconds, return_when=asyncio.FIRST_COMPLETED
        )
        if reading in done:
            reading.result()
            await _exited(process)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(tasks[1]), _GRACE)
            run.ending = _ending(process.returncode, stderr)
        elif stopped in done:
            run.ending = "was ended, as the run stops"
        else:
            run.ending = f"did not end within {seconds:g} seconds{_said(stderr)}"
    finally:
        await asyncio.shield(_end(process, [reading, stopped, *tasks]))
    return run


def environment(model: PoolModel) -> dict[str, str]:
    """Return what a runner is given of our environment: what is named, and no key beside.

    Raises InputError that names a variable which is not set.
    """
    for name in model.runner_env:
        if name not in os.environ:
            raise InputError(
                f"runner {model.name!r} is to be given the environment variable {name}, which is "
                "not set; set it, or correct runner_env."
            )
    names = (*_PASSED_ON, *model.runner_env)
    return {name: os.environ[name] for name in names if name in os.environ}


async def _started(model: PoolModel) -> asyncio.subprocess.Process:
    words = words_of(model.runner or "")
    try:
        return await asyncio.create_subprocess_exec(
            *words,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=environment(model),
            start_new_session=True,
            limit=LONGEST_LINE,
        )
    except OSError as error:
        raise InputError(
            f"runner {model.name!r} cannot be started ({words[0]}: {error.strerror}); correct the "
            "command."
        ) from None


async def _write(process: asyncio.subprocess.Process, lines: list[dict[str, Any]]) -> None:
    if process.stdin is None:
        return
    with contextlib.suppress(ConnectionError):  # it has ended, or reads no more
        for line in lines:
            process.stdin.write(json.dumps(line).encode() + b"\n")
            await process.stdin.drain()
    process.stdin.close()
    with contextlib.suppress(ConnectionError):
        await process.stdin.wait_closed()


async def _keep_end(process: asyncio.subprocess.Process, kept: bytearray) -> None:
    while process.stderr is not None and (chunk := await process.stderr.read(65_536)):
        kept += chunk
        del kept[:-_STDERR]


async def _read(
    process: asyncio.subprocess.Process,
    run: Run,
    on_answer: Callable[[Answer], Awaitable[str | None]],
) -> None:
    number = 0
    while process.stdout is not None:
        number += 1
        try:
            line = await process.stdout.readline()
        except ValueError:
            run.problems.append(f"line {number} is longer than {LONGEST_LINE // 1_000_000} MB")
            return
        if not line:
            return
        if not line.strip():
            continue
        answer, problem = _parse(line)
        if answer is not None:
            problem = await on_answer(answer)
        if problem is not None:
            run.problems.append(f"line {number}: {problem}")


def _parse(line: bytes) -> tuple[Answer | None, str | None]:
    try:
        return Answer.model_validate_json(line), None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        if first["type"] == "json_invalid":
            shown = line[:60].decode(errors="replace").strip()
            return None, f"{shown!r} is no JSON object"
        message = first["msg"].removeprefix("Value error, ")
        place = ".".join(str(part) for part in first["loc"])
        return None, f"{place}: {message}" if place else message


def _ending(code: int | None, stderr: bytearray) -> str:
    if code is None:
        return "closed its output and did not end"
    if code == 0:
        return "ended without answering all"
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}{_said(stderr)}"
    return f"ended with exit code {code}{_said(stderr)}"


def _said(stderr: bytearray) -> str:
    """Return the last line of its standard error, shortened."""
    lines = stderr.decode(errors="replace").strip().splitlines()
    return f" ({lines[-1].strip()[:160]})" if lines else ""


async def _exited(process: asyncio.subprocess.Process) -> None:
    """Wait for a process that has closed its output; it has nothing more to say."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(asyncio.shield(process.wait()), _GRACE)


async def _end(process: asyncio.subprocess.Process, tasks: list[asyncio.Task[Any]]) -> None:
    """End the process with all that it started, and what we had waiting for it."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        await _exited(process)
    if process.stdin is not None:
        process.stdin.close()
