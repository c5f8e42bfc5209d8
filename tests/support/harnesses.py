"""The environment of other harnesses (`make harnesses`), and the local pool that they ask."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

ENVIRONMENT = Path(
    os.environ.get("BENCHFILL_HARNESSES", Path(__file__).resolve().parents[2] / ".venv-harnesses")
)
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "NO_COLOR": "1"}
_SECONDS = 900


def harness(name: str) -> Path:
    """Return a harness's program; skip where it is not installed."""
    program = ENVIRONMENT / "bin" / name
    if not program.is_file():
        pytest.skip(f"no {name} in {ENVIRONMENT.name}; run `make harnesses`")
    return program


def run_harness(program: Path, *words: str, folder: Path, **environment: str) -> str:
    """Run a harness in a folder; its output, and a failure that shows it."""
    settings = os.environ | OFFLINE | {"HF_HOME": str(folder / "hf")} | environment
    done = subprocess.run(
        [program, *words],
        cwd=folder,
        env=settings,
        text=True,
        capture_output=True,
        timeout=_SECONDS,
        check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-3000:]
    return said


def said_by(url: str, path: str, body: Mapping[str, Any]) -> str:
    """Return what the local model says, asked as a harness asks it."""
    request = urllib.request.Request(
        f"{url}/{path}",
        json.dumps({"model": "local", "temperature": 0, **body}).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=_SECONDS) as reply:
        choice = json.load(reply)["choices"][0]
    text = choice["message"]["content"] if "message" in choice else choice["text"]
    assert isinstance(text, str)
    return text
