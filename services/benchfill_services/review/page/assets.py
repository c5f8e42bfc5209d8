"""The page's scripts, styles and fonts: files of the package, and nothing else."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}


@dataclass(frozen=True)
class StaticFile:
    """A file as it is sent."""

    content: bytes
    zipped: bytes | None
    media_type: str
    digest: str


@cache
def static_files() -> dict[str, StaticFile]:
    """Return all files by name."""
    return dict(_read(resources.files(__package__).joinpath("static"), ""))


def _read(folder: Traversable, prefix: str) -> Iterator[tuple[str, StaticFile]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _read(entry, f"{prefix}{entry.name}/")
            continue
        media_type = _TYPES.get(entry.name[entry.name.rfind(".") :])
        if media_type is not None:
            content = entry.read_bytes()
            digest = hashlib.sha256(content).hexdigest()[:16]
            text = not entry.name.endswith(".woff2")
            zipped = gzip.compress(content, 9, mtime=0) if text else None
            yield prefix + entry.name, StaticFile(content, zipped, media_type, digest)


def static_url(name: str) -> str:
    """Return the address of a file, which changes with its content."""
    return f"/review/static/{name}?v={static_files()[name].digest}"
