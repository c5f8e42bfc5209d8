"""What was saved is there on an empty server, and its jobs go on; see docs/operations.md."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from benchfill_services.jobs.broker import broker_of, enqueue, queue_of
from benchfill_services.store.api_keys import RedisApiKeys
from benchfill_services.store.connection import connect
from benchfill_services.store.events import RedisEvents
from benchfill_services.store.jobs import JobLease, RedisJobs
from benchfill_services.store.ledger import RedisLedgerStore
from benchfill_services.store.memory import RedisMemory
from benchfill_services.store.steps import RedisSteps
from benchfill_services.store.transcript import RedisTranscript
from support.memories import entry
from support.redis_contents import contents
from support.redis_jobs import new_job
from support.redis_server import RedisServer

RESTORE = Path(__file__).parents[2] / "docker" / "restore.sh"
QUEUED, BEGUN = new_job("b1"), new_job("b2")
MANY = 2000  # answers: enough for a dump that is not written in one go


async def fill_with_records(redis) -> None:
    """Keep something of every kind; one job waits, a worker died over the other."""
    jobs, ledger = RedisJobs(redis), RedisLedgerStore(redis)
    await jobs.create(QUEUED, idempotency_key="key-1/a")
    await jobs.create(BEGUN)
    await enqueue(redis, QUEUED.id, "small")
    lease = await JobLease.acquire(redis, BEGUN.id, 60_000)
    await lease.update({"gap": "gap-1", "round": "2"}, status="running")
    await lease.release()
    for number in range(3):
        await RedisSteps(redis, BEGUN.id).put(f"round-{number}/rollouts", {"n": [number, "ä"]})
        await RedisEvents(redis, BEGUN.id).append("round", {"round": number})
        await RedisTranscript(redis, BEGUN.id, "gap-1").append({"said": number}, key=str(number))
    await RedisMemory(redis, BEGUN.id).add(*(entry(str(n), n / 7) for n in range(7)))
    answers = [ledger.put(f"digest {n}", {"text": f"{n} \ud83d"}) for n in range(MANY)]
    await asyncio.gather(*answers)
    await RedisApiKeys(redis).create("operator", name="ci")


async def goes_on(redis) -> None:
    """The job that waited comes to the next worker, the other goes on after its last step."""
    with closing(broker_of(redis)) as broker:
        queue = broker.consume(queue_of("small"), timeout=2000)
        message = await asyncio.to_thread(next, queue)
        assert message.args[0] == QUEUED.id
        queue.ack(message)
        await asyncio.to_thread(queue.close)
    jobs = RedisJobs(redis)
    assert await jobs.create(new_job(), idempotency_key="key-1/a") == (QUEUED.id, False)
    first = await JobLease.acquire(redis, QUEUED.id, 60_000)
    assert await first.update({}, status="running", expected=("queued",))
    second = await JobLease.acquire(redis, BEGUN.id, 60_000)
    assert int(second.token) == 2, "a token was given out twice"
    assert await RedisSteps(redis, BEGUN.id).get("round-2/rollouts") == {"n": [2, "ä"]}
    running, _ = await jobs.list(limit=9, status="running")
    assert {job.id for job in running} == {QUEUED.id, BEGUN.id}


def dump(server: RedisServer, path: Path) -> None:
    if shutil.which("redis-cli") is None:
        pytest.skip("no redis-cli on this machine; it comes with redis-server")
    command = ["redis-cli", "-u", server.url, "--rdb", str(path)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)


def restore(path: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", str(RESTORE), str(path), str(folder)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


async def test_a_dump_of_a_running_server_is_restored_on_an_empty_one(tmp_path) -> None:
    with RedisServer(tmp_path / "old") as old:
        async with connect(old.url, tmp_path) as redis:
            await fill_with_records(redis)
            await asyncio.to_thread(dump, old, tmp_path / "dump.rdb")
            saved = await contents(redis)
            await RedisSteps(redis, BEGUN.id).put("after the dump", {})
    assert len(saved) > 15
    assert restore(tmp_path / "dump.rdb", tmp_path / "new").returncode == 0
    with RedisServer(tmp_path / "new") as new:
        async with connect(new.url, tmp_path) as redis:
            assert await contents(redis) == saved
            await goes_on(redis)
        new.restart()
        async with connect(new.url, tmp_path) as redis:
            assert await RedisJobs(redis).count("running") == 2


async def test_a_dump_of_a_server_moves_into_an_embedded_one(tmp_path) -> None:
    with RedisServer(tmp_path / "old") as old:
        async with connect(old.url, tmp_path) as redis:
            await fill_with_records(redis)
            saved = await contents(redis)
        dump(old, tmp_path / "dump.rdb")
    assert restore(tmp_path / "dump.rdb", tmp_path / "data" / "valkey").returncode == 0
    async with connect(None, tmp_path / "data") as redis:
        assert await contents(redis) == saved
        await goes_on(redis)


async def test_a_copy_of_the_data_folder_is_a_backup_of_the_embedded_server(tmp_path) -> None:
    async with connect(None, tmp_path / "data") as redis:
        await fill_with_records(redis)
        saved = await contents(redis)
    shutil.copytree(tmp_path / "data", tmp_path / "copy")
    shutil.rmtree(tmp_path / "data")
    async with connect(None, tmp_path / "copy") as redis:
        assert await contents(redis) == saved
        await goes_on(redis)


async def test_a_copy_of_the_folder_of_a_stopped_server_is_a_backup(tmp_path) -> None:
    with RedisServer(tmp_path / "old") as old:
        async with connect(old.url, tmp_path) as redis:
            await fill_with_records(redis)
            saved = await contents(redis)
        old.stop()
        shutil.copytree(tmp_path / "old" / "appendonlydir", tmp_path / "new" / "appendonlydir")
    with RedisServer(tmp_path / "new") as new:
        async with connect(new.url, tmp_path) as redis:
            assert await contents(redis) == saved
            await goes_on(redis)


def test_a_restore_never_writes_over_data(tmp_path) -> None:
    (tmp_path / "dump.rdb").write_bytes(b"REDIS0010")
    (tmp_path / "data" / "appendonlydir").mkdir(parents=True)
    refused = restore(tmp_path / "dump.rdb", tmp_path / "data")
    assert (refused.returncode, "holds data already" in refused.stderr) == (2, True)
    assert list((tmp_path / "data" / "appendonlydir").iterdir()) == []
    missing = restore(tmp_path / "no.rdb", tmp_path / "new")
    assert (missing.returncode, "cannot be read" in missing.stderr) == (2, True)
    assert not (tmp_path / "new").exists()


def test_the_page_names_the_script_and_the_commands_that_are_tested() -> None:
    page = (RESTORE.parents[1] / "docs" / "operations.md").read_text()
    for said in ("docker/restore.sh", "--rdb", "appendonlydir", "BENCHFILL_DATA_DIR"):
        assert said in page, json.dumps(said)
