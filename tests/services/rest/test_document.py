"""The OpenAPI document and the service agree, whatever schemathesis sends."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchfill_services.store.transcript import RedisTranscript
from support.fills import make_fill
from support.rest_service import FILL

if TYPE_CHECKING:
    import httpx
    from redis.asyncio import Redis

    from support.rest_service import RestService

EXCLUDED = "events$"  # a stream ends with its fill; test_events reads it


@pytest.fixture
async def candidate(operator: httpx.Client, arith: dict, valkey: Redis) -> str:
    """A candidate of a fill that waits."""
    fill = operator.post("/v1/fills", json=FILL).json()["id"]
    for gap, messages in make_fill().transcripts.items():
        for number, message in enumerate(messages):
            await RedisTranscript(valkey, fill, gap).append(message, key=str(number))
    listed = operator.get("/v1/candidates", params={"fill": fill, "limit": 1}).json()
    return str(listed["entries"][0]["id"])


@pytest.mark.parametrize(
    ("options", "least"),
    [
        (("--phases", "fuzzing", "--max-examples", "5"), 150),
        pytest.param(("--max-examples", "30"), 1500, marks=pytest.mark.slow),
    ],
    ids=["fuzzing", "all phases"],
)
def test_no_answer_violates_the_document(
    rest: RestService, candidate: str, tmp_path: Path, options: tuple[str, ...], least: int
) -> None:
    config = tmp_path / "schemathesis.toml"
    config.write_text(
        f"[parameters]\n"
        f'"path.candidate" = "{candidate}"\n'
        # the document cannot say which benchmarks there are, or which ids must be the same
        f"[checks.positive_data_acceptance]\n"
        f'expected-statuses = ["2xx", "404", "409", "422"]\n'
    )
    run = subprocess.run(
        [
            str(Path(sys.executable).with_name("schemathesis")),
            *("--config-file", str(config), "run", f"{rest.base}/openapi.json"),
            *("--header", f"Authorization: Bearer {rest.keys['admin']}"),
            *("--exclude-path-regex", EXCLUDED, "--seed", "1", "--no-color"),
            *("--request-timeout", "20", "--warnings", "off", "--generation-database", "none"),
            *options,
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-8000:] + run.stderr[-2000:]
    generated = re.search(r"(\d+) generated, (\d+) passed", run.stdout)
    assert generated is not None, run.stdout[-2000:]
    assert int(generated[1]) >= least
