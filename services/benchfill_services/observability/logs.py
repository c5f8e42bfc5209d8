"""Log lines of the service: JSON for collectors, columns for a terminal, on stderr.

Our own code says ``structlog.get_logger(__name__).info("job ended", job=..., status=...)``; what
uvicorn, Dramatiq, litellm and others log by the standard library takes the same way.
"""

from __future__ import annotations

import logging
import sys
import threading
from typing import TYPE_CHECKING, Any

import structlog

from ..settings import environment_secrets
from .redaction import Redactor
from .traces import add_trace

if TYPE_CHECKING:
    from types import TracebackType

    from structlog.typing import EventDict, Processor

    from ..settings import Settings

# They hand their lines to handlers of their own, if they find the time to set them up.
_OWN_HANDLERS = (
    *("uvicorn", "uvicorn.error", "uvicorn.access"),
    *("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"),
)
# A line a model call, or more, that says nothing that metrics and traces do not say.
_TALKATIVE = (
    "httpx",
    "httpx2",
    "httpcore",
    "LiteLLM",
    "LiteLLM Router",
    "LiteLLM Proxy",
    "urllib3",
)


def setup_logs(settings: Settings) -> None:
    """Send all log lines of this process to stderr, without secrets; call it once, at the start."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_formatter(settings, Redactor(environment_secrets())))
    level = settings.log_level.upper()
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in _OWN_HANDLERS:
        logging.getLogger(name).addFilter(_Divert(handler))
    if root.level > logging.DEBUG:
        for name in _TALKATIVE:
            logging.getLogger(name).setLevel(max(root.level, logging.WARNING))
    logging.captureWarnings(capture=True)
    sys.excepthook = _log_uncaught
    threading.excepthook = lambda end: _log_uncaught(end.exc_type, end.exc_value, end.exc_traceback)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_described(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )


def _log_uncaught(
    kind: type[BaseException], error: BaseException | None, trace: TracebackType | None
) -> None:
    """Log what ends a thread or the process: Python would print it with all secrets in it."""
    logging.getLogger(__name__).critical("uncaught error", exc_info=(kind, error or kind(), trace))


def _formatter(settings: Settings, redactor: Redactor) -> logging.Formatter:
    def redact(_logger: Any, _method: str, event: EventDict) -> EventDict:
        cleaned: EventDict = redactor.value(dict(event))
        return cleaned

    on_terminal = settings.log_format == "console"
    if settings.log_format is None:
        on_terminal = sys.stderr.isatty()
    render: Processor = (
        # a plain traceback: a pretty one shows the values of variables, keys among them
        structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
        if on_terminal
        else structlog.processors.JSONRenderer(ensure_ascii=False)
    )
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=_described(),
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.StackInfoRenderer(),
            structlog.processors.format_exc_info,
            redact,
            render,
        ],
    )


def _described() -> list[Processor]:
    """Return what adds to a line when, where and in which trace it was said."""
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        add_trace,
    ]


class _Divert(logging.Filter):
    """Takes a logger's records to our handler instead of its own, whenever it sets up those."""

    def __init__(self, handler: logging.Handler) -> None:
        super().__init__()
        self._handler = handler

    def filter(self, record: logging.LogRecord) -> bool:
        self._handler.handle(record)
        return False
