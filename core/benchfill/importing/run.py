"""Import result files: find them, recognise them, read them, put them together."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from .assemble import Imported, assemble
from .collect import Collector
from .detect import recognise, unknown
from .interface import ItemText, Reading, Recognised, ResultFormat
from .options import ImportOptions
from .paths import find_files
from .report import FileReport, SkippedFile
from .source import InputFile, disk_file, member_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path


def import_results(
    paths: Iterable[str | Path],
    options: ImportOptions | None = None,
    *,
    on_file: Callable[[str], None] | None = None,
) -> Imported:
    """Import result files of any known format into one response matrix.

    Parameters
    ----------
    paths
        Files, folders (with all that is in them) and patterns such as ``runs/*.json``.
    options
        What the user decides; what is left open follows each format's official scoring.
    on_file
        Called with each file's name before it is read.

    Returns
    -------
    Imported
        Responses, items whose questions are known, and a report on every row and choice.

    Raises
    ------
    InputError
        One sentence that names the file, and line or field, that cannot be used.
    """
    options = options or ImportOptions()
    run = _Run(options, on_file or (lambda _: None))
    for named in find_files(paths):
        run.take(disk_file(named.path), explicit=named.explicit)
    return assemble(run.collector, options, run.files, run.skipped)


class _Run:
    def __init__(self, options: ImportOptions, on_file: Callable[[str], None]) -> None:
        self.options, self._on_file = options, on_file
        self.collector = Collector(options)
        self.files: list[FileReport] = []
        self.skipped: list[SkippedFile] = []
        self._seen: dict[tuple[str, str], str] = {}

    def take(self, file: InputFile, *, explicit: bool) -> None:
        """Read a file, or say why not; an archive that is no log itself is a folder."""
        forced = self.options.format if explicit and file.archive is None else None
        found = recognise(file, forced)
        if found is None and file.archive is not None and file.on_disk is not None:
            for member in member_files(file.archive, file.on_disk):
                self.take(member, explicit=False)
            return
        if found is None:
            self._leave(file, unknown(file), explicit=explicit)
        elif found[1].role == "responses":
            self._read(file, *found)
        else:
            refused = found[1].role == "no scores"
            self._leave(file, found[1].reason, explicit=explicit and refused)

    def _leave(self, file: InputFile, why: str, *, explicit: bool) -> None:
        if explicit:
            raise file.error(why)
        self.skipped.append(SkippedFile(file=file.name, why=why))

    def _read(self, file: InputFile, form: ResultFormat, why: Recognised) -> None:
        if self.options.format not in {None, form.name}:
            self._leave(file, f"is of the format {form.name}.", explicit=False)
            return
        digest = _sha256(file)
        same = self._seen.setdefault((digest, file.path.name), file.name)
        if same != file.name:
            self._leave(file, f"is the same file as {same}.", explicit=False)
            return
        self._on_file(file.name)
        report = FileReport(file=file.name, format=form.name, reason=why.reason, sha256=digest)
        self.files.append(report)
        self.collector.begin(report)
        for one in form.read(file, Reading(file, self.options, report)):
            if isinstance(one, ItemText):
                self.collector.add_item(one)
            else:
                self.collector.add(one)
        self.collector.end()


def _sha256(file: InputFile) -> str:
    digest = hashlib.sha256()
    for block in _blocks(file):
        digest.update(block)
    return digest.hexdigest()


def _blocks(file: InputFile) -> Iterator[bytes]:
    if file.on_disk is not None:
        # of the file as it lies there, whatever it is packed in
        with file.on_disk.open("rb") as stream:
            while block := stream.read(1 << 20):
                yield block
        return
    with file.open() as stream:
        while block := stream.read(1 << 20):
            yield block
