"""The study of docs/fill-study.md runs, and the same seeds give the same table."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

STUDY = Path(__file__).parents[1] / "studies" / "fills" / "run.py"


def table(*options: str) -> str:
    command = [sys.executable, str(STUDY), "--smoke", "--processes", "1", *options]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout


def test_a_small_study_is_the_same_again(tmp_path: Path) -> None:
    first = table("--block", "estimated", "--out", str(tmp_path))
    assert first == table("--block", "estimated")
    rows = [line for line in first.splitlines() if line.startswith("| normal")]
    assert len(rows) == 6  # five numbers of rollouts, and the baseline of one
    for name in ("fill-study-reliability.png", "fill-study-reliability-dark.png", "figures.json"):
        assert (tmp_path / name).stat().st_size > 1_000
