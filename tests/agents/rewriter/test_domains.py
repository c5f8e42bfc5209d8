"""The llm Rewriter and Reviser in each domain: its rules, its fields, sound children."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchfill.items import Item
from benchfill_agents.domains import DOMAINS, domain_check
from benchfill_agents.memory import MemoryEntry
from benchfill_agents.model_client import LiteLLMChatCompletionClient, ModelClientConfig
from benchfill_agents.rewriter import RevisionTask, RewriteTask
from benchfill_agents.rewriter.domain_draft import rules_of
from benchfill_agents.rewriter.llm import LLMRewriter
from benchfill_agents.rewriter.revise import LLMReviser

if TYPE_CHECKING:
    from benchfill.items import ItemDomain
    from support.scripted_server import ScriptedServer

WORDS = {
    "id": "length_constraints:number_words",
    "arguments": '{"relation": "less than", "num_words": 3}',
}
SOUND: dict[ItemDomain, tuple[Item, dict[str, Any], str]] = {
    "math": (
        Item(id="p", question="Halve 1.", answer="1/2", metadata={"solution": r"\boxed{1/2}"}),
        {"question": "Halve 3.", "answer": r"\frac{3}{2}", "solution": r"So \boxed{1.5}"},
        "Solution: ",
    ),
    "multiple_choice": (
        Item(id="p", question="Largest?", answer="3", choices=("1", "3")),
        {"question": "Smallest?", "answer": "2", "choices": ["2", "4"]},
        "- 3",
    ),
    "code": (
        Item(id="p", question="f", answer="f = abs", metadata={"tests": ["assert f(-1) == 1"]}),
        {"question": "g", "answer": "def g(x):\n    return 2 * x", "tests": ["assert g(2) == 4"]},
        "Test: assert f(-1) == 1",
    ),
    "instructions": (
        Item(
            id="p", question="No commas.", answer="None here",
            metadata={"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]},
        ),
        {"question": "Two words at most.", "answer": "Two words", "checks": [WORDS]},
        "Checked by: punctuation:no_comma {}",
    ),
}  # fmt: skip


def client(server: ScriptedServer) -> LiteLLMChatCompletionClient:
    config = ModelClientConfig(
        name="writer", model="openai/scripted", api_base=server.url, retries=0, timeout=20
    )
    return LiteLLMChatCompletionClient(config)


def draft(fields: dict[str, Any]) -> dict[str, Any]:
    return {"choices": [], "what_changed": "numbers", "rationale": "larger", **fields}


@pytest.mark.parametrize("by_item", [True, False], ids=["named by the item", "by the pool"])
@pytest.mark.parametrize("domain", SOUND)
async def test_children_of_a_domain(
    scripted_server: ScriptedServer, domain: ItemDomain, by_item: bool
) -> None:
    parent, fields, shown = SOUND[domain]
    parent = parent.model_copy(update={"domain": domain if by_item else None})
    scripted_server.script([json.dumps({"children": [draft(fields)]})])
    rewriter = LLMRewriter(client(scripted_server), scoring="exact" if by_item else domain)
    task = RewriteTask(target_z=0.5, parent=MemoryEntry(item=parent, z=0.4, sd=0.1), count=1)
    (child,) = await rewriter.rewrite(task, np.random.default_rng(0))
    system, asked = (m["content"] for m in scripted_server.records[0].body["messages"])
    assert rules_of(DOMAINS[domain]) in system
    assert shown in asked
    assert child.item.domain == parent.domain
    assert domain_check(child.item, domain) is None
    if not by_item:
        assert f"rewrite_{domain}" in rewriter.prompts


@pytest.mark.parametrize("domain", ["code", "instructions"])
async def test_a_revision_keeps_its_domain(
    scripted_server: ScriptedServer, domain: ItemDomain
) -> None:
    parent, fields, _ = SOUND[domain]
    item = parent.model_copy(update={"domain": domain})
    scripted_server.script([json.dumps(draft(fields))])
    task = RevisionTask(target_z=0.5, item=item, request="Make it shorter.")
    child = await LLMReviser(client(scripted_server)).revise(task, seed=0)
    assert child.item.domain == domain
    assert domain_check(child.item, "exact") is None


async def test_arguments_that_are_no_json_are_sent_back(scripted_server: ScriptedServer) -> None:
    parent, fields, _ = SOUND["instructions"]
    odd = {**fields, "checks": [{**WORDS, "arguments": "less than 3"}]}
    scripted_server.script([json.dumps({"children": [draft(one)]}) for one in (odd, fields)])
    rewriter = LLMRewriter(client(scripted_server), scoring="instructions")
    task = RewriteTask(target_z=0.5, parent=MemoryEntry(item=parent, z=0.4, sd=0.1), count=1)
    (child,) = await rewriter.rewrite(task, np.random.default_rng(0))
    assert child.item.metadata["kwargs"] == [{"relation": "less than", "num_words": 3}]
    again = scripted_server.records[1].body["messages"][-1]["content"]
    assert "has arguments of length_constraints:number_words that are no JSON object" in again


@pytest.mark.parametrize("domain", DOMAINS)
def test_every_domain_has_its_prompts(domain: ItemDomain) -> None:
    assert len(rules_of(DOMAINS[domain])) > 80
