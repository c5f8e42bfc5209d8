"""`benchfill keys` and `benchfill serve`, as processes on an embedded Valkey."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
from structlog.testing import capture_logs

from benchfill_services.cli.pools_folder import look_at_pools
from support.rest_service import FILL, ITEMS, RESPONSES, pools_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMAND = str(Path(sys.executable).with_name("benchfill"))


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BENCHFILL")}
    return kept | {"BENCHFILL_DATA_DIR": str(tmp_path / "data"), "BENCHFILL_LOG_FORMAT": "json"}


def run(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, *words], env=environment, capture_output=True, text=True, check=False, timeout=60
    )


@contextlib.contextmanager
def served(
    environment: dict[str, str], *words: str
) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """Serve on a free port; gives the process, its address and what it said."""
    process = subprocess.Popen(
        [COMMAND, "serve", "--port", "0", *words],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        said = ""
        for line in process.stderr:
            said += line
            if found := re.search(r"http://[\w.:\[\]]+", line):
                break
        else:
            raise AssertionError(said)
        for _ in range(200):
            with contextlib.suppress(httpx.TransportError):
                httpx.get(f"{found[0]}/healthz")
                break
            time.sleep(0.05)
        yield process, found[0], said
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def test_a_key_is_shown_once_works_until_revoked_and_the_service_ends_in_order(
    environment: dict[str, str], tmp_path: Path
) -> None:
    made = json.loads(run(environment, "keys", "create", "--role", "reader", "--json").stdout)
    secret = made["api_key"]
    assert re.fullmatch(r"bf_[0-9a-f]{12}_[\w-]{43}", secret)
    listed = run(environment, "keys", "list", "--json").stdout
    assert [one["role"] for one in json.loads(listed)["keys"]] == ["reader"]
    assert secret not in listed
    shown = run(environment, "keys", "list").stdout  # times fit into 80 columns
    assert f"{made['created_at'][:16].replace('T', ' ')} │ - " in shown
    (tmp_path / "pools").mkdir()
    (tmp_path / "pools" / "bad.yaml").write_text("models: 1\n")
    with served(environment, "--pools", str(tmp_path / "pools")) as (
        process,
        base,
        said,
    ):
        assert "a pool cannot be used" in said
        headers = {"Authorization": f"Bearer {secret}"}
        assert httpx.get(f"{base}/v1/fills").status_code == 401
        assert httpx.get(f"{base}/v1/fills", headers=headers).json()["entries"] == []
        revoked = run(environment, "keys", "revoke", made["id"])
        assert revoked.stdout.strip() == f"Key {made['id']} is revoked."
        assert httpx.get(f"{base}/v1/fills", headers=headers).status_code == 401
        process.send_signal(signal.SIGTERM)
        last = process.stderr.read()
        assert process.wait(20) in {0, -signal.SIGTERM}
        assert "Traceback" not in last
        assert secret not in said + last
    data = (tmp_path / "data").rglob("*")
    for path in data:
        if path.is_file():
            assert secret.rsplit("_", 1)[1].encode() not in path.read_bytes(), path
    unknown = run(environment, "keys", "revoke", "nobody")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "there is no key 'nobody'" in unknown.stderr


def test_no_keys_are_asked_for_on_loopback_only(environment: dict[str, str]) -> None:
    refused = run(environment, "serve", "--no-auth", "--host", "0.0.0.0", "--port", "0")
    assert refused.returncode == 2
    assert refused.stderr.startswith("Error: --host: --no-auth is for loopback only")
    assert refused.stderr.count("\n") == 1
    with served(environment, "--no-auth") as (process, base, _):
        assert httpx.get(f"{base}/v1/fills").status_code == 200
        taken = run(environment, "serve", "--port", base.rsplit(":", 1)[1])
        assert taken.returncode == 2
        assert "cannot be listened at (address already in use)" in taken.stderr
        process.send_signal(signal.SIGINT)
        process.stderr.read()
        assert process.wait(20) == 0


def test_what_is_missing_is_said(environment: dict[str, str]) -> None:
    with served(environment) as (process, _, said):
        process.terminate()
        last = process.stderr.read()
        process.wait(20)
    events = [json.loads(line)["event"] for line in (said + last).splitlines()]
    assert any("there is no API key yet" in one for one in events)
    assert any("there are no pools" in one for one in events)
    no_redis = environment | {"BENCHFILL_REDIS_URL": "redis://127.0.0.1:9/0"}
    refused = run(no_redis, "serve", "--port", "0")
    assert refused.returncode == 2
    assert "Redis at 127.0.0.1:9 cannot be used" in refused.stderr
    assert "Traceback" not in refused.stderr
    no_folder = run(environment, "serve", "--port", "0", "--pools", "/no/such/folder")
    assert no_folder.returncode == 2
    assert "/no/such/folder: is no folder" in no_folder.stderr
    for host in ("no-such-host.invalid", "203.0.113.1"):
        no_host = run(environment, "serve", "--port", "0", "--host", host)
        assert no_host.returncode == 2
        assert no_host.stderr.startswith(f"Error: --host: {host} is no address of this machine")


def test_an_open_stream_does_not_hold_up_the_end(
    environment: dict[str, str], tmp_path: Path
) -> None:
    folder = pools_folder(tmp_path / "pools")
    with (
        served(environment, "--no-auth", "--pools", str(folder)) as (process, base, _),
        httpx.Client(base_url=base, timeout=30) as client,
    ):
        files = {"items": ITEMS, "responses": RESPONSES}
        client.post("/v1/benchmarks", data={"id": "arith", "name": "A"}, files=files)
        fill = client.post("/v1/fills", json=FILL).json()["id"]
        with client.stream("GET", f"/v1/fills/{fill}/events") as stream:
            lines = stream.iter_lines()
            assert next(lines) == "event: status"
            process.send_signal(signal.SIGINT)
            began = time.monotonic()
            assert "event: end" not in list(lines)  # it is the service that ends, not the fill
            assert time.monotonic() - began < 2
        last = [json.loads(line) for line in process.stderr.read().splitlines()]
        assert process.wait(20) == 0
    assert [one for one in last if one["level"] not in {"info", "debug"}] == []


def test_a_worker_says_which_pools_it_lacks(environment: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "pools"
    refused = run(environment, "worker", "--pools", str(folder))
    assert refused.returncode == 2
    assert f"{folder}: is no folder; make it" in refused.stderr
    away = environment | {"BENCHFILL_REDIS_URL": "redis://127.0.0.1:9/0"}  # it ends at once
    assert "every fill that this worker takes up will fail; name" in run(away, "worker").stderr
    pools_folder(folder)
    ended = run(away, "worker", "--pools", str(folder))
    said = ended.stderr
    assert ended.returncode == 2
    assert "Redis at 127.0.0.1:9 cannot be used" in said
    assert '"pool": "broken"' in said
    assert "there are no pools" not in said


def test_a_folder_without_pools_is_none(tmp_path: Path) -> None:
    with capture_logs() as logs:
        look_at_pools(tmp_path, "nothing works")
    assert [one["event"] for one in logs] == [
        "there are no pools, so nothing works; add a file POOL.yaml"
    ]
