"""The file of jobs: what it gives, and how a wrong one is refused."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from benchfill.errors import InputError
from benchfill_services.batch.job_files import known_job
from benchfill_services.batch.jobs_file import read_jobs
from benchfill_services.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

GOOD = """\
at_once: 2
budget: {rollouts: 5000, usd: 3}
defaults:
  pool: pool.yaml
  rewriter: template
  budget: {rollouts: 900}
jobs:
  - name: amc
    items: amc/items.jsonl
    responses: amc/responses.csv
    gaps: 2
    seed: 4
  - items: aime/items.jsonl
    responses: /far/responses.csv
    pool: other.yaml
    at: [0.4, 1]
    budget: {usd: 1.5}
    anchors: false
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "jobs.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_jobs_take_from_the_defaults_what_they_leave_out(tmp_path: Path) -> None:
    jobs = read_jobs(write(tmp_path, GOOD), tmp_path / "out")
    first, second = (one.request for one in jobs.jobs)
    assert [one.name for one in jobs.jobs] == ["amc", "job-2"]
    assert (jobs.at_once, jobs.budget.rollouts, jobs.budget.usd) == (2, 5000, 3.0)
    assert first.items == tmp_path / "amc/items.jsonl"
    assert (first.pool, first.out) == (tmp_path / "pool.yaml", tmp_path / "out/amc")
    assert (first.max_gaps, first.seed, first.rewriter) == (2, 4, "template")
    assert (first.budget_rollouts, first.budget_usd) == (900, None)
    assert str(second.responses) == "/far/responses.csv"
    assert (second.pool, second.at) == (tmp_path / "other.yaml", (0.4, 1.0))
    # a budget is replaced as a whole
    assert (second.budget_rollouts, second.budget_usd, second.anchors) == (None, 1.5, False)


WRONG = {
    "unknown field": (GOOD.replace("gaps: 2", "gap: 2"), 11, "jobs[0].gap", "no field"),
    "text for a number": (GOOD.replace("gaps: 2", "gaps: two"), 11, "jobs[0].gaps", "integer"),
    "out of range": (GOOD.replace("seed: 4", "seed: -4"), 12, "jobs[0].seed", "greater"),
    "deep": (GOOD.replace("usd: 1.5", "usd: -1"), 17, "jobs[1].budget.usd", "greater"),
    "a number for a truth": (GOOD.replace("false", "0"), 18, "jobs[1].anchors", "boolean"),
    "missing": (GOOD.replace("  pool: pool.yaml\n", ""), 7, "jobs[0].pool", "missing"),
    "twins": (GOOD.replace("- items", "- name: AMC\n    items"), 13, "jobs[1].name", "'AMC'"),
    "a path": (GOOD.replace("name: amc", "name: ../amc"), 8, "jobs[0].name", "letters, digits"),
    "twice": (GOOD.replace("seed: 4", "gaps: 4"), 12, None, "'gaps' stands twice"),
    "alias": ("a: &x 1\nb: *x\n", 2, None, "aliases"),
    "no YAML": ("jobs: [\n", 2, None, "not valid YAML"),
    "no jobs": ("jobs: []\n", 1, "jobs", "has no job in it"),
    "nothing": ("at_once: 1\n", 1, "jobs", "is missing"),
    "empty": ("", 1, None, "is empty; it needs `jobs:`"),
    "only a comment": ("# to do\n", 1, None, "is empty"),
    "a list": ("- a\n", 1, None, "mapping"),
    "a number for a list": (GOOD.replace("[0.4, 1]", "0.4"), 16, "jobs[1].at", "must be a list"),
    "no such place": (GOOD.replace("[0.4, 1]", "[0.4, 7]"), 16, "jobs[1].at[1]", "less than"),
    "no defaults": ("defaults: 3\njobs: [{}]\n", 1, "defaults", "must be a mapping"),
    "a list as key": ("? [a]\n: 1\n", 1, None, "key must be a word"),
}


@pytest.mark.parametrize("case", WRONG)
def test_an_error_names_file_line_and_field(case: str, tmp_path: Path) -> None:
    text, line, field, said = WRONG[case]
    path = write(tmp_path, text)
    with pytest.raises(InputError, match=said) as caught:
        read_jobs(path, tmp_path)
    assert (caught.value.source, caught.value.line) == (str(path), line)
    assert caught.value.field == field


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a: " + b"[" * 3000])
def test_odd_bytes_are_one_sentence(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "jobs.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError):
        read_jobs(path, tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        read_jobs(tmp_path / "none.yaml", tmp_path)


def test_a_jobs_missing_file_is_told_with_the_jobs_line(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    (tmp_path / "pool.yaml").write_text("models: [{name: m, model: openai/m}]\n")
    named = read_jobs(path, tmp_path / "out").jobs
    for job, line, file in ((named[0], 8, "amc/items.jsonl"), (named[1], 13, "other.yaml")):
        with pytest.raises(InputError) as caught:
            known_job(job, Settings(data_dir=tmp_path / "data"))
        assert str(caught.value).replace("No such", "no such") == (
            f"{path}, line {line}: {tmp_path / file}: cannot be read (no such file or directory)."
        )


def test_the_file_is_read_before_what_takes_seconds_is_loaded() -> None:
    """A misspelt key is told at once: neither PyMC nor litellm is imported for it."""
    code = (
        "import sys, benchfill_services.batch.jobs_file as _;"
        "print(sorted({'pymc', 'litellm', 'autogen_agentchat', 'scipy'} & set(sys.modules)))"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert said.strip() == "[]"
