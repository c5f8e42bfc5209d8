"""Real attacks on the sandbox; docs/domains.md states what came of each."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchfill_agents.domains.sandbox import Limits, NoSandboxError, Outcome, run_python
from benchfill_agents.domains.sandbox import bubblewrap as bubblewrap_module

if TYPE_CHECKING:
    from collections.abc import Iterator

QUICK = Limits(seconds=5, cpu_seconds=2, memory_mb=128, disk_mb=4, output_kb=64)


def attack(program: str, limits: Limits = QUICK, **files: str) -> Outcome:
    return run_python({"main.py": textwrap.dedent(program), **files}, limits=limits)


def survivors(folder: Path) -> list[int]:
    """Processes of the sandboxes with jobs in a folder; the first inside bears bwrap's words.

    While it lives, others may: with it the kernel ends all in its process namespace.
    """
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if f"{folder}/benchfill-job-".encode() in words:
                found.append(int(entry.name))
    return found


@pytest.fixture(autouse=True)
def jobs(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """Where this test's sandboxes have their files; at its end none may be left."""
    folder = tmp_path_factory.mktemp("jobs")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    deadline = time.monotonic() + 20
    while survivors(folder) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not survivors(folder)


def test_a_program_reads_and_prints() -> None:
    done = attack("import helper; print(helper.x, end='')", **{"helper.py": "x = 'é'"})
    assert (done.ending, done.code, done.stdout, done.clean) == ("exited", 0, "é", True)
    echoed = run_python(
        {"main.py": "import sys; print(len(sys.stdin.read()))"}, stdin="x" * 3_000_000
    )
    assert echoed.stdout == "3000000\n"
    assert run_python({"main.py": "pass"}, stdin="x" * 3_000_000).clean


def test_a_failure_says_why() -> None:
    done = attack("raise SystemExit(7)")
    assert (done.ending, done.code, done.clean) == ("exited", 7, False)
    assert "ZeroDivisionError" in attack("1 / 0").stderr


def test_an_endless_loop_ends_by_its_processor_time() -> None:
    done = attack("while True: pass")
    assert not done.clean
    assert done.code == 128 + signal.SIGKILL or done.ending == "time"
    assert done.seconds < 8


def test_a_sleeper_ends_by_the_clock() -> None:
    done = attack("import time; time.sleep(100)", QUICK.model_copy(update={"seconds": 1}))
    assert done.ending == "time"
    assert done.seconds < 3


def test_closing_its_outputs_does_not_set_a_program_free() -> None:
    done = attack(
        "import os, time\nfor k in range(3): os.close(k)\ntime.sleep(100)",
        QUICK.model_copy(update={"seconds": 1}),
    )
    assert done.ending == "time"


def test_a_fork_bomb_stays_small() -> None:
    done = attack(
        """
        import os, time
        made = 0
        try:
            while True:
                if os.fork() == 0:
                    time.sleep(30)
                    os._exit(0)
                made += 1
        except OSError as error:
            print(made, error.errno, flush=True)
        """
    )
    made, errno = map(int, done.stdout.split())
    assert made < QUICK.processes
    assert errno == 11  # EAGAIN


def test_an_exponential_fork_bomb_ends() -> None:
    limits = QUICK.model_copy(update={"seconds": 2})
    done = attack(
        """
        import os
        while True:
            try:
                os.fork()
            except OSError:
                pass
        """,
        limits,
    )
    assert not done.clean
    assert done.seconds < 6


def test_threads_count_as_processes() -> None:
    done = attack(
        """
        import threading, time
        made = 0
        try:
            for _ in range(500):
                threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
                made += 1
        except RuntimeError:
            print(made, flush=True)
        """
    )
    assert int(done.stdout) < QUICK.processes


def test_a_memory_bomb_gets_a_memory_error() -> None:
    done = attack("x = bytearray(10**9)")
    assert done.code == 1
    assert "MemoryError" in done.stderr


def test_memory_is_bounded_over_all_processes() -> None:
    done = attack(
        """
        import os, time
        for _ in range(8):
            if os.fork() == 0:
                x = bytearray(b'x') * 60_000_000
                time.sleep(30)
        time.sleep(30)
        """
    )
    assert done.ending == "memory"


def test_memory_that_processes_share_is_bounded_too() -> None:
    done = attack(
        """
        import mmap, os, time
        kept = []
        for _ in range(8):
            if os.fork() == 0:
                shared = mmap.mmap(-1, 60_000_000)
                for _ in range(60):
                    shared.write(b'x' * 1_000_000)
                time.sleep(30)
        time.sleep(30)
        """
    )
    assert done.ending == "memory"


