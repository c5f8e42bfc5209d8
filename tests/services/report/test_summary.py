"""The summaries on the terminal."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

import benchfill as bf
from benchfill_services.report.summary import print_diagnosis, print_fill
from support.fills import HOSTILE, gapped_fit, make_fill


def _console(width: int = 80) -> tuple[Console, io.StringIO]:
    text = io.StringIO()
    return Console(file=text, width=width, force_terminal=False), text


@pytest.mark.parametrize("name", ["", HOSTILE], ids=["plain", "hostile"])
def test_a_fill_ends_with_its_figures_and_the_report(name: str) -> None:
    example = make_fill(name)
    console, text = _console()
    print_fill(console, example.report, Path("out"))
    said = text.getvalue()
    chosen, top = example.report.fills[0].chosen, example.report.fills[0].top_k_sum
    assert chosen is not None
    assert f"{chosen.z:.3f}, 90% interval {chosen.q05:.3f} to {chosen.q95:.3f}" in said
    assert f"before {top.before:.3f}, after {top.after:.3f}, oracle {top.oracle:.3f}" in said
    assert f"{chosen.p_in_gap:.3f}" in said
    assert "resolution limited" in said
    (moved,) = example.report.fills[0].borders.borders
    again = f"{moved.z_before:.3f} ± 0.062, measured again {moved.z:.3f} ± 0.015"
    assert again in " ".join(said.split())
    assert said.splitlines()[-1] == "report       out/report.html"
    assert max(len(line) for line in said.splitlines()) <= 80
    assert not {"\x1b", "\x00", "\u202e"} & set(said)


@pytest.mark.parametrize("name", ["", HOSTILE], ids=["plain", "hostile"])
@pytest.mark.parametrize("width", [80, 60])
def test_a_diagnosis_fits_the_terminal(name: str, width: int) -> None:
    console, text = _console(width)
    print_diagnosis(console, bf.diagnose(gapped_fit(items=16, k=2, prefix=name)))
    said = text.getvalue()
    assert max(len(line.rstrip()) for line in said.splitlines()) <= width
    assert "mismatch (DDM)" in said
    assert "verdict" in said


def test_a_path_is_never_broken() -> None:
    console, text = _console()
    path = Path("a" * 100)
    print_fill(console, make_fill(gaps=1).report, path)
    assert f"{path}/report.html" in text.getvalue()
