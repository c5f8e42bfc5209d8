"""What every command shares: one JSON object or a readable summary, errors, exit codes.

With ``--json`` stdout holds one JSON object and nothing else; whatever else is said goes to stderr.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json as json_module
import math
import traceback
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import typer

from benchfill.errors import BenchFillError, InputError, InterruptedRunError

from ..observability.redaction import Redactor
from ..settings import Settings, environment_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from rich.console import Console

SCHEMA_VERSION = 1
INTERRUPTED = InterruptedRunError.exit_code


@dataclass
class CommandOutput:
    """What a command has to say when it ends."""

    command: str
    seed: int | None
    inputs: dict[str, str]
    json: bool
    result: dict[str, Any] = field(default_factory=dict)
    exit_code: int = 0
    summary: Callable[[Console], None] | None = None

    def envelope(self) -> dict[str, Any]:
        """Return the fields that every JSON of BenchFill carries."""
        return {
            "schema_version": SCHEMA_VERSION,
            "benchfill_version": importlib.metadata.version("benchfill"),
            "command": self.command,
            "seed": self.seed,
            "inputs": self.inputs,
        }

    def document(self) -> dict[str, Any]:
        """Return envelope and result as one JSON-able object; NaN and infinity become null."""
        whole: dict[str, Any] = _finite(self.envelope() | self.result)
        return whole


@contextlib.contextmanager
def command_output(
    command: str, *, json: bool, seed: int | None, inputs: Sequence[Path]
) -> Iterator[CommandOutput]:
    """Run a command's body: print its result at the end, or its error in one sentence."""
    output = CommandOutput(command, seed, {}, json)
    try:
        output.inputs = {str(path): sha256_of(path) for path in inputs}
        yield output
    except KeyboardInterrupt:
        _fail(output, InterruptedRunError("the same command goes on where it was."))
    except BenchFillError as error:
        _fail(output, error)
    except typer.Exit:
        raise
    except Exception as error:
        _fail(output, _unexpected(error))
    _print(output)
    if output.exit_code:
        raise typer.Exit(output.exit_code)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 (hex) of a file."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        reason = (error.strerror or "unknown error").lower()
        raise InputError(f"cannot be read ({reason}).", source=str(path)) from None


def _print(output: CommandOutput) -> None:
    if output.json:
        typer.echo(json_module.dumps(output.document(), ensure_ascii=False, allow_nan=False))
    elif output.summary is not None:
        from rich.console import Console

        output.summary(Console())


def _fail(output: CommandOutput, error: BenchFillError) -> None:
    if output.json:
        # what was measured before the error stays in the object
        output.result["error"] = {"type": type(error).__name__, "message": error.message}
    typer.echo(f"{'Interrupted' if error.exit_code == INTERRUPTED else 'Error'}: {error}", err=True)
    output.exit_code = error.exit_code
    output.summary = None


def _unexpected(error: Exception) -> BenchFillError:
    """Keep the traceback in a file: it is for whoever mends the bug, not for the terminal."""
    name = f"crash-{datetime.now(UTC):%Y%m%dT%H%M%S}.log"
    path = Settings().data_dir / name
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        said = "".join(traceback.format_exception(error))
        # the file is meant to be passed on
        path.write_text(Redactor(environment_secrets()).text(said), encoding="utf-8")
    return BenchFillError(
        f"something went wrong inside BenchFill ({type(error).__name__}); this is a bug, "
        f"please report it with {path}."
    )


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
