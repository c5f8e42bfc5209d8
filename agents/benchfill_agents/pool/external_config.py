"""What the pool file says of a member that is an external runner."""

from __future__ import annotations

import shlex

RUNNER = "runner"
_OF_MODELS = ("model", "api_base", "api_key_env", "style", "shots", "examples", "parameters")


def runner_fields(data: object) -> object:
    """Check a member's fields as they were written, and name the model of a runner.

    Raises ValueError.
    """
    if not isinstance(data, dict) or data.get(RUNNER) is None:
        if isinstance(data, dict) and data.get("runner_env"):
            raise ValueError("runner_env is for a member with a runner")
        return data
    command = data[RUNNER]
    if not isinstance(command, str):
        raise ValueError("runner is a command, for example `python run.py`")  # noqa: TRY004 - of data
    words_of(command)
    for name in _OF_MODELS:
        if name in data and (name, data[name]) != ("model", RUNNER):
            raise ValueError(f"a runner is a program of its own, and has no {name}; remove it")
    return {**data, "model": RUNNER}


def words_of(command: str) -> list[str]:
    """Split a command as a shell would; no shell runs it. Raises ValueError."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"the runner {command!r} is no command ({error})") from None
    if not words:
        raise ValueError("the runner is empty; give a command, for example `python run.py`")
    return words
