"""The report's folder: every file is written whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchfill.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# JSON allows these in strings, but many readers take them for line ends
_LINE_ENDS = {ord(char): f"\\u{ord(char):04x}" for char in "\x85\u2028\u2029"}


def write_folder(out: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a folder, made if need be; other files in it stay.

    All are written beside their places first, so that a full disk leaves the former report.

    Raises
    ------
    InputError
        The folder or a file in it cannot be written.
    """
    written: list[tuple[Path, Path]] = []
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            handle, temporary = tempfile.mkstemp(dir=out, prefix=f".{name}.")
            written.append((Path(temporary), out / name))
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).chmod(0o644)
        for temporary_path, place in written:
            temporary_path.replace(place)
    except (FileExistsError, NotADirectoryError):
        raise InputError(
            "is a file, not a folder; name another with --out.", source=str(out)
        ) from None
    except OSError as error:
        reason = (error.strerror or "unknown error").lower()
        raise InputError(
            f"the report cannot be written there ({reason}); name another folder with --out.",
            source=str(out),
        ) from None
    finally:
        for temporary_path, _ in written:
            temporary_path.unlink(missing_ok=True)


def json_bytes(value: Any, *, indent: int | None = None) -> bytes:
    """Return a value as JSON in UTF-8; lone surrogates, which UTF-8 lacks, are escaped."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    try:
        return text.translate(_LINE_ENDS).encode()
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False, indent=indent).encode()


def jsonl_bytes(values: Iterable[Any]) -> bytes:
    """Return values as JSON Lines."""
    return b"".join(json_bytes(value) + b"\n" for value in values)


def merged(envelope: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any]:
    """Return envelope and result as one object; what the envelope says already stays."""
    return dict(envelope) | {key: one for key, one in result.items() if key not in envelope}
