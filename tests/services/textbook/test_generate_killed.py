"""The real command, killed in the middle of each stage: what was received is never bought again.

The provider's log counts. A kill may cost the calls that are out in that moment, since a reply on
its way reaches nobody: for writers that is one, as there is never more than one. Ctrl-C costs none.
"""

from __future__ import annotations

import json
import shutil
import signal
from collections import Counter
from typing import TYPE_CHECKING

import pytest

import benchfill as bf
from benchfill_services.store.fits import FOLDER, fit_of_items, kept_fit
from support import textbook_world as world
from support.arithmetic_world import PREFIX, write_benchmark
from support.generate_command import Spooled, ended, finished, place_hash, provider
from support.textbook_stages import CHAPTER, COMPETENCY, STAGES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.generate_command import Provider

pytestmark = pytest.mark.slow
ROLES = {"trace_review": "Verifier", "final_check": "Verifier", "solve": "Solver"}
KILLED = [stage for stage in STAGES if stage != "outcome"]  # no model is asked for the outcome


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder that holds the benchmark's fit, which takes longer than all else here."""
    folder = tmp_path_factory.mktemp("fitted")
    files = write_benchmark(folder, "http://127.0.0.1:9/v1")
    items, responses = bf.read_items(files.items), bf.read_responses(files.responses)
    kept_fit(folder, fit_of_items(items, responses, "mcmc", 0))
    return folder / FOLDER


def words_of(stage: str, folder: Path, source: Path, provider: Provider) -> list[str]:
    """The command that comes through a stage: chapter, one competency, one item."""
    words = ["generate", "--source", str(source), "--out", str(folder / "out"), "--json"]
    pool = world.write_pool(folder, provider.url)
    if stage == "taxonomy":
        others = sorted(source.parent.glob("0*.md"))
        words = [*words, *(w for one in others if one != source for w in ("--source", str(one)))]
        return [*words, "--pool", str(pool), "--propose-taxonomy", str(folder / "proposed.yaml")]
    taxonomy, blueprint = world.taxonomy(), world.blueprint(1)
    kept = [one for one in taxonomy["areas"][0]["competencies"] if one["id"] == COMPETENCY]
    taxonomy["areas"][0]["competencies"] = kept
    blueprint["cells"] = [one for one in blueprint["cells"] if one["competency"] == COMPETENCY]
    for name, content in (("taxonomy", taxonomy), ("blueprint", blueprint)):
        (folder / f"{name}.json").write_text(json.dumps(content))
        words += [f"--{name}", str(folder / f"{name}.json")]
    if stage != "calibrate":
        return [*words, "--pool", str(pool)]
    files = write_benchmark(folder, provider.url)
    judges = pool.read_text().removeprefix("models:\n")
    files.pool.write_text(f"{files.pool.read_text()}judges:\n{judges}")
    return [
        *(*words, "--pool", str(files.pool), "--aim-gap", str(files.responses)),
        *("--items", str(files.items), "--max-gaps", "1", "--min-p-in-gap", "0.5"),
        *("--budget-rollouts", "120", "--tries", "1"),
    ]


def in_the_middle(stage: str, data: Path, provider: Provider) -> Callable[[], bool]:
    """Whether the stage's call is out; of the models that measure, many calls at a time."""
    if stage == "calibrate":
        return lambda: sum(one.model.startswith(PREFIX) for one in provider.records) >= 5
    wanted = place_hash(ROLES.get(stage, "Designer"), STAGES[stage])
    return lambda: wanted in Spooled.of(data).places


@pytest.mark.parametrize("stage", KILLED)
def test_sigkill_in_the_middle_of_each_stage(
    stage: str, tmp_path: Path, shared_data: Path, fitted: Path
) -> None:
    source = shared_data / "textbook" / "carpentries_python_inflammation" / f"{CHAPTER}.md"
    data = tmp_path / "data"
    shutil.copytree(fitted, data / FOLDER)
    with provider("textbook_stages.py:reply", tmp_path / "log.jsonl", 0.2) as asked:
        words = words_of(stage, tmp_path, source, asked)
        ended(words, data, in_the_middle(stage, data, asked), signal.SIGKILL)
        at_kill = Spooled.of(data)
        assert len(at_kill.out) <= (48 if stage == "calibrate" else 1)
        document = finished(words, data)
        seeds = Counter(one.body["seed"] for one in asked.records)
        # nothing that was received is asked for again; what is asked twice was out at the kill
        twice = {seed for seed, count in seeds.items() if count > 1}
        assert twice <= at_kill.out
        assert set(seeds) == Spooled.of(data).received
        if stage == "taxonomy":
            assert document["competencies"] == len(world.COMPETENCIES)
            return
        assert len(document["in_flight_lost"]) == len(at_kill.out)
        assert len(document["accepted"]) == 1
        (item,) = bf.read_items(tmp_path / "out" / "items.jsonl")
        assert "coefs = [2, 4, 3]" in item.question


def test_sigkill_then_ctrl_c_then_the_end(tmp_path: Path, shared_data: Path) -> None:
    """On the four chapters; killed and interrupted at the worst moment, when a reply was sent."""
    data = tmp_path / "data"
    folder = shared_data / "textbook" / "carpentries_python_inflammation"
    sources = [word for path in sorted(folder.glob("0*.md")) for word in ("--source", str(path))]
    with provider("textbook_world.py:reply", tmp_path / "log.jsonl", 0.05) as asked:
        taxonomy, blueprint = world.write_plan(tmp_path, 1)
        words = [
            *("generate", *sources, "--pool", str(world.write_pool(tmp_path, asked.url))),
            *("--taxonomy", str(taxonomy), "--blueprint", str(blueprint)),
            *("--out", str(tmp_path / "out"), "--json"),
        ]
        ended(words, data, lambda: asked.answered >= 9, signal.SIGKILL)
        out = Spooled.of(data).out
        assert len(out) <= 1
        code, said = ended(words, data, lambda: asked.answered >= 25, signal.SIGINT)
        assert code == 130
        assert json.loads(said)["status"] == "interrupted"
        assert not Spooled.of(data).out - out
        document = finished(words, data)
        assert document["status"] == "complete"
        seeds = Counter(one.body["seed"] for one in asked.records)
        assert {seed for seed, count in seeds.items() if count > 1} <= out
        assert sum(one["calls"] for one in document["spent"]) == len(seeds)
