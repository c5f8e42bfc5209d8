"""Fills with real models: `python tests/studies/fills/local.py [SEEDS] [ROLLOUTS]`.

The sample benchmark, the template rewriter and the local model, as in `benchfill demo`. Each chosen
item is then asked afresh, so many times of each of the twelve members, with other seeds, and placed
by those answers alone: that is the truth that the fill's own statement is held against. About five
minutes a seed on two idle cores.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import benchfill as bf
from benchfill.child import child_posterior
from benchfill.items import Item
from benchfill.measure import DifficultyScale
from benchfill_agents.sample import pool_path, responses_path

COLUMNS = ("seed", "p_in_gap", "stated z", "z afresh", "gap", "deviation", "inside", "rollouts")


@dataclass(frozen=True)
class Place:
    """A difficulty and its 90% interval, z."""

    z: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.z:.3f} ({self.low:.3f}–{self.high:.3f})"


def command(words: list[str], home: Path) -> str:
    """Run `benchfill` with a data folder of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchfill_services", *words],
        env=os.environ | {"BENCHFILL_DATA_DIR": str(home)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


def afresh(item: Item, count: int, folder: Path) -> Place:
    """Ask every member about an item again and place it by those answers alone."""
    pool = folder / "pool.yaml"
    text = pool_path().read_text(encoding="utf-8")
    pool.write_text(text.replace("seed: per_sample", "seed: null"), encoding="utf-8")
    items, out = folder / "item.jsonl", folder / "responses.csv"
    items.write_text(item.model_dump_json(exclude_none=True) + "\n", encoding="utf-8")
    words = ["rollouts", "--items", str(items), "--pool", str(pool), "-k", str(count)]
    command([*words, "--out", str(out)], folder / "fresh")
    answers = bf.read_responses(out)
    matrix = bf.read_responses(responses_path())
    fit = bf.fit_1pl(matrix, engine="map", seed=0)
    place = [answers.models.index(name) for name in matrix.models]
    found = child_posterior(answers.correct[place, 0], answers.n[place, 0], fit.draws.thin(500))
    low, middle, high = DifficultyScale.of(fit.b).to_z(
        np.array([found.quantile(q) for q in (0.05, 0.5, 0.95)])
    )
    return Place(float(middle), float(low), float(high))


def one(seed: int, count: int) -> tuple[str, ...]:
    """Fill the sample's gap once and ask about the chosen item afresh."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        words = ["demo", "--seed", str(seed), "--json", "--out", str(folder / "out")]
        told: dict[str, Any] = json.loads(command(words, folder / "fill"))
        (gap,) = told["fills"]
        chosen = gap["chosen"]
        if chosen is None:
            return (str(seed), *("–",) * (len(COLUMNS) - 1))
        item = Item(id=chosen["item"], question=chosen["question"], answer=chosen["answer"])
        true = afresh(item, count, folder)
    middle = (gap["z_left"] + gap["z_right"]) / 2
    return (
        str(seed),
        f"{chosen['p_in_gap']:.3f}",
        str(Place(chosen["z"], chosen["q05"], chosen["q95"])),
        str(true),
        f"{gap['z_left']:.3f}–{gap['z_right']:.3f}",
        f"{abs(true.z - middle):.3f}",
        "yes" if gap["z_left"] < true.z < gap["z_right"] else "no",
        f"{told['rollouts_total']:,}",
    )


def main() -> None:
    """Print a row a seed."""
    seeds, count = (int(word) for word in (*sys.argv[1:], "3", "96")[:2])
    print(f"| {' | '.join(COLUMNS)} |\n| ---: {'| ---: ' * (len(COLUMNS) - 1)}|")
    for seed in range(seeds):
        print(f"| {' | '.join(one(seed, count))} |", flush=True)


if __name__ == "__main__":
    main()
