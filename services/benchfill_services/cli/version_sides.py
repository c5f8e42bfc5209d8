"""Two versions of a benchmark as files: read, fitted and compared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import benchfill as bf
from benchfill.errors import InputError

from ..report.diff_page import ShownDiff
from ..review.diff import VersionSide, diff_of
from ..review.provenance import PROVENANCE, read_provenance
from ..settings import Settings
from ..store.benchmark_files import ITEMS, RESPONSES
from ..store.fits import fit_of_items, kept_fit
from .output import sha256_of
from .progress import counting_up

if TYPE_CHECKING:
    from pathlib import Path

    from benchfill.onepl import Engine

    from ..review.provenance import ItemProvenance
    from .output import CommandOutput


@dataclass(frozen=True)
class VersionPaths:
    """Where the files of a version stand."""

    name: str
    items: Path
    responses: Path

    @classmethod
    def of_folder(cls, folder: Path) -> VersionPaths:
        """Return the files of a folder. Raises InputError when it is none of a version."""
        for name in (ITEMS, RESPONSES):
            if not (folder / name).is_file():
                raise InputError(
                    f"holds no {name}; name a folder with {ITEMS} and {RESPONSES}, or the files "
                    "with --items and --responses.",
                    source=str(folder),
                )
        return cls(folder.name or str(folder), folder / ITEMS, folder / RESPONSES)

    @property
    def provenance(self) -> Path:
        """Where `benchfill merge` puts the provenance of merged items."""
        return self.items.with_name(PROVENANCE)

    def read(self) -> VersionSide:
        """Read the files. Raises InputError."""
        found: tuple[ItemProvenance, ...] = ()
        if self.provenance.is_file():
            found = read_provenance(self.provenance.read_bytes(), source=str(self.provenance))
        items, responses = bf.read_items(self.items), bf.read_responses(self.responses)
        if not {item.id for item in items} & set(responses.items):
            raise InputError(
                f"none of its items stands in {self.responses}; the ids must be the same.",
                source=str(self.items),
            )
        return VersionSide(items, responses, found)


def note_inputs(output: CommandOutput, *versions: VersionPaths) -> None:
    """Name the files in the result. Raises InputError when one cannot be read."""
    files = [path for one in versions for path in (one.items, one.responses)]
    output.inputs = {str(path): sha256_of(path) for path in files}


def compared(
    sides: tuple[VersionSide, VersionSide], names: tuple[str, str], *, engine: Engine, seed: int
) -> ShownDiff:
    """Fit both versions, or take the fits that the data folder keeps, and compare them."""
    before, after = (_diagnosed(side, engine=engine, seed=seed) for side in sides)
    both = tuple(
        replace(side, diagnosis=found) for side, found in zip(sides, (before, after), strict=True)
    )
    return ShownDiff(diff_of(both[0], both[1]), names, before, after)


def _diagnosed(side: VersionSide, *, engine: Engine, seed: int) -> bf.Diagnosis:
    request = fit_of_items(side.items, side.responses, engine, seed)
    size = f"{len(side.responses.models)} models x {len(side.responses.items)} items"
    with counting_up(f"fitting {size}") as step:
        return bf.diagnose(kept_fit(Settings().data_dir, request, step))
