"""External runners: answers as they come, and their bad days."""

from __future__ import annotations

import asyncio
import json
import sys
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from benchfill.errors import BudgetExhaustedError, InputError, ProviderError
from benchfill.items import Item
from benchfill_agents.pool.config import Pool, PoolModel
from benchfill_agents.pool.ledger import InMemoryLedgerStore, Ledger
from benchfill_agents.pool.rollouts import RolloutRequest, RolloutRunner

if TYPE_CHECKING:
    from benchfill_agents.pool.rollout import Rollout

SUPPORT = Path(__file__).parents[2] / "support"
ITEMS = tuple(
    Item(id=f"{a}+{b}", question=f"{a} + {b} =", answer=str(a + b), metadata={"level": a})
    for a in (1, 2)
    for b in (3, 4)
)
HEAD = """
import json, os, sys, time
items = [json.loads(line) for line in sys.stdin]
def say(item, **more):
    print(json.dumps({"id": item["id"], "sample": item["sample"], **more}), flush=True)
"""


def runner(tmp_path: Path, body: str, **fields: Any) -> PoolModel:
    script = tmp_path / "my runner.py"
    script.write_text(HEAD + textwrap.dedent(body))
    command = f"'{sys.executable}' '{script}'"
    return PoolModel.model_validate({"name": "r", "runner": command, "retries": 1, **fields})


async def buy(
    model: PoolModel, path: Path, *, samples: int = 1, **options: Any
) -> tuple[Any, RolloutRunner]:
    pool = Pool(models=(model,), scoring="numeric")
    async with Ledger(path / "spool.jsonl", InMemoryLedgerStore()) as ledger:
        bought = RolloutRunner(pool, ledger, **options)
        requests = [RolloutRequest("r", item, k) for item in ITEMS for k in range(samples)]
        try:
            return await bought.run(requests), bought
        except (BudgetExhaustedError, ProviderError, InputError) as error:
            return error, bought


def outcomes(rollouts: tuple[Rollout, ...]) -> list[tuple[str, bool | None]]:
    return [(one.outcome, one.correct) for one in rollouts]


async def test_the_example_of_the_docs_answers_all_and_is_asked_once(tmp_path: Path) -> None:
    example = f"{sys.executable} {SUPPORT / 'example_runner.py'}"
    model = PoolModel.model_validate({"name": "r", "runner": example})
    rollouts, bought = await buy(model, tmp_path, samples=3)
    assert outcomes(rollouts) == [("answered", True)] * 12
    assert [one.item_id for one in rollouts] == [item.id for item in ITEMS for _ in range(3)]
    assert sum(one.cost for one in rollouts) == pytest.approx(0.012)
    assert bought.budget.spent == 12
    again, rebought = await buy(
        PoolModel.model_validate({"name": "r", "runner": example}), tmp_path, samples=3
    )
    assert [one.received_at for one in again] == [one.received_at for one in rollouts]
    assert rebought.budget.spent == 0


async def test_what_a_runner_is_told(tmp_path: Path) -> None:
    told = tmp_path / "told"
    body = f"""
    open({str(told)!r}, 'a').write(json.dumps(items) + '\\n')
    for item in items: say(item, score=1)
    """
    rollouts, _ = await buy(runner(tmp_path, body, max_concurrency=3), tmp_path)
    runs = [json.loads(line) for line in told.read_text().splitlines()]
    assert [len(run) for run in runs] == [3, 1]
    by_id = {one["id"]: one for run in runs for one in run}
    first = by_id["1+3"]
    assert first == {
        "id": "1+3", "question": "1 + 3 =", "choices": [], "domain": None,
        "metadata": {"level": 1}, "sample": 0, "key": rollouts[0].key.digest,
    }  # fmt: skip
    assert "answer" not in first


@pytest.mark.parametrize(
    ("score", "correct"), [(1, True), (0, False), (True, True), (False, False), (1.0, True)]
)
async def test_a_score_stands_as_it_is(tmp_path: Path, score: Any, correct: bool) -> None:
    model = runner(tmp_path, f"for item in items: say(item, score={score!r}, answer='x')")
    rollouts, _ = await buy(model, tmp_path)
    assert outcomes(rollouts) == [("answered", correct)] * 4
    again, _ = await buy(model, tmp_path)  # from the ledger, and not scored anew
    assert outcomes(again) == [("answered", correct)] * 4
    assert again[0].extracted == "x"


