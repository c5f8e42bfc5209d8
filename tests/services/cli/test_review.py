"""`benchfill review` as people use it: who they are, what they may see, what they decide."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, get_args

import pytest
from typer.testing import CliRunner

from benchfill_services.cli import app
from benchfill_services.cli.review import ReasonChoice, ShelfChoice
from benchfill_services.cli.review_desk import meant, short_ids
from benchfill_services.cli.review_show import difference
from benchfill_services.review.case import Reason
from benchfill_services.review.desk import SHELVES, ReviewDesk
from benchfill_services.store.transcript import RedisTranscript
from support.fills import HOSTILE, make_fill
from support.review_cases import make_case, make_person

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result
    from redis.asyncio import Redis

STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def review(*words: str) -> Result:
    return CliRunner().invoke(app, ["review", *words])


def told(*words: str) -> dict[str, Any]:
    done = review(*words, "--json")
    assert done.exit_code == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def refused(*words: str) -> str:
    done = review(*words)
    assert done.exit_code == 2, done.output
    assert len(done.stderr.strip().splitlines()) == 1
    assert "bug" not in done.stderr
    assert not STEERING.search(done.stderr.strip().replace("\n", ""))
    return str(done.stderr)


def opened(in_store, text: str = "", count: int = 1) -> list[str]:
    async def work(redis: Redis) -> list[str]:
        desk, ids = ReviewDesk(redis), []
        for _ in range(count):
            case = make_case(text)
            await desk.reviews.open(case)
            for number, message in enumerate(make_fill(text).transcripts[case.gap]):
                transcript = RedisTranscript(redis, case.job, case.gap)
                await transcript.append(message, key=str(number))
            ids.append(case.id)
        return ids

    return in_store(work)


@pytest.fixture
def case(in_store) -> str:
    return opened(in_store)[0]


def test_two_people_decide_by_short_ids(case) -> None:
    short = case.rpartition(".")[2][:6]
    assert told("list", "--as", "ada")["sizes"]["pending"] == 1
    done = told("approve", short, "--as", "ada")
    assert (done["status"], done["may_undo"]) == ("waiting", True)
    assert told("undo", short, "--as", "ada")["status"] == "pending"
    told("approve", short, "--as", "ada", "--text", "Fine.")
    assert "undo it first" in refused("approve", short, "--as", "ada")
    last = told("approve", case, "--as", "bob")
    assert last["status"] == "approved"
    names = {one["reviewer"] for one in last["revisions"][0]["verdicts"]}
    assert names == {"you", "local:ada"}
    assert told("list", "--as", "ada", "--shelf", "decided")["entries"][0]["id"] == case


def test_a_disagreement_is_adjudicated_by_a_third(case) -> None:
    told("reject", case, "--as", "ada", "--reason", "ambiguous", "--reason", "formatting")
    told("approve", case, "--as", "bob")
    assert told("list", "--as", "cyd", "--shelf", "disagreements")["entries"][0]["id"] == case
    assert "took part" in refused("adjudicate", case, "approve", "--as", "bob")
    assert told("adjudicate", case, "approve", "--as", "cyd")["status"] == "approved"
    found = told("agreement", "--as", "cyd")
    assert found["benchmarks"][0]["agreement"]["raw"] == 0
    assert {one["reviewer"] for one in found["reviewers"]} == {"local:ada", "local:bob"}
    assert "By reviewer" in review("agreement", "--as", "cyd").stdout


def test_nothing_shows_before_all_verdicts_are_in(case) -> None:
    looks = [
        ("show", case),
        ("list", "--shelf", "pending"),
        ("export", case),
        ("export", case, "--format", "jsonl"),
        ("agreement",),
    ]
    before = [(review(*one, "--as", "bob").stdout, told(*one, "--as", "bob")) for one in looks]
    told("reject", case, "--as", "ada", "--reason", "other", "--text", "Mars is meant.")
    assert before == [
        (review(*one, "--as", "bob").stdout, told(*one, "--as", "bob")) for one in looks
    ]
    assert "Mars is meant." in review("show", case, "--as", "ada").stdout
    told("approve", case, "--as", "bob")
    assert "Mars is meant." in review("show", case, "--as", "bob").stdout
    assert "Mars is meant." in review("export", case, "--as", "bob").stdout


def test_the_candidate_stands_beside_its_parent(case) -> None:
    shown = review("show", case, "--as", "ada").stdout
    for part in ("[-12-]", "{+", "P(in gap)", "90% interval", "model-m0", "of 24", "Calibrator"):
        assert part in shown
    assert "writer-model" not in shown
    left, right = difference("12 + 6 =", "12 + 7 = ?")
    assert (left.plain, right.plain) == ("12 + [-6-] =", "12 + {+7+} ={+ ?+}")
    assert {str(span.style) for one in (left, right) for span in one.spans} == {"red", "green"}


def test_nothing_untrusted_steers_the_terminal(in_store, tmp_path: Path) -> None:
    (case,) = opened(in_store, HOSTILE + "[bold red]")
    told("reject", case, "--as", "ada", "--reason", "other", "--text", f"{HOSTILE}[link=x]")
    told("approve", case, "--as", "bob")
    for words in (("show", case), ("list", "--shelf", "disagreements"), ("agreement",)):
        done = review(*words, "--as", "cyd")
        assert done.exit_code == 0, done.stderr
        assert not STEERING.search(done.stdout)
    assert "⟨U+202E⟩" in review("show", case, "--as", "cyd").stdout
    assert "[bold red]" in review("show", case, "--as", "cyd").stdout
    for form in ("markdown", "jsonl"):
        printed = review("export", case, "--as", "cyd", "--format", form).stdout
        assert not STEERING.search(printed)
        done = review("export", case, "--as", "cyd", "--format", form, "--out", "t.out")
        assert "entries are in t.out" in done.stdout
        assert (tmp_path / "t.out").read_text() == printed
    assert json.loads(printed.splitlines()[0])["author"] == "Task"
    assert "is a folder" in refused("export", case, "--as", "cyd", "--out", str(tmp_path))


def test_where_there_are_keys_only_a_key_opens(
    in_store, case, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def people(redis: Redis) -> dict[str, str]:
        return {
            role: (await make_person(redis, f"{role} Rea", role))[1]
            for role in ("reader", "reviewer", "operator")
        }

    keys = in_store(people)
    assert "this store has API keys" in refused("list", "--as", "ada")
    assert "this store has API keys" in refused("list")
    monkeypatch.setenv("BENCHFILL_API_KEY", keys["reader"])
    assert told("list")["sizes"]["pending"] == 1
    assert "needs the role reviewer" in refused("approve", case)
    assert "for the role operator" in refused("agreement")
    assert "leave it out" in refused("list", "--as", "ada")
    monkeypatch.setenv("BENCHFILL_API_KEY", keys["reviewer"])
    assert told("approve", case)["status"] == "waiting"
    assert "needs the role operator" in refused("adjudicate", case, "approve")
    monkeypatch.setenv("BENCHFILL_API_KEY", keys["operator"])
    assert told("agreement")["benchmarks"] == []
    for wrong in (f"{keys['operator'][:-1]}x", "nonsense"):
        monkeypatch.setenv("BENCHFILL_API_KEY", wrong)
        said = refused("list")
        assert "unknown or revoked" in said
        assert wrong not in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("list",), "say who you are"),
        (("list", "--as", "a\x1bb"), "printable"),
        (("list", "--as", "x", "--gap", "gap-1"), "--gap"),
        (("show", "abc", "--as", "x"), "too short"),
        (("show", "zzzz\x1b[31m", "--as", "x"), "no candidate under review"),
        (("approve", "zzzz", "--as", "x"), "no candidate under review"),
        (("reject", "0000", "--as", "x"), "reasons: say what is wrong"),
        (("reject", "0000", "--as", "x", "--reason", "other"), "text: say what is wrong"),
        (("request-change", "0000", "--as", "x", "--text", " "), "text: say what shall change"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(in_store, words, said) -> None:
    assert said in refused(*words)


def test_an_ambiguous_beginning_is_refused(in_store) -> None:
    first, second = opened(in_store, count=2)
    assert "2 candidates' ids begin with 0000" in refused("show", "0000", "--as", "ada")
    assert told("show", second, "--as", "ada")["id"] == second
    assert told("list", "--as", "ada", "--limit", "1")["next_cursor"] is not None
    more = told("list", "--as", "ada", "--limit", "1", "--cursor", "2")
    assert [one["id"] for one in more["entries"]] == [first]
    job, gap, _ = second.split(".")
    only = told("list", "--as", "ada", "--gap", f"{job}.{gap}")
    assert [one["id"] for one in only["entries"]] == [second]
    assert told("list", "--as", "ada", "--benchmark", "none")["entries"] == []


def test_short_ids_mean_one_candidate_each() -> None:
    same = [f"{k:032x}.gap-1.{'ab' * 8}" for k in range(2)]
    ids = [*same, f"{'1' * 32}.gap-2.{'cd' * 8}"]
    found = short_ids(ids)
    assert found == {same[0]: same[0], same[1]: same[1], ids[2]: "cdcdcdcd"}
    assert [meant(short, ids) for short in found.values()] == ids


def test_a_view_that_changed_is_refused(case) -> None:
    seen = told("show", case, "--as", "ada")["seen"]
    told("approve", case, "--as", "ada", "--seen", seen)
    assert "out of date" in refused("undo", case, "--as", "ada", "--seen", seen)
    assert told("undo", case, "--as", "ada")["status"] == "pending"


def test_a_request_stands_as_a_verdict_and_no_agent_can_be_asked(case) -> None:
    done = review("request-change", case, "--as", "ada", "--text", "An integer, please.")
    assert done.exit_code == 0, done.stderr
    assert "No agent is asked from the command line" in done.stdout
    assert "no agent can be asked" in refused("ask", case, "--as", "ada", "--text", "Why?")


def test_a_second_run_and_ctrl_c_leave_one_verdict(
    in_store, case, monkeypatch: pytest.MonkeyPatch
) -> None:
    told("approve", case, "--as", "ada")
    assert "judged this revision already" in refused("approve", case, "--as", "ada")

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("benchfill_services.cli.review_run.transcript_of", interrupted)
    done = review("show", case, "--as", "ada")
    assert done.exit_code == 130
    assert "Interrupted" in done.stderr

    async def events(redis: Redis) -> int:
        return len((await ReviewDesk(redis).state(case)).events)

    assert in_store(events) == 1


def test_an_empty_store_says_so(in_store) -> None:
    assert "no candidate is on the shelf pending" in review("list", "--as", "ada").stdout
    assert "no candidate yet" in review("agreement", "--as", "ada").stdout


def test_the_words_are_those_of_the_desk() -> None:
    assert tuple(one.value for one in ReasonChoice) == get_args(Reason)
    assert tuple(one.value for one in ShelfChoice) == SHELVES
