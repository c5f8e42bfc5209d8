"""A fill put together from real parts: fit, calibrations, messages. No model is asked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

import benchfill as bf
from benchfill.items import Item
from benchfill_agents.anchors import AnchorReport, judge
from benchfill_agents.borders import Border, BorderReport
from benchfill_agents.calibrator import Bench, Measurement
from benchfill_agents.fill_report import Chosen, FillReport, FillResult, RunAgain
from benchfill_agents.memory import MemoryEntry
from benchfill_agents.messages import Assignment, CalibrationRound, Retrieval, Rewriting, Validation
from benchfill_agents.pool.config import Pool, PoolModel
from benchfill_agents.rewriter import Child
from benchfill_agents.target import FillTarget, targets_of
from benchfill_agents.top_three import Insertions
from benchfill_agents.validator import Finding, Verdict
from support.simulated import abilities, respond

if TYPE_CHECKING:
    from benchfill.diagnosis import Diagnosis
    from benchfill.onepl import Fit1PL
    from benchfill_agents.calibrator import Calibration

ENVELOPE = {
    "schema_version": 1,
    "benchfill_version": "0.1.0",
    "command": "fill",
    "seed": 7,
    "inputs": {"bench/items.jsonl": "ab" * 32, "bench/responses.csv": "cd" * 32},
}
HOSTILE = (
    "<script>alert(1)</script><img src=http://evil.example/x onerror=alert(2)>\"'>"
    "</style></td><b>$\\frac{</b> {{ 7*7 }} \u202etxt.exe\u202c \x1b[31mred\x00 \u200bzero &amp; "
)


@dataclass(frozen=True)
class FillExample:
    """What a report is written from."""

    fit: Fit1PL
    diagnosis: Diagnosis
    report: FillReport
    transcripts: dict[str, list[dict[str, Any]]]


@cache
def gapped_fit(
    *, models: int = 12, items: int = 40, k: int = 24, prefix: str = "", seed: int = 3
) -> Fit1PL:
    """A fit of simulated answers to items with a wide hole in the middle."""
    rng = np.random.default_rng(seed)
    z = np.sort(rng.random(items))
    z[: items // 2] *= 0.75
    z[items // 2 :] = 0.55 + 0.45 * z[items // 2 :]
    b = -3 + 6 * np.sort(z)
    answers = respond(rng, abilities(rng, models), b, k)
    named = bf.ResponseMatrix(
        models=tuple(f"{prefix}model-{name}" for name in answers.models),
        items=tuple(f"{prefix}item-{name}" for name in answers.items),
        correct=answers.correct,
        n=answers.n,
    )
    return bf.fit_1pl(named, engine="map")


@cache
def make_fill(text: str = "", *, gaps: int = 2, rounds: int = 2, per_round: int = 8) -> FillExample:
    """A fill of the widest gaps, the last of them not filled; `text` stands in all texts."""
    fit = gapped_fit(prefix=text)
    diagnosis = bf.diagnose(fit)
    names = fit.responses.models
    pool = Pool(models=tuple(PoolModel(name=name, model=f"openai/{name[-3:]}") for name in names))
    bench = Bench.of(fit, pool)
    rng = np.random.default_rng(11)
    maker = _Maker(bench, text, rng)
    insertions = Insertions(fit)
    targets = targets_of(diagnosis, max_gaps=gaps, include_unresolved=True)
    fills, transcripts = [], {}
    for number, target in enumerate(targets, start=1):
        spread = 0.12 if number < gaps or gaps == 1 else 0.0
        children = [maker.child(target, f"{number}-{k}") for k in range(rounds * per_round)]
        measured = [maker.measure(child, target, spread) for child in children]
        accepted = [one for one in measured if one.outcome == "accepted"]
        best = max(accepted, key=lambda one: one.p_in_gap, default=None)
        top = insertions.with_child(target, best, dict(zip(names, names, strict=True)))
        result = _result(target, children, measured, best, top)
        fills.append(result.model_copy(update={"borders": _borders(target)}))
        transcripts[target.id] = maker.transcript(target, children, measured, rounds)
    return FillExample(
        fit,
        diagnosis,
        FillReport(
            anchors=_anchors(bench, rng), fills=tuple(fills), rollouts_total=1893, seconds=41.3
        ),
        transcripts,
    )


def _borders(target: FillTarget) -> BorderReport:
    """The left border was vague."""
    if target.left_item is None:
        return BorderReport()
    moved = Border(
        item=target.left_item,
        z_before=target.z_left - 0.021,
        z=target.z_left,
        sd_before=0.062,
        sd=0.015,
        counts=(),
    )
    return BorderReport(borders=(moved,), rollouts=96)


class _Maker:
    def __init__(self, bench: Bench, text: str, rng: np.random.Generator) -> None:
        self.bench, self.text, self.rng = bench, text, rng
        self.parent = MemoryEntry(
            item=Item(id=bench.items[3], question=f"{text}12 + 6 =", answer="18"), z=0.2, sd=0.02
        )

    def child(self, target: FillTarget, name: str) -> Child:
        values = self.rng.integers(10, 99, 2)
        item = Item(
            id=f"{self.parent.item.id}~{name}",
            question=f"{self.text}{values[0]} + {values[1]} =",
            answer=f"{values.sum()}{self.text}",
        )
        return Child(
            item=item,
            parent_id=self.parent.item.id,
            target_z=target.z,
            rewriter="template",
            what_changed=f"{self.text}a: 12 -> {values[0]}",
            rationale=f"{self.text}Larger addends carry.",
        )

    def measure(self, child: Child, target: FillTarget, spread: float) -> Calibration:
        """Answer a child of a true difficulty near the target; `spread` 0 puts all far outside."""
        away = self.rng.normal(0, spread) if spread else 1.4 * (target.width + 0.05)
        b = float(self.bench.scale.to_b(target.z + away))
        n = np.full(len(self.bench.models), 24)
        correct = self.rng.binomial(n, 1 / (1 + np.exp(b - self.bench.theta)))
        measured = Measurement(child.item.id, 0.0, correct, n, n.copy())
        p = measured.calibration(self.bench, target, "undecided").p_in_gap
        outcome = "accepted" if p >= 0.9 else "outside" if p < 0.05 else "undecided"
        return measured.calibration(self.bench, target, outcome)

    def transcript(
        self,
        target: FillTarget,
        children: list[Child],
        measured: list[Calibration],
        rounds: int,
    ) -> list[dict[str, Any]]:
        said = [_message("Task", Assignment(round=1, target=target))]
        size = len(children) // rounds
        for number in range(1, rounds + 1):
            part = slice((number - 1) * size, number * size)
            verdicts = tuple(
                Verdict(item=one.item.id, findings=(Finding(check="schema", passed=True),))
                for one in children[part]
            )
            valid = tuple(children[part])
            said += [
                _message(
                    "Retriever",
                    Retrieval(round=number, parents=(self.parent,), below=(), above=()),
                ),
                _message("Rewriter", Rewriting(round=number, attempt=0, children=valid)),
                _message(
                    "Validator",
                    Validation(
                        round=number,
                        attempt=0,
                        verdicts=verdicts,
                        valid=valid,
                        rejected=(),
                        repair=False,
                    ),
                ),
                _message(
                    "Calibrator",
                    CalibrationRound(
                        round=number, calibrations=tuple(measured[part]), done=number == rounds
                    ),
                ),
            ]
        return said


def _message(author: str, content: Any) -> dict[str, Any]:
    return {
        "author": author,
        "kind": type(content).__name__.lower(),
        "round": content.round,
        "at": "2026-11-30T00:12:04.512+00:00",
        "text": content.summary(),
        "content": content.model_dump(mode="json"),
    }


def _result(
    target: FillTarget,
    children: list[Child],
    measured: list[Calibration],
    best: Calibration | None,
    top: Any,
) -> FillResult:
    chosen = None
    if best is not None:
        child = next(one for one in children if one.item.id == best.item)
        kept = best.model_dump(include={"z", "q05", "q95", "p_in_gap", "b_hat", "se", "counts"})
        chosen = Chosen(
            item=child.item.id,
            parent=child.parent_id,
            question=child.item.question,
            answer=child.item.answer,
            **kept,
        )
    return FillResult(
        gap=target.id,
        midpoint=target.z,
        z_left=target.z_left,
        z_right=target.z_right,
        left_item=target.left_item,
        right_item=target.right_item,
        status="filled" if chosen else "resolution_limited",
        chosen=chosen,
        rounds=2,
        children=len(children),
        valid=len(children),
        rollouts=sum(one.rollouts for one in measured),
        top_k_sum=top,
        run_again=None
        if chosen
        else RunAgain(items=(target.left_item or "", target.right_item or ""), models=("m",)),
        calibrations=tuple(measured),
    )


def _anchors(bench: Bench, rng: np.random.Generator) -> AnchorReport:
    anchors = bench.items[::5]
    b = bench.draws.b.mean(0)[::5]
    n = np.full((len(bench.models), len(anchors)), 3)
    correct = rng.binomial(n, 1 / (1 + np.exp(b - bench.theta[:, None])))
    correct[0] = 3 - correct[0]
    return AnchorReport(
        used=True,
        items=anchors,
        rollouts=int(n.sum()),
        models=judge(bench, anchors, correct.astype(float), n),
    )
