"""What the user named on the command line, as files: a file, a folder, a pattern."""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError
from .archive import reason

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True)
class Named:
    """A file, and whether the user named this very file."""

    path: Path
    explicit: bool


def find_files(paths: Iterable[str | Path]) -> tuple[Named, ...]:
    """Return the files under the given paths, each once, folders in the order of names.

    Raises
    ------
    InputError
        A path names nothing, or something that is neither file nor folder; a folder holds no
        file, or may not be looked into.
    """
    found: dict[Path, Named] = {}
    named_paths = [str(given) for given in paths]
    for given in named_paths:
        try:
            for named in _of(given):
                place = named.path.resolve()
                if place not in found or (named.explicit and not found[place].explicit):
                    found[place] = named
        except OSError as error:
            where = given if error.filename is None else str(error.filename)
            raise InputError(f"cannot be looked into ({reason(error)}).", source=where) from None
    if not found:
        raise InputError(
            "holds no file; give result files, or a folder that holds some.",
            source=", ".join(named_paths[:3]) or None,
        )
    return tuple(found.values())


def _of(given: str) -> Iterator[Named]:
    path = Path(given)
    if path.is_dir():
        yield from (Named(one, explicit=False) for one in _walk(path))
    elif path.is_file():
        yield Named(path, explicit=True)
    elif path.exists():
        raise InputError("is neither a file nor a folder.", source=given)
    elif glob.has_magic(given):
        matches = [Path(one) for one in sorted(glob.glob(given, recursive=True))]  # noqa: PTH207
        for one in matches:
            if one.is_dir() and not given.endswith("**"):
                yield from (Named(inner, explicit=False) for inner in _walk(one))
            elif one.is_file():
                yield Named(one, explicit=False)
        if not matches:
            raise InputError("matches no file.", source=given)
    else:
        raise InputError("cannot be read (no such file or directory).", source=given)


def _refuse(error: OSError) -> None:
    # os.walk would leave out what it cannot read without a word
    raise error


def _walk(folder: Path) -> Iterator[Path]:
    seen: set[Path] = set()
    for place, folders, names in os.walk(folder, onerror=_refuse, followlinks=True):
        where = Path(place).resolve()
        if where in seen:  # a link that leads back
            folders.clear()
            continue
        seen.add(where)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(place) / name
            if not name.startswith(".") and path.is_file():
                yield path