@pytest.mark.parametrize(
    "call",
    [
        "libc.unshare(0x10000000)",  # a user namespace, and with it mounts
        "libc.unshare(0x00020000)",
        "libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)",
        "libc.shmget(0, 1_000_000, 0o1600)",
        "libc.syscall(319 if os.uname().machine == 'x86_64' else 279, b'x', 0)",  # memfd_create
        "libc.syscall(56 if os.uname().machine == 'x86_64' else 220, 0x10000011, 0, 0, 0, 0)",
        "libc.ptrace(0, 0, 0, 0)",
    ],
)
def test_ways_around_the_bounds_are_closed(call: str) -> None:
    done = attack(
        f"""
        import ctypes, os
        libc = ctypes.CDLL(None, use_errno=True)
        print({call}, os.strerror(ctypes.get_errno()))
        """
    )
    assert done.stdout == "-1 Operation not permitted\n", done.stderr


def test_files_are_counted() -> None:
    done = attack("k = 0\nwhile True:\n    open(f'/tmp/{k}', 'w').close()\n    k += 1")
    assert done.ending == "files"


def test_nothing_outside_can_be_written(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("as it was")
    victim.chmod(0o666)
    places = [
        str(victim),
        str(tmp_path / "new"),
        "/usr/x",
        "/x",
        "/dev/x",
        "/dev/shm/x",
        "/etc/x",
        "/job/x",
        "/job/main.py",
        "/proc/sys/kernel/hostname",
        "/var/x",
        sys.base_prefix + "/x",
        "/root/x",
        "/home/x",
    ]
    done = attack(
        f"""
        places = {places!r}
        for place in places:
            try:
                open(place, 'a').write('gone')
            except OSError:
                continue
            print('wrote', place)
        """
    )
    assert (done.stdout, done.code) == ("", 0)
    assert victim.read_text() == "as it was"
    assert [path.name for path in tmp_path.iterdir()] == ["victim"]


def test_the_disk_is_not_filled(tmp_path: Path) -> None:
    done = attack(
        """
        import os
        written = 0
        try:
            for k in range(10_000):
                with open(f'/tmp/{k}', 'wb') as file:
                    written += file.write(b'x' * 100_000)
        except OSError as error:
            print(written, error.errno)
        """
    )
    written, errno = map(int, done.stdout.split())
    assert written <= QUICK.disk_mb * 1024 * 1024
    assert errno == 28  # ENOSPC


def test_our_files_are_not_there(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    places = [
        str(secret),
        "/etc/passwd",
        "/etc/shadow",
        "/home",
        "/var",
        "/run",
        "/sys",
        str(Path(__file__)),
    ]
    done = attack(
        f"""
        import os
        for place in {places!r}:
            print(os.path.exists(place))
        print(os.listdir('/tmp'))
        """
    )
    assert done.stdout.split() == ["False"] * 8 + ["[]"]


def test_no_socket_reaches_anything(tmp_path: Path) -> None:
    heard: list[str] = []
    path, abstract = str(tmp_path / "socket"), f"\0benchfill-{os.getpid()}"
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as by_path,
        socket.socket(socket.AF_UNIX) as by_name,
    ):
        by_path.bind(path)
        by_name.bind(abstract)
        Path(path).chmod(0o777)
        for server in (tcp, by_path, by_name):
            server.listen()
            server.settimeout(8)
            threading.Thread(target=_accept, args=(server, heard), daemon=True).start()
        port = tcp.getsockname()[1]
        # the servers are there for us
        socket.create_connection(("127.0.0.1", port)).close()
        done = attack(
            f"""
            import socket
            def attempt(family, kind, address):
                try:
                    with socket.socket(family, kind) as one:
                        one.settimeout(2)
                        one.connect(address)
                        one.send(b'secret')
                    print('reached', address)
                except OSError as error:
                    print('no')
            attempt(socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', {port}))
            attempt(socket.AF_INET, socket.SOCK_STREAM, ('192.0.2.1', 80))
            attempt(socket.AF_INET, socket.SOCK_DGRAM, ('192.0.2.1', 53))
            attempt(socket.AF_INET6, socket.SOCK_STREAM, ('::1', {port}))
            attempt(socket.AF_UNIX, socket.SOCK_STREAM, {path!r})
            attempt(socket.AF_UNIX, socket.SOCK_STREAM, {abstract!r})
            """
        )
        assert done.stdout.split() == ["no"] * 6
    assert heard == ["tcp"]


def _accept(server: socket.socket, heard: list[str]) -> None:
    try:
        while True:
            connection, _ = server.accept()
            heard.append("tcp" if server.family == socket.AF_INET else "unix")
            connection.close()
    except OSError:
        return


def test_the_environment_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POOL_KEY", "sk-very-secret-0123456789")
    done = attack(
        """
        import glob, os
        print(sorted(os.environ))
        for place in glob.glob('/proc/*/environ') + glob.glob('/proc/*/cmdline'):
            try:
                print(open(place, 'rb').read())
            except OSError:
                pass
        """
    )
    assert done.stdout.startswith("['HOME', 'LANG', 'PWD']\n")
    assert "very-secret" not in done.stdout
    assert "POOL_KEY" not in done.stdout


def test_no_process_of_ours_is_seen_or_killed() -> None:
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        done = attack(
            f"""
            import os, signal
            print(len([e for e in os.listdir('/proc') if e.isdigit()]))
            print(any(os.path.exists(f'/proc/{{pid}}') for pid in ({os.getpid()}, {bystander.pid})))
            for pid in ({os.getpid()}, {bystander.pid}, os.getppid(), 1):
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            print('still here', flush=True)
            os.kill(-1, signal.SIGKILL)
            """
        )
        seen, ours, *_ = done.stdout.splitlines()
        assert int(seen) <= 3
        assert ours == "False"
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_privileges_do_not_come_back() -> None:
    done = attack(
        """
        import os, socket
        for attempt in (lambda: os.setuid(0) if os.getuid() else os.chroot('/'),
                        lambda: os.chroot('/tmp'),
                        lambda: os.mknod('/tmp/disk', 0o60666, os.makedev(8, 0)),
                        lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW)):
            try:
                attempt()
                print('done')
            except OSError:
                print('no')
        """
    )
    assert done.stdout.split() == ["no"] * 4


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_printing_gigabytes_ends(stream: str) -> None:
    done = attack(f"import sys\nwhile True: sys.{stream}.write('x' * 100_000)")
    assert done.ending == "output"
    assert len(done.stdout) + len(done.stderr) < 10 * 64 * 1024


def test_what_a_program_left_in_the_pipe_is_bounded_too() -> None:
    done = attack("import os; os.write(1, b'x' * 65_536); os.write(2, b'y' * 65_536)")
    assert done.ending == "output"


def test_a_daemon_does_not_outlive_its_program() -> None:
    done = attack(
        """
        import os, signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                for k in range(3):
                    os.close(k)
                time.sleep(1000)
            os._exit(0)
        print('left', flush=True)
        """
    )
    assert done.stdout == "left\n"
    assert done.seconds < 5  # and the fixture looks for it


def test_the_death_of_benchfill_ends_the_program(jobs: Path) -> None:
    program = textwrap.dedent(
        """
        from benchfill_agents.domains.sandbox import Limits, run_python
        run_python({"main.py": "import time; time.sleep(250)"}, limits=Limits(seconds=300))
        """
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program], env=os.environ | {"TMPDIR": str(jobs)}
    )
    deadline = time.monotonic() + 60
    while len(survivors(jobs)) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(survivors(jobs)) >= 2
    # between its fork and its prctl bwrap does not yet hang on its parent: a known moment of its
    # start in which a death is missed, and the program then lives until its bound (docs/domains.md)
    time.sleep(3)
    parent.kill()
    parent.wait()


def test_without_a_sandbox_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap_module, "_candidates", list)
    with pytest.raises(NoSandboxError, match="install bubblewrap"):
        attack("print(1)")
    monkeypatch.setattr(bubblewrap_module, "_candidates", lambda: ["/bin/false"])
    with pytest.raises(NoSandboxError, match="permit user namespaces"):
        attack("print(1)")


def test_a_folder_in_the_temporary_folder_can_be_shown(tmp_path: Path) -> None:
    (tmp_path / "seen.txt").write_text("seen")
    job = tmp_path / "job"
    job.mkdir()
    tmp_path.chmod(0o755)
    with bubblewrap_module.open_filter() as syscalls:
        words = bubblewrap_module.require_sandbox().command(
            job, disk_mb=1, syscalls=syscalls, shown=[str(tmp_path)]
        )
        read = f"print(open({str(tmp_path / 'seen.txt')!r}).read(), end='')"
        done = subprocess.run(
            [*words, *bubblewrap_module.interpreter(), "-c", read],
            check=False,
            capture_output=True,
            pass_fds=[syscalls],
            env={},
            timeout=60,
        )
    assert done.stdout == b"seen", done.stderr
