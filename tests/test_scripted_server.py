"""The scripted provider itself: what other tests rest on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from support.scripted_server import Reply, ScriptedServer, read_log

if TYPE_CHECKING:
    from support.scripted_server import Request


def _ask(url: str, text: str, **more: Any) -> httpx.Response:
    body = {"model": "m", "messages": [{"role": "user", "content": text}], **more}
    return httpx.post(f"{url}/chat/completions", json=body, headers={"Authorization": "Bearer x"})


def test_calculates_by_default(scripted_server: ScriptedServer) -> None:
    reply = _ask(scripted_server.url, "What is 3 + 4 * 5?").json()
    assert reply["choices"][0]["message"]["content"] == "23"
    prompt = {"model": "m", "prompt": "1 + 1 = 2\n6 - 9 ="}
    reply = httpx.post(f"{scripted_server.url}/completions", json=prompt).json()
    assert reply["choices"][0]["text"] == "-3"
    assert httpx.get(f"{scripted_server.url}/models").json()["data"][0]["id"] == "scripted"


def test_counts_what_was_bought_twice(scripted_server: ScriptedServer) -> None:
    for more in ({}, {"user": "somebody"}, {"seed": 1}):
        _ask(scripted_server.url, "1 + 1", **more)
    assert sorted(scripted_server.counts().values()) == [1, 2]
    assert "authorization" in scripted_server.records[0].header_names
    assert "Bearer x" not in repr(scripted_server.records)


def test_streams_with_usage_at_the_end(scripted_server: ScriptedServer) -> None:
    scripted_server.script(["a b"])
    text = _ask(scripted_server.url, "x", stream=True, stream_options={"include_usage": True}).text
    events = [json.loads(line[6:]) for line in text.split("\n\n") if line.startswith("data: {")]
    words = [c["delta"].get("content", "") for event in events for c in event["choices"]]
    assert "".join(words) == "a b"
    assert events[-1]["usage"]["completion_tokens"] == 2


def test_plays_bad_days(scripted_server: ScriptedServer) -> None:
    scripted_server.script(
        [Reply(status=429, retry_after=2), Reply("x", malformed=True), Reply("x", reset=True)]
    )
    reply = _ask(scripted_server.url, "x")
    assert (reply.status_code, reply.headers["retry-after"]) == (429, "2")
    with pytest.raises(json.JSONDecodeError):
        _ask(scripted_server.url, "x").json()
    with pytest.raises(httpx.TransportError):
        _ask(scripted_server.url, "x")
    assert scripted_server.records[-1].sent is False


def test_answers_from_a_function(scripted_server: ScriptedServer) -> None:
    def echo(request: Request) -> str:
        return request.model + request.prompt

    scripted_server.script(echo)
    assert _ask(scripted_server.url, "?").json()["choices"][0]["message"]["content"] == "m?"


def test_runs_as_a_process_and_logs(tmp_path: Path) -> None:
    file = Path(__file__).parent / "support" / "scripted_server.py"
    log = tmp_path / "log.jsonl"
    command = [sys.executable, str(file), "--port", "0", "--log", str(log), "--delay", "0.5"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            with pytest.raises(httpx.ReadTimeout):  # the client is gone before the reply
                httpx.post(f"{url}/completions", json={"model": "m", "prompt": "a"}, timeout=0.1)
            _ask(url, "1 + 1")
        finally:
            process.kill()
    assert [record.sent for record in read_log(log)] == [False, True]
