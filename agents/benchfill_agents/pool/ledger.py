"""The ledger of model calls: no answer that was received is ever bought again.

An answer goes to an fsynced local spool and then to the store, the moment it arrives. The spool
holds three kinds of records: `begin` before a call goes out, `received` with the answer, `failed`
when it was given up. Only received answers go to the store: a failed one is asked again.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchfill.errors import BenchFillError

from .rollout import LedgerStore, Rollout, RolloutKey
from .spool import Spool

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

_BATCH = 1000
_CLAIM_POLL = 0.3  # seconds


class InMemoryLedgerStore:
    """A `LedgerStore` that lives and ends with the process."""

    def __init__(self) -> None:
        self._rollouts: dict[str, dict[str, Any]] = {}

    async def get_many(self, digests: list[str]) -> dict[str, dict[str, Any]]:
        """See `LedgerStore.get_many`."""
        return {digest: self._rollouts[digest] for digest in digests if digest in self._rollouts}

    async def put(self, digest: str, rollout: dict[str, Any]) -> None:
        """See `LedgerStore.put`."""
        self._rollouts.setdefault(digest, rollout)

    async def claim(self, digest: str) -> dict[str, Any] | bool:
        """See `LedgerStore.claim`; a process has one ledger, which asks for nothing twice."""
        return self._rollouts.get(digest, True)

    async def release(self, digest: str) -> None:
        """See `LedgerStore.release`."""


class Ledger:
    """Answers by key; an async context manager that holds the spool while it is open."""

    def __init__(self, spool_path: str | Path, store: LedgerStore) -> None:
        self._spool = Spool(Path(spool_path))
        self._store = store
        self._received: dict[str, Rollout] = {}
        self._begun: dict[str, RolloutKey] = {}
        self._lost: tuple[RolloutKey, ...] = ()

    async def __aenter__(self) -> Ledger:
        self._spool.open(self._replay)
        # What has begun and not ended by now belongs to a run that was killed.
        self._lost, self._begun = tuple(self._begun.values()), {}
        try:
            await self._complete_store()
        except BaseException:
            await self._spool.close()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._spool.close()

    @property
    def in_flight_lost(self) -> tuple[RolloutKey, ...]:
        """Calls of former runs that were out when the run was killed: paid for, perhaps."""
        return self._lost

    async def get_many(self, keys: Iterable[RolloutKey]) -> dict[str, Rollout]:
        """Return the answers received so far, by the digest of their key."""
        digests = list(dict.fromkeys(key.digest for key in keys))
        found = {digest: self._received[digest] for digest in digests if digest in self._received}
        absent = [digest for digest in digests if digest not in found]
        for start in range(0, len(absent), _BATCH):
            kept = await self._store.get_many(absent[start : start + _BATCH])
            found |= {digest: Rollout.model_validate(rollout) for digest, rollout in kept.items()}
        return found

    async def claim(self, key: RolloutKey) -> Rollout | None:
        """Return None when it is ours to ask for this rollout, else the answer to somebody else.

        Who asks for it elsewhere is waited for: what he receives is not bought again.
        """
        while True:
            said = await self._store.claim(key.digest)
            if said is True:
                return None
            if said is not False:
                return Rollout.model_validate(said)
            await asyncio.sleep(_CLAIM_POLL)

    async def release(self, key: RolloutKey) -> None:
        """Give up the claim of a rollout that was not received."""
        await self._store.release(key.digest)

    async def begin(self, key: RolloutKey) -> None:
        """Note, durably, that a call is about to go out."""
        await self._spool.append({"event": "begin", "key": key.model_dump()})

    async def record(self, rollout: Rollout) -> None:
        """Keep what came of a call, durably; the first answer under a key stays."""
        content = rollout.model_dump(mode="json")
        if rollout.outcome == "failed":
            await self._spool.append({"event": "failed", "rollout": content})
            return
        digest = rollout.key.digest
        await self._spool.append({"event": "received", "rollout": content})
        self._received.setdefault(digest, rollout)
        try:
            await self._store.put(digest, content)
        except Exception as error:
            raise BenchFillError(
                f"the store did not take an answer ({type(error).__name__}: {error}); it is kept "
                "in the spool, and goes to the store at the next run."
            ) from error

    def _replay(self, record: dict[str, Any]) -> None:
        match record["event"]:
            case "begin":
                key = RolloutKey.model_validate(record["key"])
                self._begun[key.digest] = key
            case "received" | "failed" as event:
                rollout = Rollout.model_validate(record["rollout"])
                digest = rollout.key.digest
                self._begun.pop(digest, None)
                if event == "received":
                    self._received.setdefault(digest, rollout)
            case event:
                raise ValueError(f"unknown event {event!r}")

    async def _complete_store(self) -> None:
        """Give the store the answers that a killed run had written to the spool only."""
        digests = list(self._received)
        for start in range(0, len(digests), _BATCH):
            batch = digests[start : start + _BATCH]
            kept = await self._store.get_many(batch)
            for digest in batch:
                if digest not in kept:
                    await self._store.put(digest, self._received[digest].model_dump(mode="json"))
