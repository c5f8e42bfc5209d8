"""Spans reach a real collector, across processes; without an endpoint nothing happens."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import httpx
import pytest
from fastapi import FastAPI

from benchfill.errors import InputError
from benchfill_services.observability import traces
from benchfill_services.observability.traces import (
    end_traces,
    inject,
    setup_traces,
    span,
    trace_requests,
)
from benchfill_services.settings import Settings
from support.openai_api import Reply
from support.trace_collector import TraceCollector

if TYPE_CHECKING:
    from collections.abc import Iterator

# what a worker does, in a process of its own
WORKER = """
import json, sys
from benchfill_services.observability.traces import end_traces, setup_traces, span
from benchfill_services.settings import Settings
assert setup_traces("benchfill-worker", Settings())
with span("job", carrier=json.loads(sys.argv[1]), job="job-1"):
    with span("model call", model="tiny", tokens=12):
        pass
end_traces()
"""


@pytest.fixture
def collector(monkeypatch) -> Iterator[TraceCollector]:
    with TraceCollector() as running:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", running.endpoint)
        yield running
        end_traces()


async def test_a_trace_goes_from_the_request_over_the_job_to_the_model_call(collector) -> None:
    assert setup_traces("benchfill-api", Settings())
    app = FastAPI()
    trace_requests(app)
    kept: dict[str, str] = {}

    @app.post("/v1/fills")
    async def create() -> None:
        kept.update(inject())

    @app.get("/healthz")
    async def healthy() -> None:
        pass

    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://api") as client:
        await client.get("/healthz")
        await client.post("/v1/fills")
    end_traces()
    message = f'{{"traceparent": "{kept["traceparent"]}"}}'
    worker = await asyncio.create_subprocess_exec(sys.executable, "-c", WORKER, message)
    assert await worker.wait() == 0
    spans = collector.spans()
    assert len(spans) == 3
    request, job, call = spans["POST /v1/fills"], spans["job"], spans["model call"]
    assert request.trace_id == job.trace_id == call.trace_id
    assert call.parent_span_id == job.span_id
    assert job.parent_span_id.hex() == kept["traceparent"].split("-")[2]
    values = {pair.key: pair.value for pair in call.attributes}
    assert (values["model"].string_value, values["tokens"].int_value) == ("tiny", 12)
    assert call.start_time_unix_nano <= call.end_time_unix_nano <= job.end_time_unix_nano


def test_without_an_endpoint_nothing_is_traced_and_nothing_imported(monkeypatch) -> None:
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    code = f"""
import sys
{WORKER.replace("assert setup", "assert not setup")}
assert "opentelemetry" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code, "{}"], check=True, timeout=60)
    assert inject() == {}


def test_an_endpoint_without_the_extra_is_an_error_that_says_so(collector, monkeypatch) -> None:
    monkeypatch.delitem(sys.modules, f"{traces.__package__}.otlp", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(InputError, match=r"benchfill\[telemetry\]"):
        setup_traces("test", Settings())


def test_an_error_inside_a_span_comes_out_and_is_noted_by_its_kind(collector) -> None:
    setup_traces("test", Settings())
    with pytest.raises(KeyError), span("step"):
        raise KeyError("canary")
    end_traces()
    assert collector.spans()["step"].status.message == "KeyError"
    assert not any(b"canary" in body for body in collector.bodies)


def test_a_collector_that_is_away_hinders_nobody(monkeypatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    setup_traces("test", Settings())
    with span("step"):
        pass
    began = time.monotonic()
    end_traces()
    assert time.monotonic() - began < 10


# what a job does: two calls, of which one fails, each job in a loop of its own
CALLS = """
import asyncio, sys
from benchfill_services.observability.process import observed
from benchfill_services.observability.traces import span
from benchfill_services.settings import Settings

async def job():
    with span("job"):
        for model in ("openai/good", "openai/bad"):
            try:
                await litellm.acompletion(
                    model=model, api_base=sys.argv[1], api_key="canary", max_retries=0,
                    messages=[{"role": "user", "content": "1 + 1 = canary"}],
                )
            except litellm.InternalServerError:
                pass
        await asyncio.sleep(0.5)

with observed("benchfill-worker", Settings(), calls_models=True):
    import litellm
    litellm.suppress_debug_info = True
    asyncio.run(job())
"""


def test_calls_of_models_are_spans_inside_their_job(collector, scripted_server) -> None:
    def answer(request) -> Reply:
        return Reply(status=500) if request.model == "bad" else Reply(text="2")

    scripted_server.script(answer)
    ended = subprocess.run(
        [sys.executable, "-c", CALLS, scripted_server.url],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (ended.returncode, ended.stdout) == (0, ""), ended.stderr
    assert "cost_map" not in ended.stderr, "litellm went to the network"
    found = collector.all_spans()
    (job,) = [one for one in found if one.name == "job"]
    calls = [one for one in found if one.name == "model call"]
    values = [{pair.key: pair.value for pair in call.attributes} for call in calls]
    assert [value["model"].string_value for value in values] == ["good", "bad"]
    assert {call.parent_span_id for call in calls} == {job.span_id}
    assert values[0]["completion_tokens"].int_value > 0
    assert calls[0].status.message == ""
    assert calls[1].status.message.endswith("Error")
    assert all(job.start_time_unix_nano <= one.start_time_unix_nano for one in calls)
    assert not any(b"canary" in body for body in collector.bodies)


# as uvicorn does: it closes, and then raises the signal that it was sent again
TERMINATED = """
import signal, sys
from benchfill_services.observability.process import observed
from benchfill_services.observability.traces import span
from benchfill_services.settings import Settings
with observed("benchfill-api", Settings()):
    with span("last request"):
        pass
    signal.raise_signal(signal.SIGTERM)
    sys.exit(9)
"""


def test_spans_are_sent_when_a_process_is_told_to_end(collector) -> None:
    ended = subprocess.run([sys.executable, "-c", TERMINATED], check=False, timeout=60)
    assert ended.returncode == 0
    assert "last request" in collector.spans()
