"""The embedded Valkey loses nothing, serves all who use a folder, and ends with the last."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchfill.errors import InputError
from benchfill_services.store.embedded import embedded_valkey
from benchfill_services.store.server import EmbeddedServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from redis.asyncio import Redis

USER = Path(__file__).with_name("user_process.py")


class User:
    """Another process that has joined the server of a folder."""

    def __init__(self, data_dir: Path, key: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(USER), str(data_dir), key],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def server_pid(self) -> int:
        return int(self.process.stdout.readline())

    def leave(self) -> None:
        self.process.stdin.close()
        assert self.process.wait(20) == 0

    def close(self) -> None:
        self.process.kill()
        self.process.wait(20)
        self.process.stdin.close()
        self.process.stdout.close()


@pytest.fixture
def join() -> Iterator[Callable[[Path, str], User]]:
    users: list[User] = []

    def start(data_dir: Path, key: str) -> User:
        users.append(User(data_dir, key))
        return users[-1]

    yield start
    for user in users:
        user.close()


def is_running(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not yet reaped does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not (stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z")


def has_ended(pid: int) -> bool:
    deadline = time.monotonic() + 10
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_running(pid)


async def pid_of(redis: Redis) -> int:
    return (await redis.info("server"))["process_id"]


async def test_what_was_written_is_there_the_next_time(tmp_path) -> None:
    async with embedded_valkey(tmp_path) as redis:
        await redis.set("key", "kept")
        pid = await pid_of(redis)
    assert has_ended(pid)
    async with embedded_valkey(tmp_path) as redis:
        assert await redis.get("key") == "kept"
        assert await pid_of(redis) != pid


async def test_every_write_is_synced_and_no_port_is_open(tmp_path) -> None:
    async with embedded_valkey(tmp_path) as redis:
        found = await redis.config_get("appendonly", "appendfsync", "port")
    assert found == {"appendonly": "yes", "appendfsync": "always", "port": "0"}


async def test_data_survive_sigkill_of_the_server(tmp_path) -> None:
    async with embedded_valkey(tmp_path) as redis:
        await redis.set("key", "kept")
        os.kill(await pid_of(redis), signal.SIGKILL)
    async with embedded_valkey(tmp_path) as redis:
        assert await redis.get("key") == "kept"


async def test_a_killed_user_leaves_data_and_a_server_that_ends_with_the_next(
    tmp_path, join
) -> None:
    user = join(tmp_path, "key")
    pid = user.server_pid()
    user.close()
    assert is_running(pid)
    async with embedded_valkey(tmp_path) as redis:
        assert await pid_of(redis) == pid
        assert await redis.get("key") == "kept"
    assert has_ended(pid)


async def test_processes_that_start_at_once_share_one_server_until_the_last_leaves(
    tmp_path, join
) -> None:
    users = [join(tmp_path, f"key {number}") for number in range(3)]
    (pid,) = {user.server_pid() for user in users}
    users[0].leave()
    users[1].leave()
    assert is_running(pid)
    users[2].leave()
    assert has_ended(pid)


async def test_tasks_of_one_process_share_one_server(tmp_path) -> None:
    async def use() -> int:
        async with embedded_valkey(tmp_path) as redis:
            await asyncio.sleep(0.1)
            return await pid_of(redis)

    (pid,) = set(await asyncio.gather(use(), use(), use()))
    assert has_ended(pid)


async def test_coming_while_others_go_never_meets_a_dying_server(tmp_path) -> None:
    async def come_and_go(name: str) -> None:
        for visit in range(8):
            async with embedded_valkey(tmp_path) as redis:
                await redis.set(f"{name} {visit}", "kept")

    await asyncio.gather(*(come_and_go(name) for name in "abc"))
    async with embedded_valkey(tmp_path) as redis:
        assert await redis.dbsize() == 24


async def test_ctrl_c_in_the_terminal_does_not_reach_the_server(tmp_path, join) -> None:
    user = join(tmp_path, "key")
    pid = user.server_pid()
    async with embedded_valkey(tmp_path) as redis:
        os.killpg(user.process.pid, signal.SIGINT)
        user.process.stdin.close()
        user.process.wait(20)
        assert await redis.get("key") == "kept"
        assert await pid_of(redis) == pid
    assert has_ended(pid)


@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_a_forked_child_does_not_keep_the_server(tmp_path) -> None:
    server = EmbeddedServer(tmp_path)
    server.join()
    pid = int((tmp_path / "valkey" / "valkey.pid").read_text())
    child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(30,))
    child.start()
    server.leave()
    assert has_ended(pid)
    child.kill()
    child.join()


async def test_a_start_that_is_cancelled_leaves_no_server(tmp_path) -> None:
    async def use() -> None:
        async with embedded_valkey(tmp_path):
            await asyncio.sleep(60)

    task = asyncio.create_task(use())
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    pid_file = tmp_path / "valkey" / "valkey.pid"
    assert not pid_file.exists() or has_ended(int(pid_file.read_text()))


async def test_leftovers_of_a_crash_do_not_block(tmp_path) -> None:
    folder = tmp_path / "valkey"
    folder.mkdir()
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(folder / "valkey.sock"))
    (folder / "valkey.pid").write_text("1")
    (folder / "server.lock").write_text("/no/such/socket, and longer than the path that follows")
    async with embedded_valkey(tmp_path) as redis:
        assert await redis.ping()
    async with embedded_valkey(tmp_path) as redis:
        assert await redis.ping()


async def test_a_write_cut_short_by_a_crash_does_not_block(tmp_path) -> None:
    async with embedded_valkey(tmp_path) as redis:
        await redis.set("key", "kept")
    (history,) = (tmp_path / "valkey" / "appendonlydir").glob("*.incr.aof")
    with history.open("ab") as file:
        file.write(b"*3\r\n$3\r\nSET\r\n$3\r\nke")
    async with embedded_valkey(tmp_path) as redis:
        assert await redis.get("key") == "kept"


async def test_a_folder_with_a_long_path_and_odd_characters_works(tmp_path, join) -> None:
    data_dir = tmp_path / ("a 'long' \"päth\" " * 10)
    async with embedded_valkey(data_dir) as redis:
        pid = await pid_of(redis)
        user = join(data_dir, "key")
        assert user.server_pid() == pid
        user.leave()
        path = Path((await redis.config_get("unixsocket"))["unixsocket"])
        assert path.is_relative_to(tempfile.gettempdir())
        assert path.parent.stat().st_mode & 0o777 == 0o700
    assert has_ended(pid)
    assert not path.parent.exists()


@pytest.fixture
def short_temporary(monkeypatch) -> Iterator[Path]:
    """A temporary folder with a short path, whatever pytest calls its own."""
    with tempfile.TemporaryDirectory(prefix="bf-") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)


async def test_a_long_path_does_not_trust_a_folder_open_to_others(
    tmp_path, short_temporary
) -> None:
    data_dir = tmp_path / ("long" * 30)
    async with embedded_valkey(data_dir):
        (folder,) = short_temporary.glob("benchfill-*")
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(InputError, match="nobody else can enter"):
        async with embedded_valkey(data_dir):
            pass


async def test_a_folder_that_cannot_be_written_is_named(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"file/data: .*Not a directory.*BENCHFILL_DATA_DIR"):
        async with embedded_valkey(tmp_path / "file" / "data"):
            pass


async def test_data_that_cannot_be_loaded_are_named(tmp_path) -> None:
    async with embedded_valkey(tmp_path) as redis:
        await redis.set("key", "kept")
    (base,) = (tmp_path / "valkey" / "appendonlydir").glob("*.base.rdb")
    content = base.read_bytes()
    base.write_bytes(b"VALKEY" + b"999" + content[9:])
    with pytest.raises(InputError, match=r"did not start \(.*RDB.*version 999.*newer version"):
        async with embedded_valkey(tmp_path):
            pass
    base.write_bytes(content)
    async with embedded_valkey(tmp_path) as redis:
        assert await redis.get("key") == "kept"


def test_leaving_twice_or_without_joining_is_harmless(tmp_path) -> None:
    server = EmbeddedServer(tmp_path)
    server.leave()
    server.join()
    server.leave()
    server.leave()
