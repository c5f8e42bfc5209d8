"""The process that reads mathematics with math-verify; see `math`. Started by path.

SymPy may need for ever, or all memory, for a short line, so that whoever asks waits for so long and
then ends this process. Requests and answers are JSON, one a line.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import resource
import sys
from typing import Any

_MEMORY = 2 * 1024**3


def main() -> None:
    """Take on bounds, import what takes long, and answer until standard input closes."""
    uid = int(sys.argv[1])
    if uid:  # we are root in the sandbox
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    sys.path.extend(sys.argv[2:])
    for what, bound in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_AS, _MEMORY),
    ):
        resource.setrlimit(what, (bound, bound))
    logging.disable()
    answers = sys.stdout
    sys.stdout = io.StringIO()  # what a library prints is no answer
    import math_verify  # noqa: PLC0415 - after the bounds

    answers.write('{"ready": true}\n')
    answers.flush()
    for line in sys.stdin:
        answers.write(json.dumps(_answer(math_verify, json.loads(line))) + "\n")
        answers.flush()


def _answer(math_verify: Any, request: dict[str, str]) -> dict[str, bool | None]:
    """Say whether both are mathematics, and whether they are the same."""
    try:
        reference = _parse(math_verify, request["reference"])
        answer = _parse(math_verify, request["answer"])
        equal = bool(
            reference
            and answer
            and math_verify.verify(reference, answer, timeout_seconds=None, strict=True)
        )
    except (Exception, RecursionError, MemoryError):  # of SymPy, whatever it is
        return {"reference": None, "answer": None, "equal": False}
    return {"reference": bool(reference), "answer": bool(answer), "equal": equal}


def _parse(math_verify: Any, text: str) -> list[Any]:
    """Read one expression, in LaTeX or plain; empty when the text is none."""
    bare = text.strip().strip("$").strip()
    found: list[Any] = []
    for written in (f"${bare}$", text):
        with contextlib.suppress(Exception):
            # strings are what it falls back to when it cannot read the words that it found
            found = [
                one
                for one in math_verify.parse(written, parsing_timeout=None)
                if not isinstance(one, str)
            ]
        if found:
            break
    return found


if __name__ == "__main__":
    main()
