"""What each format writes, field by field, and what it refuses."""

from __future__ import annotations

import json
import re
from typing import Any

import jinja2
import numpy as np
import pytest
import yaml

from benchfill import InputError, Item, diagnose, fit_1pl
from benchfill.exporting import Benchmark, all_exports, export_items, slug
from support.simulated import abilities, respond

CHOICE = Item(id="i1", question="Which? {{question}}", answer="B", choices=("B", "A", "C"))
OPEN = Item(id="i2", question="1+1?", answer=" 2 ", metadata={"level": 3, "bad": float("nan")})
BOTH = Benchmark("bench", (CHOICE, OPEN), {"i1": {"candidate": "x", "z": 0.5}})


def rows(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.decode().splitlines()]


def test_inspect_gets_letters_provenance_and_a_program_for_each_kind() -> None:
    files = export_items(BOTH, "inspect")
    assert set(files) == {
        *("bench_choices.py", "bench_choices.jsonl", "bench_open.py", "bench_open.jsonl")
    }
    (choice,), (open_ended,) = rows(files["bench_choices.jsonl"]), rows(files["bench_open.jsonl"])
    assert choice["input"] == CHOICE.question
    assert choice["choices"] == ["B", "A", "C"]
    assert choice["target"] == "A"  # the letter of the choice "B"
    assert choice["metadata"]["benchfill"]["provenance"] == {"candidate": "x", "z": 0.5}
    assert open_ended["target"] == " 2 "
    assert open_ended["metadata"] == {"level": 3, "bad": None}
    assert b"multiple_choice()" in files["bench_choices.py"]
    assert b"generate()" in files["bench_open.py"]


def test_items_of_one_kind_are_one_task_of_that_name() -> None:
    assert set(export_items(Benchmark("bench", (CHOICE,)), "inspect")) == {
        "bench.py",
        "bench.jsonl",
    }


def test_lm_eval_gets_positions_and_templates_that_show_the_question_as_it_is() -> None:
    files = export_items(BOTH, "lm-eval")
    task, (row,) = yaml.safe_load(files["bench_choices.yaml"]), rows(files["bench_choices.jsonl"])
    assert task["task"] == "bench_choices"
    assert task["output_type"] == "multiple_choice"
    assert task["dataset_kwargs"]["data_files"][task["test_split"]] == "bench_choices.jsonl"
    assert row[task["doc_to_choice"]][row[task["doc_to_target"]]] == "B"
    # as lm_eval renders it; the braces in the question are no template
    template = jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(task["doc_to_text"])
    asked = template.render(**row)
    assert asked == f"Question: {CHOICE.question}\nAnswer:"


def test_the_lm_eval_filter_takes_an_answer_without_the_blanks_around_it() -> None:
    files = export_items(BOTH, "lm-eval")
    task, (row,) = yaml.safe_load(files["bench_open.yaml"]), rows(files["bench_open.jsonl"])
    assert task["output_type"] == "generate_until"
    assert row[task["doc_to_target"]] == "2"
    (regex, first) = task["filter_list"][0]["filter"]
    assert first == {"function": "take_first"}
    for said, wanted in ((" 2\n", "2"), ("2", "2"), ("\n a b \n c ", "a b \n c")):
        assert re.findall(regex["regex_pattern"], said) == [wanted]


def test_openai_evals_gets_a_registry_whose_paths_fit() -> None:
    files = export_items(BOTH, "openai-evals")
    entry = yaml.safe_load(files["evals/bench.yaml"])
    version = entry[entry["bench"]["id"]]
    assert version["class"] == "evals.elsuite.basic.match:Match"
    choice, open_ended = rows(files[f"data/{version['args']['samples_jsonl']}"])
    assert choice["input"][-1]["content"].endswith("\n\nA) B\nB) A\nC) C")
    assert (choice["ideal"], open_ended["ideal"]) == ("A", " 2 ")


def test_lighteval_gets_positions() -> None:
    files = export_items(BOTH, "lighteval")
    assert {"bench_choices.py", "bench_open.py"} < set(files)
    (row,) = rows(files["bench_choices/test.jsonl"])
    assert row["choices"][row["gold"]] == "B"


def test_columns_have_one_type_whatever_the_metadata() -> None:
    other = CHOICE.model_copy(update={"id": "i3", "metadata": {"level": "hard"}})
    for to in ("hf", "lm-eval", "lighteval"):
        files = export_items(Benchmark("bench", (OPEN, other)), to)
        for name, data in files.items():
            if name.endswith(".jsonl"):
                assert {type(row["metadata"]) for row in rows(data)} == {str}


