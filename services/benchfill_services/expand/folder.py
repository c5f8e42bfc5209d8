"""The folder of an expansion: what was asked for, and a folder for each round.

A round's folder gets ``fill.json`` when its fill has ended, the files of the new version when items
enter, and ``round.json`` last: a round is over when that is there, and never changes again.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout
from pydantic import ValidationError

from benchfill.errors import InputError
from benchfill_agents.fill_report import FillReport

from ..report.folder import json_bytes, write_folder
from ..store.benchmark_files import VersionFiles
from .record import Round

if TYPE_CHECKING:
    from pathlib import Path

    from ..review.provenance import Content

ABOUT, FILL, ROUND = "expansion.json", "fill.json", "round.json"


@dataclass(frozen=True)
class FileNames:
    """What the files of versions are called: those of unreviewed items say so."""

    items: str
    responses: str
    provenance: str

    @classmethod
    def of(cls, *, unreviewed: bool) -> FileNames:
        """Return the names."""
        mark = "unreviewed." if unreviewed else ""
        return cls(f"items.{mark}jsonl", f"responses.{mark}csv", f"provenance.{mark}jsonl")


@dataclass(frozen=True)
class VersionPlace:
    """Where a version's files stand."""

    items: Path
    responses: Path
    provenance: Path | None

    def read(self) -> VersionFiles:
        """Read the files."""
        provenance = self.provenance
        return VersionFiles(
            self.items.read_bytes(),
            self.responses.read_bytes(),
            provenance.read_bytes() if provenance is not None and provenance.is_file() else None,
        )


class ExpansionFolder:
    """The folder of one expansion; a context manager that keeps others out."""

    def __init__(self, out: Path, given: VersionPlace, *, unreviewed: bool) -> None:
        self.out, self.given = out, given
        self.unreviewed = unreviewed
        self.names = FileNames.of(unreviewed=unreviewed)
        self._lock = FileLock(out / ".lock", timeout=0)

    def __enter__(self) -> ExpansionFolder:
        write_folder(self.out, {})
        try:
            self._lock.acquire()
        except Timeout:
            raise InputError(
                "another expansion is at work in it; wait for its end.", source=str(self.out)
            ) from None
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def begin(self, content: Content, head: dict[str, Any]) -> None:
        """Note what is expanded, and how.

        Raises
        ------
        InputError
            The folder belongs to another expansion.
        """
        about = {**content.model_dump(), "unreviewed": self.unreviewed}
        path = self.out / ABOUT
        if path.exists():
            kept = self._json(path)
            if {name: kept.get(name) for name in about} != about:
                what = (
                    "other files"
                    if kept.get("unreviewed") == self.unreviewed
                    else ("the other way of accepting items (with or without --auto-accept)")
                )
                raise InputError(
                    f"holds an expansion with {what}; name another folder with --out.",
                    source=str(self.out),
                )
            return
        write_folder(self.out, {ABOUT: json_bytes(head | about, indent=2)})

    def rounds(self) -> list[Round]:
        """Return the rounds that are over, in their order."""
        found: list[Round] = []
        while (path := self._of(len(found) + 1) / ROUND).is_file():
            try:
                found.append(Round.model_validate(self._json(path)))
            except ValidationError:
                raise self._damaged(path) from None
        return found

    def version(self, rounds: list[Round]) -> VersionPlace:
        """Return the newest version: of the last round in which items entered."""
        entered = [one.number for one in rounds if one.entered]
        if not entered:
            return self.given
        folder = self._of(entered[-1])
        return VersionPlace(
            folder / self.names.items,
            folder / self.names.responses,
            folder / self.names.provenance,
        )

    def kept_fill(self, number: int, job: str) -> FillReport | None:
        """Return the report of a round's fill, if it has ended."""
        path = self._of(number) / FILL
        if not path.is_file():
            return None
        kept = self._json(path)
        if kept.get("job") != job:
            return None
        try:
            return FillReport.model_validate(kept["report"])
        except (KeyError, ValidationError):
            raise self._damaged(path) from None

    def keep_fill(self, number: int, job: str, report: FillReport) -> None:
        """Keep the report of a round's fill."""
        content = {
            "job": job,
            "unreviewed": self.unreviewed,
            "report": report.model_dump(mode="json"),
        }
        write_folder(self._of(number), {FILL: json_bytes(content)})

    def keep_round(self, done: Round, files: VersionFiles | None) -> None:
        """Keep what became of a round, and the new version if there is one."""
        folder = self._of(done.number)
        if files is not None:
            write_folder(
                folder,
                {
                    self.names.items: files.items,
                    self.names.responses: files.responses,
                    self.names.provenance: files.provenance or b"",
                },
            )
        content = done.model_dump(mode="json") | {"unreviewed": self.unreviewed}
        write_folder(folder, {ROUND: json_bytes(content, indent=2)})

    def show_version(self, rounds: list[Round]) -> VersionPlace | None:
        """Copy the newest version to the top of the folder; None while there is none."""
        version = self.version(rounds)
        if version is self.given:
            return None
        shown = VersionPlace(
            self.out / self.names.items,
            self.out / self.names.responses,
            self.out / self.names.provenance,
        )
        shutil.copyfile(version.items, shown.items)
        shutil.copyfile(version.responses, shown.responses)
        if version.provenance is not None and shown.provenance is not None:
            shutil.copyfile(version.provenance, shown.provenance)
        return shown

    def _of(self, number: int) -> Path:
        return self.out / "rounds" / f"{number:02d}"

    def _json(self, path: Path) -> dict[str, Any]:
        try:
            kept: dict[str, Any] = json.loads(path.read_bytes())
        except (OSError, ValueError):
            raise self._damaged(path) from None
        return kept

    def _damaged(self, path: Path) -> InputError:
        return InputError(
            "is damaged; remove it, and the round is done again (answers are not bought again).",
            source=str(path),
        )
