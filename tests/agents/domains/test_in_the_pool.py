"""Domains where rollouts are bought: prompts, scores, shuffled options, what is kept."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from benchfill.errors import InputError
from benchfill.items import Item
from benchfill_agents.domains import sandbox
from benchfill_agents.domains.sandbox import bubblewrap
from benchfill_agents.pool.config import Pool, PoolModel
from benchfill_agents.pool.ledger import InMemoryLedgerStore, Ledger
from benchfill_agents.pool.rollouts import RolloutRequest, RolloutRunner
from support.scripted_server import Reply

if TYPE_CHECKING:
    from pathlib import Path

    from benchfill_agents.pool.rollout import Rollout
    from support.openai_api import Request
    from support.scripted_server import ScriptedServer

PLANETS = Item(
    id="planet",
    question="Which is the largest planet?",
    answer="Jupiter",
    choices=("Mars", "Jupiter", "Venus", "Saturn"),
)
ADD = Item(
    id="add",
    question="Write add(a, b).",
    answer="def add(a, b):\n    return a + b",
    domain="code",
    metadata={"tests": ["assert add(1, 2) == 3", "assert add(-1, 1) == 0"]},
)


def pool_of(server: ScriptedServer, **fields: Any) -> Pool:
    model = {"name": "m", "model": "openai/scripted", "api_base": server.url}
    return Pool(models=(PoolModel.model_validate(model),), **fields)


async def buy(pool: Pool, path: Path, items: list[Item], samples: int = 1) -> tuple[Rollout, ...]:
    async with Ledger(path / "spool.jsonl", InMemoryLedgerStore()) as ledger:
        runner = RolloutRunner(pool, ledger, backoff=0.01)
        requests = [RolloutRequest("m", item, k) for item in items for k in range(samples)]
        return await runner.run(requests)


def shown(request: Request) -> str:
    return str(request.body["messages"][-1]["content"])


async def test_options_are_shown_by_letter(scripted_server: ScriptedServer, tmp_path: Path) -> None:
    scripted_server.script(["B", "(C)", "I would say Jupiter.", "E"])
    pool = pool_of(scripted_server, scoring="multiple_choice")
    one_by_one = pool.models[0].model_copy(update={"max_concurrency": 1})
    pool = pool.model_copy(update={"models": (one_by_one,)})
    rollouts = await buy(pool, tmp_path, [PLANETS], samples=4)
    asked = scripted_server.records[0].body["messages"][-1]["content"]
    assert asked.startswith("Which is the largest planet?\nA. Mars\nB. Jupiter\nC. Venus\n")
    assert [one.correct for one in rollouts] == [True, False, True, False]
    assert [one.extracted for one in rollouts] == ["Jupiter", "Venus", "Jupiter", None]
    assert rollouts[0].choice_order is None


async def test_shuffled_options_are_recorded_and_part_of_the_key(
    scripted_server: ScriptedServer, tmp_path: Path
) -> None:
    def knows(request: Request) -> Reply:
        found = re.search(r"([A-Z])\. Jupiter", shown(request))
        assert found is not None
        return Reply(found[1])

    scripted_server.script(knows)
    pool = pool_of(scripted_server, scoring="multiple_choice", shuffle_choices=True)
    rollouts = await buy(pool, tmp_path, [PLANETS], samples=12)
    assert all(one.correct and one.extracted == "Jupiter" for one in rollouts)
    orders = {one.choice_order for one in rollouts}
    assert len(orders) > 4
    assert all(order is not None and sorted(order) == [0, 1, 2, 3] for order in orders)
    by_order = {one.choice_order: one.key.prompt for one in rollouts}
    assert len(set(by_order.values())) == len(orders)
    assert {one.key.item for one in rollouts} == {PLANETS.content_hash}
    # where the right option stands is spread over the letters
    assert len({one.text for one in rollouts}) == 4
    again = await buy(pool, tmp_path, [PLANETS], samples=12)
    assert [one.choice_order for one in again] == [one.choice_order for one in rollouts]
    assert len(scripted_server.records) == 12
    # unshuffled it is another question
    await buy(pool.model_copy(update={"shuffle_choices": False}), tmp_path, [PLANETS])
    assert len(scripted_server.records) == 13


async def test_programs_are_run_and_kept_scores_stand(
    scripted_server: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = "Here it is:\n```python\ndef add(a, b):\n    return a + b\n```\nIt adds."
    wrong, cut = "```python\ndef add(a, b):\n    return 3\n```", "```python\ndef add(a, b):\n"
    scripted_server.script([good, wrong, Reply(cut, finish_reason="length"), "I cannot."])
    one = {"name": "m", "model": "openai/scripted", "api_base": scripted_server.url}
    model = PoolModel.model_validate({**one, "max_concurrency": 1, "reply_retries": 0})
    pool = Pool(models=(model,), scoring="numeric")
    rollouts = await buy(pool, tmp_path, [ADD], samples=4)
    assert [(r.outcome, r.correct) for r in rollouts] == [
        ("answered", True), ("answered", False), ("truncated", False), ("answered", False),
    ]  # fmt: skip
    assert "Python" in scripted_server.records[0].body["messages"][-1]["content"]
    runs = []
    monkeypatch.setattr(
        "benchfill_agents.domains.code.run_python",
        lambda *args, **more: runs.append(args) or sandbox.run_python(*args, **more),
    )
    await buy(pool, tmp_path, [ADD], samples=4)
    assert not runs
    # with other tests the replies that are there are scored anew, and not bought again
    harder = {"tests": [*ADD.metadata["tests"], "assert add('a', 'b') == 'ba'"]}
    stricter = ADD.model_copy(update={"metadata": harder})
    again = await buy(pool, tmp_path, [stricter], samples=4)
    assert [r.correct for r in again] == [False] * 4
    assert len(scripted_server.records) == 4
    assert len(runs) == 3


async def test_items_of_several_domains_stand_beside_one_another(
    scripted_server: ScriptedServer, tmp_path: Path
) -> None:
    items = [
        Item(id="sum", question="1 + 2 =", answer="3"),
        Item(id="half", question="Halve 1.", answer="1/2", domain="math"),
        PLANETS.model_copy(update={"domain": "multiple_choice"}),
        Item(
            id="short",
            question="Say no more than three words, no commas.",
            answer="Three short words",
            domain="instructions",
            metadata={
                "instruction_id_list": ["length_constraints:number_words", "punctuation:no_comma"],
                "kwargs": [{"relation": "less than", "num_words": 4}, {}],
            },
        ),
    ]  # fmt: skip
    answers = {
        "1 + 2": "3",
        "Halve": r"It is \boxed{\frac{2}{4}}.",
        "largest": "B",
        "Say": "As told",
    }
    scripted_server.script(
        lambda request: Reply(next(a for q, a in answers.items() if q in shown(request)))
    )
    rollouts = await buy(pool_of(scripted_server, scoring="numeric"), tmp_path, items)
    assert [(one.item_id, one.correct) for one in rollouts] == [
        ("sum", True), ("half", True), ("planet", True), ("short", True),
    ]  # fmt: skip
    asked = [record.body["messages"][-1]["content"] for record in scripted_server.records]
    assert "Say no more than three words, no commas." in asked


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (ADD.model_copy(update={"metadata": {}}), "as code: the item has no metadata.tests"),
        (
            PLANETS.model_copy(update={"domain": "multiple_choice", "answer": "Pluto"}),
            "as multiple_choice: the answer 'Pluto' is neither the text of an option nor",
        ),
        (
            Item(id="x", question="q", answer="a", domain="instructions"),
            "as instructions: the item's metadata.instruction_id_list must name one",
        ),
    ],
)
async def test_what_cannot_be_scored_is_refused_before_it_is_paid(
    scripted_server: ScriptedServer, tmp_path: Path, item: Item, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        await buy(pool_of(scripted_server), tmp_path, [item])
    assert not scripted_server.records


async def test_without_a_sandbox_no_code_item_is_bought(
    scripted_server: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bubblewrap, "_candidates", list)
    with pytest.raises(InputError, match="install bubblewrap"):
        await buy(pool_of(scripted_server), tmp_path, [ADD])
    assert not scripted_server.records
