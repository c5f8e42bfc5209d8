"""Small result files, written for a test, and what an import makes of them."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING, Any

from benchfill.importing import Imported, ImportOptions, import_results

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchfill import InputError


def written(path: Path, document: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def lines(path: Path, rows: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def imported(path: Path, **chosen: str) -> Imported:
    return import_results([path], ImportOptions(chosen=chosen))


def scores(found: Imported) -> dict[str, tuple[int, int]]:
    """(right, rollouts) by item, of one model."""
    matrix = found.responses
    assert len(matrix.models) == 1
    return {
        item: (int(right), int(n))
        for item, right, n in zip(matrix.items, matrix.correct[0], matrix.n[0], strict=True)
        if n
    }


def result_files(shared: Path) -> Iterator[Path]:
    """Every real example that holds results."""
    for path in sorted((shared / "raw").rglob("*")):
        if path.is_file() and path.suffix != ".md":
            yield path


def is_a_sentence(error: InputError, path: Path) -> None:
    said = str(error)
    assert path.name in said
    assert "\n" not in said
    assert said.endswith((".", "?"))
    assert len(said) < 700, said


def beside(path: Path, folder: Path, data: bytes) -> Path:
    """Put changed bytes where the file's companions are, for HELM and lm-eval."""
    place = folder / path.parent.name
    place.mkdir(exist_ok=True)
    for other in path.parent.iterdir():
        if other.name.startswith(("run_spec", "scenario_state", "results_")):
            (place / other.name).write_bytes(other.read_bytes())
    (place / path.name).write_bytes(data)
    return place / path.name


def zipped(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path
