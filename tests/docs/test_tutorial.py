"""The tutorial runs, and shows what its commands print.

Blocks marked ``sh`` are run from a folder that looks like a clone, those marked ``shell`` are not.
A block marked ``text`` shows the output of the commands before it, parts left out as a line ``…``.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from typer.testing import CliRunner

from benchfill_services.cli import app

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _run(line: str) -> str:
    """Run one line as a user would, commands of ours in this process."""
    words = shlex.split(line, comments=True)
    if words[0] == "cd":
        os.chdir(words[1])
        return ""
    if words[0] == "benchfill":
        done = CliRunner().invoke(app, words[1:])
        assert done.exit_code == 0, f"{line}\n{done.output}"
        return done.stdout
    return subprocess.run(["bash", "-c", line], check=True, capture_output=True, text=True).stdout


def _same(text: str) -> str:
    """Lines are broken as wide as the terminal is."""
    return " ".join(text.split())


def test_every_command_runs_and_prints_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "agents").symlink_to(ROOT / "agents")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BENCHFILL_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "200")  # wide enough that no cell of a table is broken
    printed, ran = "", 0
    for kind, block in BLOCK.findall(PAGE):
        if kind == "sh":
            whole = block.replace("\\\n", "")
            printed = "".join(_run(line) for line in whole.splitlines())
            ran += len(re.findall("^benchfill ", block, re.MULTILINE))
        elif kind == "text":
            at = 0
            for part in block.split("…\n"):
                at = _same(printed).find(_same(part), at)
                assert at >= 0, f"{part}\nis not in what was printed:\n{printed}"
    assert ran >= 6


def test_every_picture_is_there_on_both_papers() -> None:
    for page in (ROOT / "docs").glob("*.md"):
        for name in re.findall(r"\]\((img/[\w-]+)\.png\)", page.read_text(encoding="utf-8")):
            for suffix in ("", "-dark"):
                assert (ROOT / "docs" / f"{name}{suffix}.png").is_file(), f"{page.name}: {name}"
