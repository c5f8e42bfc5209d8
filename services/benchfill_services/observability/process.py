"""What a process of the service sets up before all else: its logs and its traces."""

from __future__ import annotations

import importlib
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .logs import setup_logs
from .traces import end_traces, setup_traces

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..settings import Settings


@contextmanager
def observed(
    service_name: str, settings: Settings, *, calls_models: bool = False
) -> Iterator[None]:
    """Log and trace under a name, as the settings say, until the process ends.

    SIGTERM then ends the process with 0 after everything that is open was closed, spans sent; who
    handles it himself meanwhile, as uvicorn and our worker do, hands it on or not.

    Raises
    ------
    InputError
        Traces are wanted and the extra `telemetry` is not installed.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    setup_logs(settings)
    if setup_traces(service_name, settings) and calls_models:
        # litellm takes seconds to import: only for who traces, and has calls to trace
        importlib.import_module(".model_calls", __package__).trace_model_calls()
    try:
        yield
    finally:
        end_traces()
