"""The four agents as an AutoGen team: who speaks after whom, and what a rejection leads to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from autogen_agentchat.messages import StructuredMessage

from benchfill_agents.calibrator import CalibrationPlan
from benchfill_agents.calibrator.design import Design
from benchfill_agents.fill import Fill, FillOptions
from benchfill_agents.messages import Assignment, CalibrationRound, Rewriting, Validation
from benchfill_agents.rewriter.llm import LLMRewriter
from benchfill_agents.team import next_speaker
from support.arithmetic_world import answer
from support.fill_world import World

if TYPE_CHECKING:
    from pathlib import Path

    from support.scripted_server import Reply, Request, ScriptedServer


class Writer:
    """A scripted writing model: sums that it was told to write, asked in the order of requests."""

    def __init__(self, batches: list[list[tuple[int, int]]]) -> None:
        self.batches = batches
        self.prompts: list[str] = []

    def __call__(self, request: Request) -> Reply | str:
        if request.model != "writer":
            return answer(request)
        self.prompts.append(json.dumps(request.body["messages"]))
        sums = self.batches.pop(0) if self.batches else [(1, 1)]
        children = [
            {
                "question": f"{a} + {b} =",
                "answer": str(a + b),
                "choices": [],
                "what_changed": "the numbers",
                "rationale": "of like size",
            }
            for a, b in sums
        ]
        return json.dumps({"children": children})


async def messages_of(world: World, writer: Writer, *, rounds: int) -> list[Any]:
    heard: list[Any] = []
    async with world.parts(rewriter=LLMRewriter(world.client())) as parts:
        plan = CalibrationPlan(design=Design(first=6, batch=12))
        options = FillOptions(rounds=rounds, plan=plan, templates_only=False, anchors=False)
        fill = Fill(parts, options, lambda _target, author, said: heard.append((author, said)))
        await fill.run(world.targets())
    return heard


@pytest.fixture
def world(scripted_server: ScriptedServer, tmp_path: Path) -> World:
    return World(tmp_path, scripted_server.url)


async def test_a_rejection_goes_back_to_the_rewriter_with_its_reason(
    scripted_server: ScriptedServer, world: World
) -> None:
    known = world.items[0].values
    twin = (int(known["a"]), int(known["b"]))
    # four parents are asked for children; every batch holds the same known item
    writer = Writer([[(10 + k, 7), (11 + k, 8), (12 + k, 9), twin] for k in range(4)])
    scripted_server.script(writer)
    heard = await messages_of(world, writer, rounds=1)
    authors = [author for author, _ in heard]
    assert authors[:4] == ["BenchFill", "Retriever", "Rewriter", "Validator"]
    assert authors[4:6] == ["Rewriter", "Validator"]
    assert authors[-1] == "Calibrator"
    first = next(said for _, said in heard if isinstance(said, Validation))
    assert first.repair
    reason = f"The same question is item '{world.items[0].id}' already."
    assert any(reason in rejection.reasons for rejection in first.rejected)
    repair = next(said for _, said in heard if isinstance(said, Rewriting) and said.attempt == 1)
    assert repair.round == 1
    # the reason stood in what the writing model was sent
    assert any(world.items[0].id in prompt and "already" in prompt for prompt in writer.prompts[4:])


async def test_what_cannot_be_mended_ends_after_two_repairs(
    scripted_server: ScriptedServer, world: World
) -> None:
    known = world.items[0].values
    twin = (int(known["a"]), int(known["b"]))
    writer = Writer([[twin]] * 200)
    scripted_server.script(writer)
    heard = await messages_of(world, writer, rounds=1)
    attempts = [said.attempt for _, said in heard if isinstance(said, Rewriting)]
    assert max(attempts) <= 2
    last = heard[-1][1]
    assert isinstance(last, CalibrationRound)
    assert last.done
    assert last.calibrations == ()


def test_an_assignment_calls_the_retriever(world: World) -> None:
    opening = StructuredMessage[Assignment](
        content=Assignment(round=1, target=world.targets()[0]), source="BenchFill"
    )
    assert next_speaker([opening]) == "Retriever"
