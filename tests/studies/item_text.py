"""What sentence embeddings tell of difficulty, and of what says the same. Prints two tables.

python tests/studies/item_text.py [FOLDER]

FOLDER holds `zeroeval_gsm8k` (items.jsonl and matrix.csv) and `gsm8k_openai2021` (matrix.csv).
"""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import benchfill as bf
from benchfill.measure import DifficultyScale
from benchfill_agents.calibrator.learned import LearnedDifficulty
from benchfill_agents.embeddings import SentenceEmbedder
from benchfill_agents.memory import MemoryEntry
from benchfill_agents.validator.duplicates import THRESHOLD
from support.sentences import KNOWN, PARAPHRASES

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data"
SIZES, DRAWS, FOLDS = (60, 200), 20, 10


def main(folder: Path) -> None:
    """Print both tables."""
    source = folder / "zeroeval_gsm8k" / "items.jsonl"
    if not source.exists():
        print(f"{source} is not there; nothing was done.")
        return
    rows = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    items = [bf.Item(id=r["id"], question=r["question"], answer=r["answer"]) for r in rows]
    embedder = SentenceEmbedder()
    start = time.process_time()
    embedder.embed([item.question for item in items])
    print(f"embedding {len(items)} questions took {time.process_time() - start:.0f} s of CPU\n")
    difficulty(folder, items, embedder)
    cosines(items, embedder)
    print(f"\n{time.process_time() - start:.0f} s of CPU in all")


def difficulty(folder: Path, items: Sequence[bf.Item], embedder: SentenceEmbedder) -> None:
    """Print how well difficulty is guessed, on all items and on some."""
    print(
        "| matrix | models | items | r, left out | 90% interval | r, folds | misses by | spread |"
    )
    print("| --- | ---: | ---: | ---: | --- | ---: | ---: | ---: |")
    for name in ("zeroeval_gsm8k", "gsm8k_openai2021"):
        matrix = bf.read_responses(folder / name / "matrix.csv")
        fit = bf.fit_1pl(matrix, engine="map")
        scale = DifficultyScale.of(fit.b)
        known = {item.id: item for item in items}
        # the older matrix names the same questions, in their order, otherwise
        asked = [known.get(one, items[k]) for k, one in enumerate(matrix.items)]
        entries = [
            MemoryEntry(item=item, z=float(scale.to_z(b)), sd=float(sd / scale.width))
            for item, b, sd in zip(asked, fit.b, fit.b_sd, strict=True)
        ]
        spread = float(fit.draws.s_b.mean() / scale.width)
        models = len(matrix.models)
        report = LearnedDifficulty(entries, embedder, prior_sd=spread).report
        print(
            f"| {name} | {models} | {len(entries)} | {report.r:.2f} | {report.r_q05:.2f} to "
            f"{report.r_q95:.2f} | {folded(entries, embedder, spread):.2f} | {report.sd:.3f} | "
            f"{spread:.3f} |"
        )
        rng = np.random.default_rng(5)
        for size in SIZES:
            found = [
                LearnedDifficulty(
                    [entries[k] for k in rng.permutation(len(entries))[:size]],
                    embedder,
                    prior_sd=spread,
                ).report
                for _ in range(DRAWS)
            ]
            r = np.array([one.r for one in found])
            print(
                f"| {name}, {DRAWS} draws | {models} | {size} | {np.median(r):.2f} | draws: "
                f"{np.quantile(r, 0.05):.2f} to {np.quantile(r, 0.95):.2f}; used in "
                f"{sum(one.used for one in found)} | – | "
                f"{np.median([one.sd for one in found]):.3f} | {spread:.3f} |"
            )


def folded(entries: list[MemoryEntry], embedder: SentenceEmbedder, spread: float) -> float:
    """Return r of guesses whose penalties, too, were chosen without the items guessed."""
    order = np.random.default_rng(0).permutation(len(entries))
    guessed = np.full(len(entries), np.nan)
    for fold in np.array_split(order, FOLDS):
        kept = [entries[k] for k in np.setdiff1d(order, fold)]
        learned = LearnedDifficulty(kept, embedder, prior_sd=spread)
        found = learned.guess([entries[k].item for k in fold])
        if found is not None:
            guessed[fold] = [one.mean for one in found]
    there = ~np.isnan(guessed)
    z = np.array([entry.z for entry in entries])
    return float(np.corrcoef(guessed[there], z[there])[0, 1]) if there.sum() > 2 else float("nan")


def cosines(items: Sequence[bf.Item], embedder: SentenceEmbedder) -> None:
    """Print how near questions are to others, to themselves with other numbers, and in words."""
    vectors = embedder.embed([item.question for item in items])
    between = vectors @ vectors.T
    np.fill_diagonal(between, -1)
    rng = np.random.default_rng(0)
    few = [item.question for item in items[:200]]
    varied = embedder.embed([re.sub(r"\d+", lambda m: _other(m[0], rng), text) for text in few])
    said = embedder.embed([PARAPHRASES[item.id] for item in KNOWN])
    itself = embedder.embed([item.question for item in KNOWN])
    sums = embedder.embed(["12 + 7 =", "13 + 8 =", "What is 12 plus 7?"])
    print("\n| what is compared | pairs | 5% | median | 95% | at .90 or above |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, values in (
        ("a question with its nearest", between.max(1)),
        ("a question with itself, other digits", (vectors[:200] * varied).sum(1)),
        ("a question with its paraphrase", (itself * said).sum(1)),
        ("`12 + 7 =` with `13 + 8 =`", sums[:1] @ sums[1]),
        ("`12 + 7 =` with `What is 12 plus 7?`", sums[:1] @ sums[2]),
    ):
        low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
        share = float((values >= THRESHOLD).mean())
        print(f"| {name} | {len(values)} | {low:.2f} | {middle:.2f} | {high:.2f} | {share:.1%} |")


def _other(number: str, rng: np.random.Generator) -> str:
    return str(max(1, int(int(number) * rng.uniform(1.2, 9))))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
