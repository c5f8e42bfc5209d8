"""The work of `benchfill merge`."""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchfill.errors import InputError

from ..report.diff_page import diff_methods, diff_page
from ..report.folder import json_bytes
from ..report.result import print_result, write_result
from ..report.text import one_line
from ..review.desk import ReviewDesk
from ..review.merging import candidates_for, merge
from ..review.provenance import PROVENANCE, Content, read_provenance
from ..settings import Settings
from ..store.benchmark_files import ITEMS, RESPONSES, VersionFiles, checked_files
from ..store.connection import connect
from .version_sides import VersionPaths, compared

if TYPE_CHECKING:
    from benchfill.onepl import Engine

    from ..report.diff_page import ShownDiff
    from ..report.result import ResultPage
    from ..review.merging import Merged, Merging
    from .output import CommandOutput

NAME = 60
_MOST_NAMED = 20


@dataclass(frozen=True)
class MergeOptions:
    """What the user asked for."""

    items: Path
    responses: Path
    out: Path
    job: str | None
    engine: Engine
    seed: int


def run_merge(options: MergeOptions, output: CommandOutput) -> None:
    """Merge, fit both versions, and write the new one with its report; all of it or nothing."""
    _refuse_occupied(options.out)
    old = VersionPaths(options.items.stem, options.items, options.responses)
    before = old.read()
    files = VersionFiles(
        options.items.read_bytes(),
        options.responses.read_bytes(),
        old.provenance.read_bytes() if before.provenance else None,
    )
    done = asyncio.run(_merged(files, options, Settings()))
    checked_files(done.files.items, done.files.responses)
    with tempfile.TemporaryDirectory(prefix="benchfill-") as folder:
        after = _written(Path(folder), done.files).read()
    names = (f"before, {options.items.name}", f"after, {options.out.name}")
    shown = compared((before, after), names, engine=options.engine, seed=options.seed)
    output.result = {
        **done.merging.model_dump(mode="json"),
        "diff": shown.diff.model_dump(mode="json"),
        "out": str(options.out),
    }
    page = _page(done, shown)
    envelope = output.envelope()
    write_result(options.out, envelope, output.document(), page, diff_methods(envelope, shown))
    output.summary = lambda console: print_result(console, page, options.out)


def _refuse_occupied(out: Path) -> None:
    try:
        occupied = out.exists() and (not out.is_dir() or any(out.iterdir()))
    except OSError as error:
        reason = (error.strerror or "unknown error").lower()
        raise InputError(f"cannot be looked into ({reason}).", source=str(out)) from None
    if occupied:
        raise InputError(
            "exists and is not empty; a version never changes, so name a new folder with --out.",
            source=str(out),
        )


async def _merged(files: VersionFiles, options: MergeOptions, settings: Settings) -> Merged:
    into = Content(
        items_sha256=hashlib.sha256(files.items).hexdigest(),
        responses_sha256=hashlib.sha256(files.responses).hexdigest(),
    )
    # versions that this one descends from, by what merging wrote beside it
    older = read_provenance(files.provenance or b"")
    contents = {into, *(one.made_for for one in older), *(one.merged_into for one in older)}
    url = settings.redis_url.get_secret_value() if settings.redis_url else None
    async with connect(url, settings.data_dir) as redis:
        desk = ReviewDesk(redis, needed=settings.reviews_needed)
        found = await candidates_for(desk, contents, job=options.job)
        if options.job is None:
            found.strangers.clear()  # those of all other benchmarks in the store
        return await merge(desk, files, into, found)


def _written(folder: Path, files: VersionFiles) -> VersionPaths:
    (folder / ITEMS).write_bytes(files.items)
    (folder / RESPONSES).write_bytes(files.responses)
    (folder / PROVENANCE).write_bytes(files.provenance or b"")
    return VersionPaths(folder.name, folder / ITEMS, folder / RESPONSES)


def _page(done: Merged, shown: ShownDiff) -> ResultPage:
    page = diff_page(shown, lead=_lead(done.merging))
    files = {
        ITEMS: done.files.items,
        RESPONSES: done.files.responses,
        PROVENANCE: done.files.provenance or b"",
        "diagnosis.json": json_bytes(shown.after.model_dump(mode="json"), indent=2),
    }
    left_out = [
        f"Left out: {one_line(one.item, NAME)}, since {one.why} ({one.candidate})."
        for one in done.merging.left_out[:_MOST_NAMED]
    ]
    if len(done.merging.left_out) > _MOST_NAMED:
        left_out.append(f"And {len(done.merging.left_out) - _MOST_NAMED} more; see report.json.")
    return replace(
        page,
        title="A new version of a benchmark",
        caveats=(*left_out, *page.caveats),
        files=files,
    )


def _lead(merging: Merging) -> tuple[str, ...]:
    entered = len(merging.entered)
    said = (
        f"{entered} approved {'item enters' if entered == 1 else 'items enter'}. Left out: "
        f"{merging.pending} pending, {merging.disagreements} in disagreement, "
        f"{merging.rejected} rejected, {len(merging.left_out)} approved that may not enter"
    )
    there = f"; {len(merging.already)} in it already." if merging.already else "."
    return (f"{said}{there}",)
