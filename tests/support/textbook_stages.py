"""RECORDED replies for a job with one item that goes through every stage, and where each stage is.

The item has a vague error, which the Verifier finds in the trace, and is turned down twice. The
models that measure it answer as its difficulty says.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from support import textbook_world as world
from support.arithmetic_world import HOLE, PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.openai_api import Reply, Request

COMPETENCY = "loop-tracing"
CHAPTER = "05-loop"
IN_THE_GAP = {"polynomial from its coefficients": sum(HOLE) / 2}
STAGES = {
    "taxonomy": "taxonomy",
    "knowledge": f"knowledge/{CHAPTER}",
    "graph": "item-1/graph",
    "question": "item-1/question",
    "repair_self_contained": "item-1/repair-self_contained",
    "trace_review": "item-1/trace-review",
    "repair_integrity": "item-1/repair-integrity",
    "repair_concise": "item-1/repair-concise",
    "repair_source_references": "item-1/repair-source_references",
    "repair_sound": "item-1/repair-sound",
    "final_check": "item-1/final-check-1",
    "solve": "item-1/blind-solve-2",
    "mend": "item-1/mend-2",
    "calibrate": "item-1/calibrate",
    "outcome": "item-1/outcome",
}
"""A step of each stage. No model is asked for the outcome."""


class Played(world.World):
    """The replies of Designer, Verifier and Solver."""

    def _question(self, request: Request) -> str:
        question = json.loads(super()._question(request))
        question["distractors"][3]["error"]["description"] = world.VAGUE
        return json.dumps(question)


def script() -> Played:
    """Return a fresh script of the three writers."""
    return Played(world.PLANS)


def answering(played: world.World) -> Callable[[Request], Reply]:
    """Return a script of the writers and of the models that measure."""

    def answer(request: Request) -> Reply:
        if request.model.startswith(PREFIX):
            return world.pool_answer(request, IN_THE_GAP)
        return played(request)

    return answer


def stage_of(request: Request) -> str:
    """Name the stage that a request belongs to."""
    return "calibrate" if request.model.startswith(PREFIX) else world.stage_of(request)


reply = answering(script())
