"""The pools of the service: YAML files in one folder, a pool's id is its file's stem."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from benchfill.errors import InputError
from benchfill_agents.pool.config import read_pool

if TYPE_CHECKING:
    from pathlib import Path

    from benchfill_agents.pool.config import Pool

POOL_ID = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$"
_ID = re.compile(POOL_ID)
_SUFFIX = ".yaml"


class PoolFiles:
    """Reads a file again when it has changed, so that the change counts at once."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._read: dict[Path, tuple[tuple[int, int, int], Pool]] = {}

    def ids(self) -> list[str]:
        """Return the ids of all pools, in alphabetical order."""
        if self._folder is None or not self._folder.is_dir():
            return []
        return sorted(
            {
                path.stem
                for path in self._folder.iterdir()
                if path.suffix == _SUFFIX and _ID.fullmatch(path.stem) and path.is_file()
            }
        )

    def read(self, pool: str) -> Pool | None:
        """Return a pool; None when there is none of this id. Blocks.

        Raises
        ------
        InputError
            Its file cannot be used. The text names no path of the server.
        """
        if self._folder is None or not _ID.fullmatch(pool):
            return None
        path = self._folder / f"{pool}{_SUFFIX}"
        if not path.is_file():
            return None
        try:
            now = path.stat()
            state = (now.st_mtime_ns, now.st_size, now.st_ino)
            if path not in self._read or self._read[path][0] != state:
                self._read[path] = (state, read_pool(path))
            return self._read[path][1]
        except (InputError, OSError):
            raise InputError(
                f"the file of pool {pool} cannot be used; `benchfill serve` says why when it "
                "starts."
            ) from None
