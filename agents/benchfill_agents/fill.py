"""A fill: from a fitted benchmark to chosen new items, one team for each gap.

Every step's result is recorded before the next begins, under keys that are the same whenever the
same job runs again: a killed fill continues at the first step without a record.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from benchfill.errors import BudgetExhaustedError, InputError

from .anchors import AnchorReport, check_anchors
from .borders import BorderReport, BorderSurvey, Ground
from .calibrator import CalibrationPlan, Calibrator, Measurement, RewriterHabits
from .checking import Checking, learn_from_text
from .fill_report import Chosen, FillReport, FillResult, RunAgain, TopThree
from .memory import MemoryEntry
from .messages import CalibrationRound, Rewriting, Validation
from .retriever import Retriever
from .spending import Allowance
from .team import GapTeam
from .team_agents import CalibratorAgent, RetrieverAgent, RewriterAgent, ValidatorAgent
from .top_three import Insertions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from autogen_core.models import ChatCompletionClient

    from benchfill.items import Item
    from benchfill.onepl import Fit1PL

    from .calibrator import Bench, Calibration
    from .calibrator.learned import LearnedDifficulty, LearnedReport
    from .embeddings import Embedder
    from .fill_report import Status
    from .memory import Memory
    from .pool.config import Pool
    from .pool.rollouts import RolloutRunner
    from .rewriter import Child, Rewriter, Shortfall
    from .steps import StepRecord
    from .target import FillTarget
    from .validator.judge import Judge

ANCHOR_SAMPLES = 1_000_000
BORDER_SAMPLES = 10_000_000_000  # times the gap's number; anchors lie below


@dataclass(frozen=True)
class FillOptions:
    """How a fill is done."""

    rounds: int = 8
    plan: CalibrationPlan = field(default_factory=CalibrationPlan)
    anchors: bool = True
    templates_only: bool = True
    learn_from_text: bool = True
    """Whether difficulty is guessed from the text, where the fill has an embedder."""
    seed: int = 0


class Transcript(Protocol):
    """Keeps what a team said, by gap."""

    async def append(self, gap: str, message: dict[str, Any], *, key: str) -> None:
        """Keep a message; the first one of a key stays."""
        ...


@dataclass(frozen=True, eq=False)
class FillParts:
    """What a fill works with: the fitted benchmark, the pool, and where things are kept."""

    job: str
    fit: Fit1PL
    items: Sequence[Item]
    pool: Pool
    runner: RolloutRunner
    memory: Memory
    steps: StepRecord
    transcript: Transcript
    rewriter: Rewriter
    shortfalls: list[Shortfall]
    model_client: ChatCompletionClient
    allowance: Allowance = field(default_factory=Allowance)
    judge: Judge | None = None
    judge_name: str | None = None
    embedder: Embedder | None = None


@dataclass
class _Search:
    """What one team has done so far."""

    rounds: int = 0
    children: int = 0
    valid: int = 0
    rollouts: int = 0
    chosen: str | None = None
    borders: BorderReport = field(default_factory=BorderReport)

    def __post_init__(self) -> None:
        self.written: dict[str, Child] = {}
        self.calibrations: dict[str, Calibration] = {}

    def note(self, content: Any) -> None:
        """Count what a message says."""
        if isinstance(content, Rewriting):
            self.children += len(content.children)
            self.written |= {child.item.id: child for child in content.children}
        elif isinstance(content, CalibrationRound):
            self.rounds = content.round
            self.rollouts += content.rollouts
            self.chosen = content.chosen
            self.calibrations |= {one.item: one for one in content.calibrations}
        elif isinstance(content, Validation) and not content.repair:
            self.valid += len(content.valid)


class Fill:
    """Fills targets of one benchmark, one after another."""

    def __init__(
        self,
        parts: FillParts,
        options: FillOptions,
        on_message: Callable[[FillTarget, str, Any], None] | None = None,
    ) -> None:
        self._parts, self._options = parts, options
        self._on_message = on_message
        self._allowance = parts.allowance
        self._ground = Ground.of(parts.fit, parts.pool)
        self._insertions = Insertions(parts.fit)
        self._habits = RewriterHabits()  # of one rewriter, over all gaps
        self._children: dict[str, tuple[Child, Calibration]] = {}
        self._job_seed = int(parts.job[:8], 16)
        self._checking = Checking(
            parts.pool.scoring,
            judge=parts.judge,
            embedder=parts.embedder,
            templates_only=options.templates_only,
        )
        self._learned: LearnedDifficulty | None = None

    @property
    def _bench(self) -> Bench:
        return self._ground.bench

    async def run(self, targets: Sequence[FillTarget]) -> FillReport:
        """Fill the targets; an interrupt or a spent budget ends with what there is."""
        start = time.perf_counter()
        results: list[FillResult] = []
        anchors = AnchorReport(used=self._options.anchors)
        learned: LearnedReport | None = None
        ended: Status | None = None
        try:
            await self._remember_items()
            if targets:  # without one, anchors would be paid for nothing
                self._learned, learned = await self._learn()
                anchors = await self._anchors()
        except BudgetExhaustedError:
            ended = "budget_exhausted"
        except asyncio.CancelledError:
            ended = "interrupted"
        for number, target in enumerate(targets, start=1):
            if ended is not None:
                results.append(self._result(target, _Search(), ended))
                continue
            result = await self._fill(target, number)
            results.append(result)
            if result.status in {"budget_exhausted", "interrupted"}:
                ended = result.status
        return FillReport(
            anchors=anchors,
            fills=tuple(results),
            judge=self._parts.judge_name,
            checks=self._checking.report(),
            learned=learned,
            misfit=self._bench.misfit,
            rollouts_total=self._allowance.used,
            seconds=time.perf_counter() - start,
        )

    async def _remember_items(self) -> None:
        fit, scale = self._parts.fit, self._bench.scale
        place = {item: i for i, item in enumerate(fit.responses.items)}
        matched = [item for item in self._parts.items if item.id in place]
        if not matched:
            raise InputError(
                "no item of the items file stands in the responses; their ids must be the same."
            )
        await self._parts.memory.add(
            *(
                MemoryEntry(
                    item=item,
                    z=float(scale.to_z(fit.b[place[item.id]])),
                    sd=float(fit.b_sd[place[item.id]] / scale.width),
                )
                for item in matched
            )
        )

    async def _learn(self) -> tuple[LearnedDifficulty | None, LearnedReport]:
        prior_sd = float(self._bench.draws.s_b.mean() / self._bench.scale.width)
        return await learn_from_text(
            self._parts.memory,
            self._parts.embedder,
            prior_sd=prior_sd,
            templates_only=self._options.templates_only,
            wanted=self._options.learn_from_text,
        )

    async def _anchors(self) -> AnchorReport:
        """Check the pool once a job; its report is a recorded step like any other."""
        if not self._options.anchors:
            return AnchorReport(used=False)
        recorded = await self._parts.steps.get("anchors")
        if recorded is None:
            report = await check_anchors(
                self._bench,
                self._parts.items,
                self._parts.runner,
                self._allowance,
                ANCHOR_SAMPLES + self._job_seed,
            )
            await self._parts.steps.put("anchors", report.model_dump(mode="json"))
        else:
            report = AnchorReport.model_validate(recorded)
            self._allowance.used += report.rollouts
        self._ground = self._ground.checked(report, (self._options.seed, self._job_seed))
        return report

    async def _survey(self, target: FillTarget, number: int, search: _Search) -> FillTarget:
        """Measure the gap's borders again where they are too vague, and return where it lies."""
        key = f"{target.id}/borders"
        recorded = await self._parts.steps.get(key)
        if recorded is None:
            survey = BorderSurvey(
                self._ground,
                target,
                {item.id: item for item in self._parts.items},
                self._calibrator,
                BORDER_SAMPLES * number + self._job_seed,
            )
            search.borders = await survey.run()
            await self._parts.steps.put(key, search.borders.model_dump(mode="json"))
        else:
            search.borders = BorderReport.model_validate(recorded)
            self._allowance.used += search.borders.rollouts
        if not search.borders.borders:
            return target
        self._ground = self._ground.with_answers(search.borders.answers)
        self._insertions.measured_again(self._ground.fit)
        return self._ground.moved(target)

    def _calibrator(self, bench: Bench) -> Calibrator:
        plan, parts = self._options.plan, self._parts
        return Calibrator(bench, parts.runner, self._allowance, plan, self._habits)

    async def _fill(self, target: FillTarget, number: int) -> FillResult:
        search = _Search()
        served = self._served(target, self._calibrator(self._bench))
        if served is not None:
            search.chosen = served.item
            search.calibrations[served.item] = served
            search.written[served.item] = self._children[served.item][0]
            return self._result(target, search, "filled")
        status: Status
        try:
            target = await self._survey(target, number, search)
            calibrator = self._calibrator(self._bench)
            if calibrator.best_p_in_gap(target) < self._options.plan.min_p_in_gap:
                return self._result(target, search, "resolution_limited")
            self._allowance.check()
            async for message in self._team(target, number, calibrator).run():
                search.note(message.content)
                if isinstance(message.content, Validation):
                    self._checking.note(message.content.verdicts)
                await self._keep(target, message)
            status = _status(search)
        except BudgetExhaustedError:
            status = "budget_exhausted"
        except asyncio.CancelledError:
            status = "interrupted"
        self._children |= {
            item: (search.written[item], one) for item, one in search.calibrations.items()
        }
        return self._result(target, search, status)

    def _served(self, target: FillTarget, calibrator: Calibrator) -> Calibration | None:
        """Return a child that was measured for another gap of the run and fills this one."""
        again = []
        for child, calibration in self._children.values():
            if child.item.id in self._insertions.chosen:
                continue
            measured = Measurement.of(calibration, self._bench)
            again.append(measured.calibration(self._bench, target, "accepted"))
        fitting = [one for one in again if one.p_in_gap >= self._options.plan.min_p_in_gap]
        chosen = calibrator.choose(fitting, target, last_round=False)
        return next((one for one in fitting if one.item == chosen), None)

    def _team(self, target: FillTarget, number: int, calibrator: Calibrator) -> GapTeam:
        parts, options = self._parts, self._options
        return GapTeam(
            target,
            (
                RetrieverAgent(
                    target,
                    parts.steps,
                    Retriever(parts.memory, templates_only=options.templates_only),
                ),
                RewriterAgent(
                    target,
                    parts.steps,
                    parts.rewriter,
                    shortfalls=parts.shortfalls,
                    seed=(options.seed, number),
                ),
                ValidatorAgent(target, parts.steps, self._checking.validator, parts.memory),
                CalibratorAgent(
                    target,
                    parts.steps,
                    calibrator,
                    parts.memory,
                    rounds=options.rounds,
                    learned=self._learned,
                ),
            ),
            parts.model_client,
            rounds=options.rounds,
        )

    async def _keep(self, target: FillTarget, message: Any) -> None:
        content = message.content
        key = message.metadata.get("step", f"{target.id}/assignment")
        await self._parts.transcript.append(
            target.id,
            {
                "author": message.source,
                "kind": type(content).__name__.lower(),
                "round": content.round,
                # an assignment is no turn of an agent, so it has no time of its own
                "at": message.metadata.get("at")
                or datetime.now(UTC).isoformat("T", "milliseconds"),
                "text": content.summary(),
                "content": content.model_dump(mode="json"),
            },
            key=key,
        )
        if self._on_message is not None:
            self._on_message(target, message.source, content)

    def _result(self, target: FillTarget, search: _Search, status: Status) -> FillResult:
        chosen = None
        if search.chosen is not None:
            calibration = search.calibrations[search.chosen]
            item = search.written[search.chosen].item
            chosen = Chosen(
                item=item.id,
                parent=search.written[search.chosen].parent_id,
                question=item.question,
                answer=item.answer,
                **calibration.model_dump(
                    include={"z", "q05", "q95", "p_in_gap", "b_hat", "se", "counts"}
                ),
            )
        top_three = self._insertions.with_child(
            target,
            search.calibrations.get(search.chosen or ""),
            dict(zip(self._bench.models, self._bench.matrix_names, strict=True)),
        )
        return FillResult(
            gap=target.id,
            midpoint=target.z,
            z_left=target.z_left,
            z_right=target.z_right,
            left_item=target.left_item,
            right_item=target.right_item,
            status=status,
            chosen=chosen,
            rounds=search.rounds,
            children=search.children,
            valid=search.valid,
            rollouts=search.rollouts,
            top_k_sum=top_three,
            borders=search.borders,
            run_again=self._run_again(target) if status == "resolution_limited" else None,
            calibrations=tuple(search.calibrations.values()),
        )

    def _run_again(self, target: FillTarget) -> RunAgain:
        """Name what is too uncertain to decide: border items, and the least known abilities."""
        ranked = np.argsort(-self._bench.theta_variance, kind="stable")[:4]
        return RunAgain(
            items=tuple(one for one in (target.left_item, target.right_item) if one is not None),
            models=tuple(self._bench.models[int(p)] for p in ranked),
        )


def _status(search: _Search) -> Status:
    if search.chosen is not None:
        return "filled"
    outcomes = {one.outcome for one in search.calibrations.values()}
    return "resolution_limited" if "resolution_limited" in outcomes else "not_found"


__all__ = ["Fill", "FillOptions", "FillParts", "TopThree", "Transcript"]
