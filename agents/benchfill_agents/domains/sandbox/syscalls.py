"""A filter of system calls: what would get around the sandbox's bounds is refused by the kernel.

New user namespaces would bring back mounts, and mounts, shared memory and memory files would be
memory that no bound counts. The rest is what programs in a test never need and exploits like.
"""

from __future__ import annotations

import errno
import platform
import struct

_NEW_USER = 0x10000000
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NR, _ARCH, _FIRST_ARGUMENT = 0, 4, 16
_X32 = 0x40000000  # numbers of x86-64's other ABI

# audit's name of the architecture, clone, clone3, and the refused ones by name
_TABLES: dict[str, tuple[int, int, int, dict[str, int]]] = {
    "x86_64": (
        0xC000003E,
        56,
        435,
        {
            "shmget": 29, "ptrace": 101, "pivot_root": 155, "mount": 165, "umount2": 166,
            "add_key": 248, "request_key": 249, "keyctl": 250, "unshare": 272,
            "perf_event_open": 298, "open_by_handle_at": 304, "setns": 308,
            "process_vm_readv": 310, "process_vm_writev": 311, "memfd_create": 319, "bpf": 321,
            "userfaultfd": 323, "io_uring_setup": 425, "open_tree": 428, "move_mount": 429,
            "fsopen": 430, "memfd_secret": 447,
        },
    ),
    "aarch64": (
        0xC00000B7,
        220,
        435,
        {
            "umount2": 39, "mount": 40, "pivot_root": 41, "unshare": 97, "ptrace": 117,
            "shmget": 194, "add_key": 217, "request_key": 218, "keyctl": 219,
            "perf_event_open": 241, "open_by_handle_at": 265, "setns": 268,
            "process_vm_readv": 270, "process_vm_writev": 271, "memfd_create": 279, "bpf": 280,
            "userfaultfd": 282, "io_uring_setup": 425, "open_tree": 428, "move_mount": 429,
            "fsopen": 430, "memfd_secret": 447,
        },
    ),
}  # fmt: skip


def filter_program() -> bytes | None:
    """Return the filter as the kernel reads it (classic BPF); None on other processors."""
    table = _TABLES.get(platform.machine())
    if table is None:
        return None
    arch, clone, clone3, refused = table
    lines = [
        (_LOAD, 0, 0, _ARCH),
        (_JUMP_EQUAL, 1, 0, arch),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NR),
        (_JUMP_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _KILL),
    ]
    for number in refused.values():
        lines += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERRNO | errno.EPERM)]
    lines += [
        # its flags are behind a pointer; "unknown" makes the C library use clone
        (_JUMP_EQUAL, 0, 1, clone3),
        (_RETURN, 0, 0, _ERRNO | errno.ENOSYS),
        (_JUMP_EQUAL, 0, 3, clone),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_JUMP_SET, 0, 1, _NEW_USER),
        (_RETURN, 0, 0, _ERRNO | errno.EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *line) for line in lines)
