"""The work of `benchfill export`."""

from __future__ import annotations

import shutil
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from rich.text import Text

import benchfill as bf
from benchfill.errors import InputError
from benchfill.exporting import Benchmark, check_items, export_items, slug
from benchfill.exporting.registry import export_named

from ..report.folder import write_folder
from ..report.words import count_of
from ..review.provenance import read_provenance
from .fitting import FitOptions, fit_matrix

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from benchfill.onepl import Engine

    from .output import CommandOutput


@dataclass(frozen=True)
class ExportRequest:
    """What the user asked for."""

    items: Path
    responses: Path | None
    provenance: Path | None
    to: str
    out: Path
    name: str | None
    engine: Engine
    seed: int


def run_export(request: ExportRequest, output: CommandOutput) -> None:
    """Read and check everything, and only then write the folder."""
    wanted = export_named(request.to)
    _refuse_occupied(request.out)
    benchmark = _benchmark(request)
    files = export_items(benchmark, request.to, source=str(request.items))
    _write_new(request.out, files)
    ids = {item.id for item in benchmark.items}
    output.result = {
        "to": wanted.name,
        "name": benchmark.name,
        "out": str(request.out),
        "items": len(ids),
        "multiple_choice": sum(bool(item.choices) for item in benchmark.items),
        "with_provenance": len(ids & set(benchmark.provenance)),
        "with_difficulty": len(ids & set(benchmark.difficulties)),
        "files": sorted(files),
        "run": wanted.commands(benchmark),
    }
    output.summary = lambda console: _print(console, output.result)


def _benchmark(request: ExportRequest) -> Benchmark:
    name = slug(request.items.stem if request.name is None else request.name)
    items = bf.read_items(request.items)
    # before minutes of fitting
    check_items(items, request.to, source=str(request.items))
    provenance = _provenance(request, items)
    if request.responses is None:
        return Benchmark(name, items, provenance)
    matrix = bf.read_responses(request.responses)
    if not {item.id for item in items} & set(matrix.items):
        raise InputError(
            f"holds none of the items of {request.items}; the ids must be the same.",
            source=str(request.responses),
        )
    options = FitOptions(request.responses, None, None, request.engine, request.seed)
    return Benchmark(name, items, provenance, bf.diagnose(fit_matrix(matrix, options)))


def _provenance(
    request: ExportRequest, items: tuple[bf.Item, ...]
) -> Mapping[str, Mapping[str, Any]]:
    if request.provenance is None:
        return {}
    hashes = {item.id: item.content_hash for item in items}
    try:
        content = request.provenance.read_bytes()
    except OSError as error:
        reason = (error.strerror or "unknown error").lower()
        raise InputError(f"cannot be read ({reason}).", source=str(request.provenance)) from None
    found = {}
    for one in read_provenance(content, source=str(request.provenance)):
        if one.id in hashes and hashes[one.id] != one.content_hash:
            raise InputError(
                f"tells of another wording of the item {one.id[:60]!r} than {request.items}; give "
                "both files of one version.",
                source=str(request.provenance),
            )
        found[one.id] = one.model_dump(mode="json")
    return found


def _refuse_occupied(out: Path) -> None:
    try:
        occupied = out.exists() and (not out.is_dir() or any(out.iterdir()))
    except OSError as error:
        reason = (error.strerror or "unknown error").lower()
        raise InputError(f"cannot be looked into ({reason}).", source=str(out)) from None
    if occupied:
        raise InputError("exists and is not empty; name a new folder with --out.", source=str(out))


def _write_new(out: Path, files: Mapping[str, bytes]) -> None:
    """Write the folder beside its place and move it there: it is whole, or it is not."""
    folders: dict[str, dict[str, bytes]] = defaultdict(dict)
    for path, content in files.items():
        folders[str(PurePosixPath(path).parent)][PurePosixPath(path).name] = content
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as beside:
            made = Path(beside) / "new"
            for folder, inside in folders.items():
                write_folder(made / folder, inside)
            if out.is_dir():
                out.rmdir()
            shutil.move(made, out)
    except OSError as error:
        reason = (error.strerror or "unknown error").lower()
        raise InputError(
            f"cannot be written ({reason}); name another folder with --out.", source=str(out)
        ) from None


def _print(console: Console, result: Mapping[str, Any]) -> None:
    known = f"{result['with_provenance']:,} with provenance, {result['with_difficulty']:,} with "
    console.print(Text(f"{count_of(result['items'], 'item')}, {known}a measured difficulty."))
    console.print()
    for file in result["files"]:
        # on one line however long it is, so that it can be clicked and copied
        console.print(Text(f"written  {Path(result['out']) / file}"), soft_wrap=True)
    for command in result["run"]:
        console.print(Text(f"run there  {command}"), soft_wrap=True)
