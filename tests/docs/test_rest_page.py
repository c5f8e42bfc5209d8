"""The page on the REST service: its commands work, and it names every endpoint and role."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchfill_services.rest.app import create_app
from benchfill_services.settings import Settings
from support.rest_service import ITEMS, RESPONSES, make_keys, serving, settings_of

if TYPE_CHECKING:
    from redis.asyncio import Redis

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "rest.md").read_text(encoding="utf-8")


def test_every_endpoint_stands_there_with_its_role() -> None:
    told = {
        (method, path): role
        for methods, path, roles in re.findall(
            r"^\| `([A-Z ]+) (/\S+)` \| ([a-z, ]+) \|", PAGE, re.MULTILINE
        )
        for method, role in zip(methods.split(), roles.split(", "), strict=True)
    }
    document = create_app(Settings(data_dir=Path("/nonexistent"))).openapi()
    assert told == {
        (method.upper(), path): operation.get("x-role", "none")
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }


async def test_the_commands_work(valkey: Redis, valkey_socket: Path, tmp_path: Path) -> None:
    curl = shutil.which("curl")
    if curl is None:
        pytest.skip("no curl")
    blocks = re.findall(r"^```shell\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "items.jsonl").write_bytes(ITEMS)
    (tmp_path / "responses.csv").write_bytes(RESPONSES)
    with serving(settings_of(valkey_socket, tmp_path)) as service:
        keys = await make_keys(valkey_socket)
        (tmp_path / "key.txt").write_text(keys["operator"] + "\n")
        address = service.base.removeprefix("http://")

        def run(script: str) -> list[dict]:
            done = subprocess.run(
                ["/bin/bash", "-ec", script.replace("127.0.0.1:8000", address)],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=True,
                timeout=60,
            )
            decoder, found, rest = json.JSONDecoder(), [], done.stdout
            while rest.startswith("{"):
                one, end = decoder.raw_decode(rest)
                found.append(one)
                rest = rest[end:]
            return found or [{"text": rest}]

        made, plan, fill = run(blocks[1])
        assert made["benchmark"] == "sums"
        assert plan["rollouts_at_most"] == 5000
        assert fill["status"] == "queued"
        setup = blocks[1].split("\n\n")[0] + f"\nID={fill['id']}\n"
        cancelled = run(f'{setup}curl -sH "$AUTH" -X POST $API/fills/$ID/cancel')
        assert cancelled[0]["status"] == "cancelled"
        follow, candidates, usage = blocks[2].strip().splitlines()
        assert "event: end" in run(f"{setup}{follow}")[0]["text"]
        assert run(f"{setup}{candidates}")[0]["entries"] == []
        assert run(f"{setup}{usage}")[0]["entries"][0]["fill"] == fill["id"]
        assert run(f"{setup}{blocks[3]}")[0]["spec"]["budget"]["rollouts"] == 9000
