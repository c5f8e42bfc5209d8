"""What a process of the service sets up before all else: its logs and its traces."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from .logs import setup_logs
from .traces import end_traces, setup_traces

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..settings import Settings


@contextmanager
def observed(service_name: str, settings: Settings) -> Iterator[None]:
    """Log and trace under a name, as the settings say, until the process ends.

    Raises
    ------
    InputError
        Traces are wanted and the extra `telemetry` is not installed.
    """
    setup_logs(settings)
    setup_traces(service_name, settings)
    try:
        yield
    finally:
        end_traces()
