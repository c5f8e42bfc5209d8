"""A process that uses the embedded Valkey of a folder: what the tests start, watch and kill.

It prints the server's process id once it has joined, writes the key it was given and leaves when
its standard input ends.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from benchfill_services.store.embedded import embedded_valkey


async def main(data_dir: Path, key: str) -> None:
    async with embedded_valkey(data_dir) as redis:
        await redis.set(key, "kept")
        print((await redis.info("server"))["process_id"], flush=True)  # noqa: T201
        await asyncio.to_thread(sys.stdin.read)


asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
