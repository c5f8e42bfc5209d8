"""Whoever logs, a line is one JSON object on stderr without a secret in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.trace_collector import TraceCollector

SAID = Path(__file__).with_name("said_process.py")
CANARY = "canary-7f3a!\"9'z"


def said(*arguments: str, **environment: str) -> tuple[str, str]:
    """Run the process that says everything; return its stdout and stderr."""
    kept = ("PATH", "HOME", "PYTHONPATH", "LANG")
    ended = subprocess.run(
        [sys.executable, str(SAID), *arguments],
        env={
            **{name: os.environ[name] for name in kept if name in os.environ},
            "CANARY_API_KEY": CANARY,
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 1, ended.stderr  # it ends with an error that nobody caught
    return ended.stdout, ended.stderr


@pytest.mark.parametrize("order", ["others first", "others last"])
def test_every_line_is_json_without_the_canary(order) -> None:
    stdout, stderr = said(order)
    assert stdout == ""
    assert "canary" not in stderr
    assert CANARY[::-1] not in stderr
    assert "p4ss" not in stderr
    lines = [json.loads(line) for line in stderr.splitlines()]
    assert all({"event", "level", "logger", "timestamp"} <= set(line) for line in lines)
    uncaught = [line["exception"] for line in lines if line["event"] == "uncaught error"]
    assert len(uncaught) == 2, "one ends a thread, one the process"
    by_event = {line["event"]: line for line in lines}
    assert len(by_event) == len(lines) - 1, "another line came twice"
    assert by_event["asked with ***"]["nested"] == {"a": ["***", 1]}
    assert by_event["asked with ***"]["request"] == "Request(key='***')"
    assert by_event["headers"]["authorization"] == "***"
    assert by_event["headers"]["tokens"] == 7
    assert by_event["bound"]["job"] == "job-2"
    assert "wrong key ***" in by_event["failed"]["exception"]
    for name in ("uvicorn.error", "uvicorn.access", "dramatiq.worker", "LiteLLM", "httpx"):
        assert by_event[f"{name} says ***"]["logger"] == name
    assert "never said above debug" not in by_event
    assert "a line a call" not in by_event


def test_on_a_terminal_lines_are_for_people() -> None:
    _, stderr = said(BENCHFILL_LOG_FORMAT="console")
    assert "canary" not in stderr
    assert "asked with ***" in stderr
    with pytest.raises(json.JSONDecodeError):
        json.loads(stderr.splitlines()[0])


def test_debug_says_more() -> None:
    _, stderr = said(BENCHFILL_LOG_LEVEL="DEBUG")
    assert "never said above debug" in stderr
    assert "canary" not in stderr


def test_lines_inside_a_span_name_its_trace_and_spans_hold_no_canary() -> None:
    with TraceCollector() as collector:
        _, stderr = said(OTEL_EXPORTER_OTLP_ENDPOINT=collector.endpoint)
        spans = collector.spans()
        assert not any(b"canary" in body for body in collector.bodies)
    lines = {line["event"]: line for line in map(json.loads, stderr.splitlines())}
    assert lines["inside"]["trace_id"] == spans["step"].trace_id.hex()
    assert lines["inside"]["span_id"] == spans["step"].span_id.hex()
    assert "trace_id" not in lines["bound"]
    attributes = {pair.key: pair.value.string_value for pair in spans["step"].attributes}
    assert attributes == {"job": "job-3", "key": "***"}
    assert spans["broken"].status.message == "ValueError"
    assert list(spans["broken"].events) == []