CRASHES = {
    "crashes half way": (
        "for item in items[:2]: say(item, score=1)\nsys.stdout.flush(); os._exit(3)",
        "ended with exit code 3",
    ),
    "is killed": (
        "for item in items[:2]: say(item, score=1)\nos.kill(os.getpid(), 9)",
        "was ended by SIGKILL",
    ),
    "says why it ends": (
        "for item in items[:2]: say(item, score=1)\nsys.exit('out of disk')",
        "ended with exit code 1 (out of disk)",
    ),
    "leaves some out": (
        "for item in items[:2]: say(item, score=1)",
        "ended without answering all",
    ),
    "names an error": (
        "for item in items: say(item, **({'score': 1} if item['id'][0] == '1' else "
        "{'error': 'no tool'}))",
        "no tool",
    ),
    "prints rubbish": (
        "print('Loading...')\nfor item in items[:2]: say(item, score=1)\nprint('{\"id\": ')",
        "line 1: 'Loading...' is no JSON object",
    ),
    "invents ids": (
        "for item in items[:2]: say(item, score=1)\nsay({'id': 'zz', 'sample': 0}, score=1)",
        "line 3: item 'zz', sample 0, was not asked for",
    ),
    "answers twice": (
        "for item in items[:2]: say(item, score=1); say(item, score=0)",
        "was answered before",
    ),
    "scores out of range": (
        "for k, item in enumerate(items): say(item, score=1 if k < 2 else 7)",
        "score: a score is 0 or 1, not 7",
    ),
    "scores NaN": (
        "for k, item in enumerate(items): say(item, score=1 if k < 2 else float('nan'))",
        "score: Input should be a finite number",
    ),
    "says nothing of an item": (
        "for k, item in enumerate(items): say(item, **({'score': 1} if k < 2 else {}))",
        "it has neither score nor answer nor error",
    ),
    "hangs": (
        "for item in items[:2]: say(item, score=1)\ntime.sleep(600)",
        "did not end within",
    ),
}


@pytest.mark.parametrize(("body", "reason"), CRASHES.values(), ids=CRASHES)
async def test_a_bad_day_loses_nothing_that_came(tmp_path: Path, body: str, reason: str) -> None:
    count = f"open({str(tmp_path / 'runs')!r}, 'a').write('x')\n"
    hanging = "sleep" in body
    model = runner(
        tmp_path,
        count + body,
        retries=0,
        timeout=1 if hanging else 60,
        max_concurrency=4,
    )
    rollouts, bought = await buy(model, tmp_path)
    assert sorted(outcomes(rollouts), key=str) == [("answered", True)] * 2 + [("failed", None)] * 2
    failed = [one.error or "" for one in rollouts if one.outcome == "failed"]
    assert all(reason in error for error in failed), failed
    assert (tmp_path / "runs").read_text() == "x"
    # what came is kept, what failed is asked again
    good = runner(tmp_path, "for item in items: say(item, score=1)", retries=0, max_concurrency=4)
    assert good.parameters_hash == model.parameters_hash
    again, bought = await buy(good, tmp_path)
    assert outcomes(again) == [("answered", True)] * 4
    assert bought.budget.spent == 2


async def test_what_a_run_leaves_is_given_to_another(tmp_path: Path) -> None:
    model = runner(tmp_path, "say(items[0], score=1)", retries=3, max_concurrency=4)
    rollouts, bought = await buy(model, tmp_path)
    assert outcomes(rollouts) == [("answered", True)] * 4
    assert bought.retries == {"runner": 3 + 2 + 1}
    assert bought.budget.spent == 4 + 3 + 2 + 1


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("sys.exit(1)", "it ended with exit code 1"),
        ("sys.exit('no licence')", r"it ended with exit code 1 \(no licence\)"),
        ("print('hello')", "it ended without answering all; line 1: 'hello' is no JSON object"),
        ("print('x' * 5_000_000)", "line 1 is longer than 4 MB"),
        ("os.close(1); os.close(2); time.sleep(60)", "it closed its output and did not end"),
        ("sys.stderr.write('x' * 5_000_000)", "it ended without answering all"),
    ],
)
async def test_a_runner_that_answers_nothing_stops_the_run(
    tmp_path: Path, body: str, said: str
) -> None:
    error, _ = await buy(runner(tmp_path, body, retries=20), tmp_path)
    assert isinstance(error, ProviderError)
    assert error.message.startswith("runner 'r' answered nothing in 2 runs")
    assert len(error.message) < 500
    with pytest.raises(ProviderError, match=said):
        raise error


