"""The ledger's spool: a local append-only file whose lines are on the disk when a write returns."""

from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING, Any, BinaryIO

from filelock import FileLock, Timeout

from benchfill.errors import BenchFillError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Spool:
    """JSON objects, one a line, synced before `append` returns; one process at a time.

    Lines that wait together are written and synced together, in a thread, so that the event loop
    goes on while the disk works.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = FileLock(f"{path}.lock", timeout=0)
        self._file: BinaryIO | None = None
        self._waiting: list[tuple[bytes, asyncio.Future[None]]] = []
        self._flusher: asyncio.Task[None] | None = None

    def open(self, replay: Callable[[dict[str, Any]], None]) -> None:
        """Lock the file, replay its records, and cut off a last line that was torn by a kill."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.acquire()
        except Timeout:
            raise InputError(
                "another benchfill process is using this spool; wait for it to end, or use another "
                "data folder.",
                source=str(self.path),
            ) from None
        try:
            self._file = self.path.open("a+b")
            self._file.truncate(self._replay(self._file, replay))
        except BaseException:
            self._release()
            raise

    def _replay(self, file: BinaryIO, replay: Callable[[dict[str, Any]], None]) -> int:
        """Return where the last whole line ends."""
        file.seek(0)
        end = 0
        torn: int | None = None
        for number, line in enumerate(file, start=1):
            record = _parse(line)
            if record is None:
                torn = torn or number
                continue
            if torn is not None:
                raise InputError(
                    "is damaged before its end; restore the file from a copy, or move it away "
                    "(answers that are in the store already are not asked again).",
                    source=str(self.path),
                    line=torn,
                )
            try:
                replay(record)
            except (KeyError, TypeError, ValueError):
                raise InputError(
                    "is no record of this version of benchfill; move the file away.",
                    source=str(self.path),
                    line=number,
                ) from None
            end += len(line)
        return end

    async def append(self, record: dict[str, Any]) -> None:
        """Write a record; on return it is on the disk. A cancelled caller does not undo it."""
        if self._file is None:
            raise RuntimeError("the spool is not open")
        done = asyncio.get_running_loop().create_future()
        # ASCII JSON also carries the unpaired surrogates that models now and then emit.
        self._waiting.append((json.dumps(record).encode() + b"\n", done))
        if self._flusher is None or self._flusher.done():
            self._flusher = asyncio.create_task(self._flush())
        await asyncio.shield(done)

    async def _flush(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                await asyncio.to_thread(self._write, b"".join(line for line, _ in batch))
            except OSError as error:
                for _, done in batch:
                    if not done.done():
                        done.set_exception(
                            BenchFillError(
                                f"{self.path}: cannot be written ({error.strerror}); answers would "
                                "be lost, so the run stops."
                            )
                        )
                        done.exception()  # its waiter may be gone; that is no second error
                continue
            for _, done in batch:
                if not done.done():
                    done.set_result(None)

    def _write(self, data: bytes) -> None:
        if self._file is None:
            raise OSError(None, "the spool is closed")
        self._file.write(data)
        self._file.flush()
        os.fsync(self._file.fileno())

    async def close(self) -> None:
        """Write what waits, then give the file free."""
        if self._flusher is not None:
            await asyncio.shield(self._flusher)
        self._release()

    def _release(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
        self._lock.release()


def _parse(line: bytes) -> dict[str, Any] | None:
    if not line.endswith(b"\n"):
        return None
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None
