"""A judge that follows a script: it solves sums blind, and passes what it is shown with its answer.

`blind` and `verdict` say what it answers instead; each is a function of the request, or replies in
order of which the last one stays.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchfill.items import Item
from benchfill_agents.model_client import LiteLLMChatCompletionClient, ModelClientConfig
from benchfill_agents.spending import Allowance, Counted
from benchfill_agents.steps import InMemorySteps
from benchfill_agents.validator.judge import Judge
from benchfill_agents.validator.judge_calls import JudgeCalls
from support.arithmetic_world import answer

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchfill_agents.steps import StepRecord
    from support.openai_api import Reply, Request

    Said = Reply | str
    Line = list[Said] | Callable[[Request], Said]

_SUM = re.compile(r"(\d+) \+ (\d+) =")
APPLES = Item(
    id="apples",
    question="Ann has 3 baskets with 14 apples each and gives 5 apples away. How many are left?",
    answer="37",
)


def solution(answer: str) -> str:
    """Return a blind answer as it was asked for."""
    return json.dumps({"working": "3 * 14 - 5", "answer": answer})


def verdict(**faults: Any) -> str:
    """Return a judgement that finds nothing wrong, but for what is given."""
    good = {
        "working": "",
        "well_posed": True,
        "self_contained": True,
        "one_answer": True,
        "answer_right": True,
        "reason": "",
    }
    return json.dumps(good | faults)


def solved_sum(request: Request) -> str:
    """Solve the last sum of a request; other questions are about apples."""
    sums = _SUM.findall(request.prompt)
    return solution(str(sum(map(int, sums[-1]))) if sums else "37")


def judged_sums(request: Request) -> Said:
    """Script of a provider in a process of its own: the arithmetic world with a judge."""
    return verdict() if request.model == "judge" else answer(request)


@dataclass
class ScriptedJudge:
    """A script for the scripted provider; `others` replies to all that is not the judge's."""

    blind: Line = solved_sum
    verdict: Line = field(default_factory=lambda: [verdict()])
    others: Callable[[Request], Said] | None = None
    asked: list[list[str]] = field(default_factory=list)

    def __call__(self, request: Request) -> Said:
        """Reply to a request."""
        if request.model != "judge" and self.others is not None:
            return self.others(request)
        said = [message["content"] for message in request.body["messages"]]
        self.asked.append(said)
        line = self.blind if "given one question" in said[0] else self.verdict
        if callable(line):
            return line(request)
        return line.pop(0) if len(line) > 1 else line[0]


def judge_at(
    url: str,
    *,
    steps: StepRecord | None = None,
    allowance: Allowance | None = None,
    retries: int = 2,
) -> Judge:
    """Return a judge that is asked at an address; its tokens count for the allowance."""
    allowance = allowance or Allowance()
    spent = allowance.spent

    def count(_name: str, prompt: int, completion: int, _usd: float | None) -> None:
        assert isinstance(spent, Counted)
        spent.tokens += prompt + completion

    client = LiteLLMChatCompletionClient(
        ModelClientConfig(
            name="judge", model="openai/judge", api_base=url, retries=retries, first_wait=0.01
        ),
        on_usage=count,
    )
    calls = JudgeCalls(
        client, identity="judge", steps=steps or InMemorySteps(), allowance=allowance
    )
    return Judge(calls, "numeric")
