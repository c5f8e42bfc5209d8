"""A world whose truth is known: sums with known difficulties, models with known abilities.

`answer` is a script for the scripted provider: a model called ``ability-1.20`` answers a sum
correctly with the probability that the 1PL gives it. The same request always gets the same answer;
how many of a model's first n answers to a sum are right is the same in every run too. So it is not
the seed that decides, which hangs on the server's port, but how many other seeds came before it.
`write_benchmark` writes a benchmark of that world with a hole, and the pool that answers it.
"""

from __future__ import annotations

import hashlib
import math
import re
import threading
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchfill.formats.delimited import write_responses
from benchfill.items import Slot, Template
from benchfill.responses import ResponseMatrix
from benchfill_agents.templates import instantiate
from support.openai_api import Reply, Request

if TYPE_CHECKING:
    from pathlib import Path

    from benchfill.items import Item

ABILITIES = tuple(round(theta, 2) for theta in np.linspace(-2.2, 2.2, 12))
PREFIX = "ability-"
HOLE = (-1.0, -0.1)
SUM = re.compile(r"(\d+) \+ (\d+) =")
TEMPLATE = Template(
    name="sum",
    text="{a} + {b} =",
    slots={"a": Slot(low=1, high=99), "b": Slot(low=1, high=99)},
    answer="a + b",
)


def difficulty(a: int, b: int) -> float:
    """True difficulty of a sum, logits: size, carry, and something of its own."""
    own = _uniform(f"{a}+{b}") - 0.5
    return -5.0 + 1.2 * math.log1p(a + b) + 0.7 * (a % 10 + b % 10 >= 10) + 0.6 * own


def _uniform(text: str) -> float:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) / 2**64


def answer(request: Request) -> Reply:
    """Answer the last sum of a request as the model of that ability would."""
    a, b = map(int, SUM.findall(request.prompt)[-1])
    theta = float(request.model.removeprefix(PREFIX))
    chance = 1 / (1 + math.exp(difficulty(a, b) - theta))
    place = _place(
        f"{request.headers.get('host')} {request.model} {a} {b}", request.body.get("seed")
    )
    drawn = _uniform(f"{request.model} {a} {b} {place}")
    return Reply(text=str(a + b if drawn < chance else a + b + 1))


_seen: defaultdict[str, dict[object, int]] = defaultdict(dict)
_seeing = threading.Lock()


def _place(asked: str, seed: object) -> int:
    """Number the seeds with which a model of a server is asked a sum, as they come."""
    with _seeing:
        seeds = _seen[asked]
        return seeds.setdefault(seed, len(seeds))


@dataclass(frozen=True)
class Benchmark:
    """The files of a benchmark."""

    items: Path
    responses: Path
    pool: Path


def write_benchmark(folder: Path, url: str, *, items: int = 40, k: int = 64) -> Benchmark:
    """Write items, responses and pool of a benchmark without sums in the hole."""
    rng = np.random.default_rng(7)
    chosen: dict[str, Item] = {}
    while len(chosen) < items:
        a, b = (int(value) for value in np.exp(rng.uniform(0, 4.5, size=2)))
        if not HOLE[0] < difficulty(a, b) < HOLE[1]:
            item = instantiate(TEMPLATE, {"a": a, "b": b}, f"sum-{a}-{b}")
            chosen[item.id] = item
    places = Benchmark(folder / "items.jsonl", folder / "responses.csv", folder / "pool.yaml")
    places.items.write_text("".join(f"{item.model_dump_json()}\n" for item in chosen.values()))
    hardness = np.array([difficulty(*item.values.values()) for item in chosen.values()])  # type: ignore[arg-type]
    chance = 1 / (1 + np.exp(hardness - np.array(ABILITIES)[:, None]))
    correct = rng.binomial(k, chance)
    names = tuple(f"{PREFIX}{theta}" for theta in ABILITIES)
    write_responses(
        ResponseMatrix(names, tuple(chosen), correct, np.full_like(correct, k)), places.responses
    )
    models = "".join(
        f"  - {{name: {one}, model: openai/{one}, api_base: '{url}', max_concurrency: 4,"
        " parameters: {seed: per_sample}}\n"
        for one in names
    )
    places.pool.write_text(f"scoring: numeric\nmodels:\n{models}")
    return places
