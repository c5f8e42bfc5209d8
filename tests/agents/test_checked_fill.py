"""A fill whose children are judged: repairs, the report, and what a killed run finds again."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from zlib import crc32

import pytest

from benchfill_agents.calibrator import CalibrationPlan
from benchfill_agents.calibrator.design import Design
from benchfill_agents.fill import Fill, FillOptions
from benchfill_agents.messages import CalibrationRound, Rewriting, Validation
from benchfill_agents.rewriter.llm import LLMRewriter
from benchfill_agents.spending import Allowance, Counted
from benchfill_agents.steps import InMemorySteps
from support.arithmetic_world import answer
from support.fill_world import World
from support.judging import ScriptedJudge, judge_at, solution, solved_sum, verdict

if TYPE_CHECKING:
    from pathlib import Path

    from benchfill_agents.fill_report import CheckReport, FillReport
    from support.scripted_server import Reply, Request, ScriptedServer


class Writer:
    """Writes the sums it is told to, in the order of requests, and notes what it was sent."""

    def __init__(self, sums: list[tuple[int, int]]) -> None:
        self.sums, self.prompts = list(sums), list[str]()

    def __call__(self, request: Request) -> Reply | str:
        if request.model != "writer":
            return answer(request)
        self.prompts.append(json.dumps(request.body["messages"]))
        a, b = self.sums.pop(0) if len(self.sums) > 1 else self.sums[0]
        child = {
            "question": f"{a} + {b} =", "answer": str(a + b), "choices": [],
            "what_changed": "the numbers", "rationale": "of like size",
        }  # fmt: skip
        return json.dumps({"children": [child]})


class SteadyWriter(Writer):
    """Writes sums that hang on what it was asked alone."""

    def __call__(self, request: Request) -> Reply | str:
        asked = json.dumps([request.body["messages"], request.body.get("seed")])
        drawn = crc32(asked.encode())
        self.sums = [(20 + drawn % 70, 1 + drawn % 11)]
        return super().__call__(request)


@pytest.fixture
def world(scripted_server: ScriptedServer, tmp_path: Path) -> World:
    return World(tmp_path, scripted_server.url)


async def run(world: World, steps: Any, **given: Any) -> tuple[FillReport, list[Any]]:
    """Run one round of a fill of one gap; return its report and what was said."""
    said: list[Any] = []
    allowance = given.pop("allowance", None) or Allowance(spent=Counted())
    plan = CalibrationPlan(design=Design(first=6, batch=12, most=18))
    options = FillOptions(rounds=1, plan=plan, templates_only=False, anchors=False)
    async with world.parts(
        rewriter=LLMRewriter(world.client(), on_shortfall=lambda _: None),
        steps=steps,
        allowance=allowance,
    ) as parts:
        judge = judge_at(world.url, steps=steps, allowance=allowance)
        judged = replace(parts, judge=judge, judge_name="judge")
        fill = Fill(judged, options, lambda _target, _author, content: said.append(content))
        return await fill.run(world.targets()), said


def line(report: FillReport, check: str) -> CheckReport:
    return next(one for one in report.checks if one.check == check)


async def test_what_the_judge_turns_down_goes_back_with_its_reason_twice_at_most(
    scripted_server: ScriptedServer, world: World
) -> None:
    writer = Writer([(100 + k, 7) for k in range(60)])
    scripted_server.script(ScriptedJudge(blind=[solution("1")], others=writer))
    report, said = await run(world, InMemorySteps())
    attempts = [one.attempt for one in said if isinstance(one, Rewriting)]
    assert attempts == [0, 1, 2]
    assert [one.repair for one in said if isinstance(one, Validation)] == [True, True, False]
    assert said[-1] == CalibrationRound(round=1, calibrations=(), done=True)
    # the reason stood in what the writer was sent
    reason = "0 of 2 blind answers of the judge agree with the reference; 2 give '1'."
    assert any(reason in prompt for prompt in writer.prompts)
    children = sum(len(one.children) for one in said if isinstance(one, Rewriting))
    blind = line(report, "blind_solve")
    assert (blind.made, blind.passed, blind.failed, blind.calls) == (
        True, 0, children, 2 * children,
    )  # fmt: skip
    assert line(report, "judge").calls == 0
    assert report.judge == "judge"
    assert not line(report, "near_duplicate").made
    assert "pip install" in str(line(report, "near_duplicate").why_not)
    assert report.learned is not None
    assert not report.learned.used


async def test_a_judge_that_gives_nothing_sends_nobody_back(
    scripted_server: ScriptedServer, world: World
) -> None:
    writer = Writer([(100 + k, 7) for k in range(60)])
    scripted_server.script(ScriptedJudge(blind=solved_sum, verdict=["Fine."], others=writer))
    report, said = await run(world, InMemorySteps())
    assert [one.attempt for one in said if isinstance(one, Rewriting)] == [0]
    assert line(report, "judge").failed > 0
    assert report.fills[0].valid == 0


async def test_a_mended_child_is_measured(scripted_server: ScriptedServer, world: World) -> None:
    verdicts = [verdict(one_answer=False, reason="Two readings."), verdict()]
    writer = Writer([(100 + k, 7) for k in range(60)])
    scripted_server.script(ScriptedJudge(verdict=verdicts, others=writer))
    report, said = await run(world, InMemorySteps())
    assert [one.attempt for one in said if isinstance(one, Rewriting)] == [0, 1]
    assert report.fills[0].valid == report.fills[0].children - 1
    assert len(report.fills[0].calibrations) == report.fills[0].valid


class CrashError(Exception):
    """Stands for the end of a process."""


class CrashingSteps(InMemorySteps):
    """Records that survive a crash right after the n-th one was written."""

    left = 10**9

    async def put(self, key: str, result: dict[str, Any]) -> None:
        await super().put(key, result)
        self.left -= 1
        if self.left == 0:
            raise CrashError


async def test_a_killed_fill_buys_no_judgement_twice(
    scripted_server: ScriptedServer, world: World
) -> None:
    def play() -> None:
        # answers by what is asked, not by turn, so that every run is told the same
        scripted_server.script(ScriptedJudge(verdict=_odd_sums_fail, others=SteadyWriter([])))

    play()
    whole, _ = await run(world, CrashingSteps())
    of_judge = set(_judged(scripted_server))
    assert line(whole, "judge").failed > 0
    assert whole.fills[0].valid > 0
    for crash_at in (2, 3, 5, 6):
        play()
        scripted_server.records.clear()
        steps = CrashingSteps()
        steps.left = crash_at
        with pytest.raises(CrashError):
            await run(world, steps)
        report, _ = await run(world, steps)
        assert report.fills == whole.fills
        assert report.checks == whole.checks
        counts = _judged(scripted_server)
        assert set(counts) == of_judge
        assert set(counts.values()) == {1}


def _judged(server: ScriptedServer) -> dict[str, int]:
    keys = {one.key for one in server.records if one.model == "judge"}
    return {key: count for key, count in server.counts().items() if key in keys}


def _odd_sums_fail(request: Request) -> str:
    reference = re.findall(r"Answer: (\d+)", request.prompt)[-1]
    return verdict(well_posed=int(reference) % 2 == 0, reason="The sum is odd.")
