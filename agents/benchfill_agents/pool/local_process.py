"""The process of the local server; see `local`. Started with `python -m`, never imported."""

from __future__ import annotations

import os
import sys

import xllamacpp


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
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.buffer.read()
    # No orderly end: there is nothing to save, and a parent may be waiting for us.
    os._exit(0)


if __name__ == "__main__":
    main()
