"""Serve RECORDED replies of a Designer, a Verifier and a Solver: no model is behind them.

From a checkout, to see `benchfill generate` at work without a key::

    python tests/support/textbook_recorded.py [PORT]

It writes `recorded-pool.yaml` into the folder it is started in and serves until Ctrl-C. The replies
were written for four chapters of Software Carpentry's "Programming with Python": 02-numpy.md,
04-lists.md, 05-loop.md and 07-cond.md. The port stays the same (8797), as a pool's address is
a part of what tells calls apart: with another one nothing would be found on record.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.scripted_server import ScriptedServer
from support.textbook_world import script, write_pool

PORT = 8797
POOL = "recorded-pool.yaml"
LABEL = (
    "# RECORDED replies of tests/support/textbook_recorded.py: no model is behind these names.\n"
)


def main() -> None:
    """Serve until Ctrl-C."""
    port = int(sys.argv[1]) if len(sys.argv) > 1 else PORT
    with ScriptedServer(port=port, script=script()) as server:
        written = write_pool(Path(), server.url)
        Path(POOL).write_text(LABEL + written.read_text(encoding="utf-8"), encoding="utf-8")
        written.unlink()
        print(f"Recorded replies, no model, at {server.url}; the pool is {POOL}.", flush=True)  # noqa: T201
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
