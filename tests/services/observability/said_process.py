"""A process that logs and traces in every way there is: what the tests read the output of."""

from __future__ import annotations

import logging
import os
import sys
import threading
import warnings

import structlog

from benchfill_services.observability.logs import setup_logs
from benchfill_services.observability.traces import end_traces, setup_traces, span
from benchfill_services.settings import Settings

CANARY = os.environ["CANARY_API_KEY"]


class Request:
    """An object whose `repr` shows what it was made with."""

    def __repr__(self) -> str:
        return f"Request(key={CANARY!r})"


def fail(key: str) -> None:
    raise ValueError(f"the provider said: wrong key {key}")


def say() -> None:
    log = structlog.get_logger("ours")
    log.info(f"asked with {CANARY}", job="job-1", nested={"a": [CANARY, 1]}, request=Request())
    log.info("headers", authorization="opaque", Bearer=f"Bearer {CANARY[::-1]}", tokens=7)
    log.warning("redis is away", error="at redis://user:pass/word@host and redis://:p4ss@h:1/0")
    log.debug("never said above debug")
    with structlog.contextvars.bound_contextvars(job="job-2"):
        log.info("bound")
    try:
        fail(CANARY)
    except ValueError:
        log.exception("failed")
    for name in ("uvicorn.error", "uvicorn.access", "dramatiq.worker", "LiteLLM", "httpx"):
        logging.getLogger(name).warning("%s says %s", name, CANARY)
    logging.getLogger("httpx").info("a line a call")
    warnings.warn(f"careful with {CANARY}", stacklevel=1)
    thread = threading.Thread(target=fail, args=(CANARY,))
    thread.start()
    thread.join()
    with span("step", job="job-3", key=CANARY, gap=None):
        log.info("inside")
    try:
        with span("broken"):
            fail(CANARY)
    except ValueError:
        pass


def load_others() -> None:
    """Let those set up handlers of their own who do."""
    import litellm  # noqa: F401, PLC0415
    import uvicorn  # noqa: PLC0415

    uvicorn.Config("no:app")


def main() -> None:
    settings = Settings()
    if "others first" in sys.argv:
        load_others()
    setup_logs(settings)
    if "others last" in sys.argv:
        load_others()
    setup_traces("test", settings)
    say()
    end_traces()
    fail(CANARY)


main()