def test_the_card_tells_the_difficulties_and_shows_the_gaps() -> None:
    rng = np.random.default_rng(5)
    b = np.concatenate([np.linspace(-2, -0.5, 12), np.linspace(1, 2, 8)])
    diagnosis = diagnose(fit_1pl(respond(rng, abilities(rng), b, 16), engine="map"))
    items = tuple(Item(id=f"i{k}", question=f"q{k} | # ---", answer="x") for k in range(len(b) + 1))
    files = export_items(Benchmark("bench", items, {}, diagnosis), "hf")
    assert files["gap_ruler.png"].startswith(b"\x89PNG")
    found = rows(files["test.jsonl"])
    known = {one.item: one.z for one in diagnosis.difficulties}
    assert [row["difficulty"] for row in found] == [known.get(row["id"]) for row in found]
    assert found[-1]["difficulty"] is None  # not among the responses
    _, front, body = files["README.md"].decode().split("---\n", 2)
    (config,) = yaml.safe_load(front)["configs"]
    assert config["data_files"] == [{"split": "test", "path": "test.jsonl"}]
    counts = re.findall(r"^\| 0\.\d to \d\.\d \| (\d+) \|$", body, re.MULTILINE)
    z = np.array(list(known.values()))
    assert [int(one) for one in counts] == np.histogram(z, bins=5, range=(0, 1))[0].tolist()
    assert f"{diagnosis.gaps[0].z_left:.3f}" in body
    assert "![" in body


def test_without_responses_the_card_claims_no_difficulty() -> None:
    files = export_items(BOTH, "hf")
    assert set(files) == {"README.md", "test.jsonl"}
    assert "ifficulty_sd" not in files["README.md"].decode()
    assert "1 of them were written" in files["README.md"].decode()


@pytest.mark.parametrize(
    ("item", "to", "says"),
    [
        ({"answer": "d"}, "inspect", "not among its choices"),
        ({"answer": "d"}, "csv", "not among its choices"),
        ({"choices": ("a", "b", "a")}, "inspect", "two letters are right"),
        ({"choices": ("a", *(str(k) for k in range(26)))}, "helm", "26 letters"),
        ({"choices": ()}, "helm", "multiple choice only"),
        ({"choices": (), "answer": " "}, "lm-eval", "no answer to score by"),
    ],
)
def test_an_item_that_would_be_scored_wrongly_is_refused(
    item: dict[str, Any], to: str, says: str
) -> None:
    made = Item(**{"id": "bad", "question": "q", "answer": "a", "choices": ("a", "b"), **item})
    with pytest.raises(InputError, match=says) as caught:
        export_items(Benchmark("bench", (made,)), to, source="items.jsonl")
    assert str(caught.value).startswith("items.jsonl, item 'bad': ")


@pytest.mark.parametrize("to", ["hf", "lm-eval", "lighteval"])
def test_dates_alone_are_refused_where_they_would_become_times(to: str) -> None:
    dates = tuple(Item(id=f"i{k}", question="When?", answer=f"2020-01-0{k}") for k in (1, 2))
    with pytest.raises(InputError, match="nothing but dates"):
        export_items(Benchmark("bench", dates), to)
    # with any other answer among them they are read as texts
    assert export_items(Benchmark("bench", (*dates, OPEN)), to)
    assert export_items(Benchmark("bench", dates), "inspect")


def test_a_wrong_choice_may_stand_twice_and_data_may_lack_answers() -> None:
    twice = Item(id="x", question="q", answer="a", choices=("b", "b", "a"))
    (row,) = rows(export_items(Benchmark("bench", (twice,)), "inspect")["bench.jsonl"])
    assert row["target"] == "C"
    unknown = Item(id="x", question="q", answer="")
    assert export_items(Benchmark("bench", (unknown,)), "csv")


def test_no_items_and_no_such_format() -> None:
    with pytest.raises(InputError, match="nothing to export"):
        export_items(Benchmark("bench", ()), "csv")
    with pytest.raises(InputError, match=f"none of {', '.join(all_exports())}"):
        export_items(BOTH, "json")


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("GSM8K (v2)", "gsm8k_v2"),
        ("../../etc/passwd", "etc_passwd"),
        ("école: \n- x", "ecole_x"),
        ("2024", "items_2024"),
        ("a" * 200, "a" * 64),
    ],
)
def test_a_name_becomes_safe_everywhere(name: str, wanted: str) -> None:
    assert slug(name) == wanted


def test_a_name_of_which_nothing_is_left_is_refused() -> None:
    with pytest.raises(InputError, match="--name"):
        slug("数学")
