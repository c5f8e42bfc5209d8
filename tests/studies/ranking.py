"""Do the intervals of `rank_models` cover, and how often do pairs truly flip?

Models with slopes of their own (log sd .3) and items with quirks of their own (logit sd .5), so
that curves cross. The items are a sample from a bank: D_B is to cover the difference over the whole
bank, D_mu the difference over the frozen scale under the uniform target. What a place on the fitted
scale means in the bank's own logits is taken from a fit of the same items at 1,000 rollouts a cell.

Prints Markdown tables. python tests/studies/ranking.py [banks, 60]
"""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from scipy.special import expit

from benchfill import DifficultyScale, fit_1pl, rank_models
from support.simulated import matrix_of

if TYPE_CHECKING:
    from benchfill.ranking.result import Interval

QUIRK, SLOPE = 0.5, 0.3
NODES, MASSES = np.polynomial.hermite_e.hermegauss(21)
GRID = (np.arange(400) + 0.5) / 400
SETTINGS = (  # models, items, rollouts a cell
    (12, 30, 4),
    (12, 100, 1),
    (12, 100, 4),
    (12, 100, 32),
    (12, 400, 1),
    (12, 400, 4),
    (40, 400, 1),
)
COLUMNS = ("score", "score, target", "D_B", "D_mu")
BINS = ((0.0, 0.05), (0.05, 0.2), (0.2, 0.35), (0.35, 1.01))


@dataclass
class Tally:
    """What was covered on each bank, and the fate of pairs by P(flip)."""

    covered: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    pairs: list[tuple[float, bool, bool]] = field(default_factory=list)


def curve(
    theta: np.ndarray, slope: np.ndarray, b: np.ndarray
) -> np.ndarray:  # (J, G), quirks averaged out
    logit = slope[:, None, None] * (theta[:, None, None] - b[None, :, None]) + QUIRK * NODES
    return (expit(logit) * MASSES).sum(-1) / MASSES.sum()


def one_bank(rng: np.random.Generator, setting: tuple[int, int, int], tally: Tally) -> None:
    models, items, k = setting
    theta = rng.normal(0, 1, models)
    slope = rng.normal(0, SLOPE, models)
    slope = np.exp(slope - slope.mean())
    b = rng.normal(0, 1.3, items)
    p = expit(slope[:, None] * (theta[:, None] - b) + rng.normal(0, QUIRK, (models, items)))
    fit = fit_1pl(matrix_of(rng.binomial(k, p), k), engine="map")
    ranking = rank_models(fit, seed=int(rng.integers(1 << 31)))
    fine = fit_1pl(matrix_of(rng.binomial(1000, p), 1000), engine="map")
    rise, start = np.polyfit(fine.b, b, 1)
    on_bank = curve(theta, slope, rng.normal(0, 1.3, 4000)).mean(1)
    on_scale = curve(theta, slope, start + rise * DifficultyScale.of(fit.b).to_b(GRID)).mean(1)
    place = {f"m{j}": j for j in range(models)}
    hits: dict[str, list[bool]] = {name: [] for name in COLUMNS}
    for one in ranking.scores:
        j = place[one.model]
        hits["score"].append(holds(one.benchmark.score, on_bank[j]))
        hits["score, target"].append(holds(one.target.score, on_scale[j]))
    for pair in ranking.likeliest_flips:
        j, other = place[pair.ahead], place[pair.behind]
        d_bank, d_scale = on_bank[j] - on_bank[other], on_scale[j] - on_scale[other]
        hits["D_B"].append(holds(pair.d_benchmark, d_bank))
        hits["D_mu"].append(holds(pair.d_target, d_scale))
        wrong = pair.order == "same" and d_scale < 0
        tally.pairs.append((pair.p_flip, bool(d_bank * d_scale < 0), bool(wrong)))
    for name, found in hits.items():
        tally.covered[name].append(float(np.mean(found)))


def holds(interval: Interval, truth: float) -> bool:
    return bool(interval.q05 <= truth <= interval.q95)


def main(banks: int) -> None:
    tallies = []
    print(f"Coverage of 90% intervals, {banks} banks a row.\n")
    print(f"| models | items | k | {' | '.join(COLUMNS)} |\n|{'---|' * 7}")
    for setting in SETTINGS:
        rng = np.random.default_rng(setting)
        tally = Tally()
        for _ in range(banks):
            one_bank(rng, setting, tally)
        tallies.append(tally)
        cells = (*setting, *(f"{np.mean(tally.covered[name]):.3f}" for name in COLUMNS))
        print(f"| {' | '.join(map(str, cells))} |", flush=True)
    pairs = [pair for tally in tallies for pair in tally.pairs]
    print("\nPairs by P(flip), and the share whose order truly differs.\n")
    print("| P(flip) | pairs | mean P(flip) | truly flipped |\n|---|---|---|---|")
    for low, high in BINS:
        held = np.array([(p, truly) for p, truly, _ in pairs if low <= p < high])
        print(
            f"| {low:g} to {min(high, 1):g} | {len(held):,} | {held[:, 0].mean():.3f} | "
            f"{held[:, 1].mean():.3f} |"
        )
    wrong = sum(pair[2] for pair in pairs)
    print(
        f"\nPairs called stable whose order under the target is the other one: {wrong:,} of "
        f"{len(pairs):,} pairs."
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