async def test_a_command_that_is_not_there(tmp_path: Path) -> None:
    model = PoolModel.model_validate({"name": "r", "runner": "/nowhere/at-all --x"})
    error, _ = await buy(model, tmp_path)
    assert isinstance(error, InputError)
    assert "runner 'r' cannot be started (/nowhere/at-all: No such file" in error.message


async def test_the_budget_bounds_items(tmp_path: Path) -> None:
    model = runner(tmp_path, "for item in items: say(item, score=1)", max_concurrency=2)
    error, bought = await buy(model, tmp_path, budget=3)
    assert isinstance(error, BudgetExhaustedError)
    rollouts, rebought = await buy(model, tmp_path, budget=1)
    assert outcomes(rollouts) == [("answered", True)] * 4
    assert (bought.budget.spent, rebought.budget.spent) == (3, 1)


async def test_keys_are_not_passed_on_unless_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.setenv("MY_HARNESS_KEY", "named")
    body = "for item in items: say(item, answer=','.join(sorted(os.environ)), score=1)"
    rollouts, _ = await buy(runner(tmp_path, body, runner_env=["MY_HARNESS_KEY"]), tmp_path)
    names = (rollouts[0].text or "").split(",")
    assert "OPENAI_API_KEY" not in names
    assert {"MY_HARNESS_KEY", "PATH"} <= set(names)
    error, _ = await buy(runner(tmp_path, body, runner_env=["NOT_SET"]), tmp_path / "b")
    assert isinstance(error, InputError)
    assert "the environment variable NOT_SET, which is not set" in error.message


async def test_no_shell_reads_the_command(tmp_path: Path) -> None:
    model = runner(tmp_path, "for item in items: say(item, answer=' '.join(sys.argv[1:]), score=1)")
    command = f"{model.runner} ; $(touch {tmp_path}/made) 'a b' && echo >{tmp_path}/written"
    odd = PoolModel.model_validate({"name": "r", "runner": command})
    rollouts, _ = await buy(odd, tmp_path)
    assert rollouts[0].text == (f"; $(touch {tmp_path}/made) a b && echo >{tmp_path}/written")
    assert not (tmp_path / "made").exists()
    assert not (tmp_path / "written").exists()


async def test_a_cancelled_run_ends_the_runner_and_its_children(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    body = f"""
    import subprocess
    child = subprocess.Popen(['sleep', '600'])
    say(items[0], score=1)
    open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')
    time.sleep(600)
    """
    task = asyncio.create_task(buy(runner(tmp_path, body), tmp_path))
    while not pids.exists() or not pids.read_text():  # noqa: ASYNC110 - of another process
        await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    deadline = time.monotonic() + 10
    left = [int(pid) for pid in pids.read_text().split()]
    while left and time.monotonic() < deadline:
        left = [pid for pid in left if _runs(pid)]
        await asyncio.sleep(0.02)
    assert not left
    good = runner(tmp_path, "for item in items: say(item, score=1)")
    _, bought = await buy(good, tmp_path)
    assert bought.budget.spent == 3


def _runs(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"runner": "python 'run.py"}, "is no command"),
        ({"runner": "  "}, "the runner is empty"),
        ({"runner": 7}, "runner is a command"),
        ({"runner": "run", "model": "openai/gpt"}, "has no model; remove it"),
        ({"runner": "run", "api_key_env": "KEY"}, "has no api_key_env; remove it"),
        ({"model": "openai/gpt", "runner_env": ["KEY"]}, "runner_env is for a member with"),
    ],
)
def test_odd_members_are_refused(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        PoolModel.model_validate({"name": "r", **fields})


def test_other_commands_are_other_members() -> None:
    one, two = (PoolModel.model_validate({"name": n, "runner": n}) for n in ("a", "b"))
    assert one.parameters_hash != two.parameters_hash
    assert one.model == "runner"
