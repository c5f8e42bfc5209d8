"""`benchfill contamination` over real HTTP: figures, resume, budget, sentences."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from benchfill.errors import BudgetExhaustedError, InputError
from benchfill.items import Item
from benchfill.textbook.guessing import MASK, guess_tasks
from benchfill_agents.guess_questions import guess_item
from benchfill_agents.pool.ledger import InMemoryLedgerStore
from benchfill_services.cli import app
from benchfill_services.cli.contamination_run import ContaminationOptions, run_contamination
from benchfill_services.report.contamination_page import contamination_page
from support.scripted_server import Reply, ScriptedServer

if TYPE_CHECKING:
    from pathlib import Path

    from support.openai_api import Request

ANIMALS = ("otter", "heron", "lynx", "viper", "bison", "gecko", "raven", "moose", "trout", "finch")


def bank(prefix: str, offset: int = 0) -> list[dict[str, object]]:
    """Ten items with a rare word and four unlike options each."""
    items = []
    for n in range(10):
        names = [f"{prefix}{ANIMALS[(n + k + offset) % 10]}" for k in range(4)]
        items.append(
            {
                "id": f"{prefix}{n}",
                "question": f"Which animal did the {prefix}{'abcdefghij'[n]}land survey count?",
                "answer": names[0],
                "choices": names,
            }
        )
    return items


@pytest.fixture
def options(scripted_server: ScriptedServer, tmp_path: Path) -> ContaminationOptions:
    """Two models; ten items and ten new ones, both protocols."""
    for name, prefix in (("old", "old"), ("new", "new")):
        lines = "\n".join(json.dumps(one) for one in bank(prefix))
        (tmp_path / f"{name}.jsonl").write_text(lines)
    models = [
        {"name": name, "model": f"openai/{name}", "api_base": scripted_server.url, "retries": 0}
        for name in ("knows", "guesses")
    ]
    pool = {"models": models, "scoring": "numeric"}
    (tmp_path / "pool.yaml").write_text(json.dumps(pool))
    return ContaminationOptions(
        items=tmp_path / "old.jsonl",
        pool=tmp_path / "pool.yaml",
        data_dir=tmp_path / "data",
        baseline=tmp_path / "new.jsonl",
        seed=5,
    )


def memory(seed: int) -> dict[str, str]:
    """What was hidden, by the prompt that asks for it, of the items that a model has seen."""
    items = [Item.model_validate(one) for one in bank("old")]
    corpus = [*items, *(Item.model_validate(one) for one in bank("new"))]
    return {
        guess_item(task).question: task.hidden
        for protocol in ("hidden option", "hidden keyword")
        for task in guess_tasks(items, protocol, seed=seed, corpus=corpus)[0]
    }


def seen(seed: int) -> dict[str, str]:
    return {" ".join(prompt.split()): hidden for prompt, hidden in memory(seed).items()}


def answering(seed: int) -> object:
    """One model that has seen the items and one that has not."""
    known = seen(seed)

    def reply(request: Request) -> Reply:
        asked = " ".join(request.prompt.split())
        hidden = next((h for p, h in known.items() if p in asked), None)
        return Reply(
            f"The answer is: {hidden}." if request.model == "knows" and hidden else "otter"
        )

    return reply


async def test_who_has_seen_the_items_stands_out(
    scripted_server: ScriptedServer, options: ContaminationOptions
) -> None:
    scripted_server.script(answering(5))  # type: ignore[arg-type]
    found, spent = await run_contamination(options, InMemoryLedgerStore())
    assert (found.items, found.baseline_items) == (10, 10)
    by = {(one.model, one.protocol): one for one in found.models}
    assert set(by) == {
        (model, protocol)
        for model in ("knows", "guesses")
        for protocol in ("hidden option", "hidden keyword")
    }
    for protocol in ("hidden option", "hidden keyword"):
        told = by["knows", protocol]
        assert (told.items.exact.count, told.items.exact.n) == (10, 10)
        assert told.items.rouge_l == 1
        assert told.baseline is not None
        assert told.baseline.exact.count == 0
        assert told.more_than_new is True
        other = by["guesses", protocol]
        assert other.items.exact.count == 0
        assert other.more_than_new is False
    assert spent["calls"] == spent["guesses"] == 2 * 2 * 20
    again, spent = await run_contamination(options, InMemoryLedgerStore())
    assert (again, spent["calls"]) == (found, 0)


async def test_a_spent_budget_keeps_what_was_bought(
    scripted_server: ScriptedServer, options: ContaminationOptions
) -> None:
    scripted_server.script(answering(5))  # type: ignore[arg-type]
    with pytest.raises(BudgetExhaustedError, match="7 of 80 guesses are kept; run the same"):
        await run_contamination(replace(options, budget=7), InMemoryLedgerStore())
    _, spent = await run_contamination(options, InMemoryLedgerStore())
    assert spent["calls"] == 73


async def test_a_prompt_hides_what_is_asked_and_fences_the_item(
    scripted_server: ScriptedServer, options: ContaminationOptions
) -> None:
    scripted_server.script(answering(5))  # type: ignore[arg-type]
    await run_contamination(replace(options, protocol="option"), InMemoryLedgerStore())
    prompts = list(memory(5))
    assert len(prompts) == 20
    for prompt, hidden in memory(5).items():
        assert hidden not in prompt
        assert prompt.count(MASK) == 3  # told of, asked for, and where it was
        assert len(re.findall(r"<untrusted-[0-9a-f]{16}>", prompt)) >= 2


async def test_failed_calls_are_no_misses(
    scripted_server: ScriptedServer, options: ContaminationOptions
) -> None:
    replies = answering(5)
    failing = True

    def reply(request: Request) -> Reply:
        hash_of = sum(map(ord, request.prompt)) % 4
        return Reply(status=500) if failing and not hash_of else replies(request)  # type: ignore[operator]

    scripted_server.script(reply)
    found, spent = await run_contamination(options, InMemoryLedgerStore())
    assert 0 < spent["failed"] < 80
    asked = sum(one.items.exact.n + one.baseline.exact.n for one in found.models if one.baseline)
    assert asked == 80 - spent["failed"]
    told = [one.items for one in found.models if one.model == "knows"]
    assert all(one.exact.count == one.exact.n and not one.unanswered for one in told)
    said = " ".join(contamination_page(found, spent).caveats)
    assert f"{spent['failed']} calls failed and are left out" in said
    failing = False
    _, spent = await run_contamination(options, InMemoryLedgerStore())
    assert (spent["failed"], spent["guesses"]) == (0, 80)


def test_of_a_model_that_never_replies_nothing_is_said(
    scripted_server: ScriptedServer, options: ContaminationOptions, in_store: object, tmp_path: Path
) -> None:
    scripted_server.script(
        lambda request: Reply(status=500) if request.model == "knows" else Reply("otter")
    )
    command = ["contamination", str(options.items), "--pool", str(options.pool), "--limit", "2"]
    ran = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "report")])
    assert ran.exit_code == 3, ran.output
    assert "model 'knows' gave no reply at all" in ran.stderr
    assert not (tmp_path / "report").exists()


async def test_without_a_baseline_nothing_is_said_of_an_excess(
    scripted_server: ScriptedServer, options: ContaminationOptions
) -> None:
    scripted_server.script(lambda request: Reply("otter"))
    alone = replace(options, baseline=None, protocol="keyword", limit=4)
    found, _ = await run_contamination(alone, InMemoryLedgerStore())
    assert (found.items, found.baseline_items) == (4, None)
    assert all(one.baseline is None and one.more_than_new is None for one in found.models)


async def test_bad_input_gets_one_sentence(options: ContaminationOptions) -> None:
    for changes, sentence in (
        ({"baseline": options.items}, "stands among the items that are tested, too"),
        ({"items": options.pool}, "is no key here"),
    ):
        with pytest.raises(InputError, match=sentence):
            await run_contamination(replace(options, **changes), InMemoryLedgerStore())
    plain = options.items.with_name("plain.jsonl")
    plain.write_text(json.dumps({"id": "a", "question": "2 + 2 =", "answer": "4"}))
    bare = replace(options, items=plain, baseline=None)
    with pytest.raises(InputError, match="none of its items can be used: the first one has fewer"):
        await run_contamination(bare, InMemoryLedgerStore())


def test_the_command_prints_a_table_and_writes_a_report(
    scripted_server: ScriptedServer, options: ContaminationOptions, in_store: object, tmp_path: Path
) -> None:
    scripted_server.script(answering(0))  # type: ignore[arg-type]
    out = tmp_path / "report"
    command = [
        "contamination", str(options.items), "--pool", str(options.pool),
        "--baseline", str(options.baseline), "--out", str(out),
    ]  # fmt: skip
    ran = CliRunner().invoke(app, command)
    assert ran.exit_code == 0, ran.output
    assert "knows (hidden option), knows (hidden keyword)" in " ".join(ran.output.split())
    report = json.loads((out / "report.json").read_text())
    assert report["command"] == "contamination"
    assert len(report["models"]) == 4
    assert report["spent"]["guesses"] == 80
    assert (out / "guesses.png").read_bytes().startswith(b"\x89PNG")
    page = (out / "report.html").read_text()
    assert "TS-Guessing" in page
    asked = CliRunner().invoke(app, [*command[:4], "--protocol", "option", "--json"])
    assert asked.exit_code == 0, asked.output
    assert json.loads(asked.stdout)["baseline_items"] is None
