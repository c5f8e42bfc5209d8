"""The process of the local server; see `local`. Started with `python -m`, never imported."""

from __future__ import annotations

import os
import sys

import xllamacpp

_MAX_THREADS = 4


def main() -> None:
    """Serve, print the address, and end when standard input closes."""
    model, parallel, context = sys.argv[1:4]
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = int(parallel)
    params.n_ctx = int(context)
    params.verbosity = 0
    # It would copy each finished prompt's state aside, by default up to 8 GB: memory and time that
    # short prompts do not give back. The slots' own prompts stay cached.
    params.cache_ram_mib = 0
    # Measured on 2 cores, 12 calls at a time: 12 answers a second with 2 threads, 6 with 1; beside
    # one other busy process it is 3.4 and 6.9, as threads wait for each other.
    threads = min(_cores(), _MAX_THREADS)
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.buffer.read()
    # No orderly end: there is nothing to save, and a parent may be waiting for us.
    os._exit(0)


def _cores() -> int:
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))  # a container may have fewer than the machine
    return os.cpu_count() or 1


if __name__ == "__main__":
    main()
