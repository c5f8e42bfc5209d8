"""What is written reads back as the same items, whatever stands in them."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchfill import InputError, Item, Slot, Template, read_items
from benchfill.exporting import Benchmark, all_exports, export_items
from benchfill.importing import import_results
from benchfill.items import ItemDomain

if TYPE_CHECKING:
    from collections.abc import Mapping

HOSTILE = (
    *("{{jinja}}", "{% raw %}", "---", "---\nyaml: [", '"""', "'''", "\\", "\\n", '"', "\n", "\r"),
    *(
        "\r\n",
        " leading",
        "trailing ",
        "\t",
        ",",
        ";",
        "A",
        "B",
        "0",
        "[1]",
        "{}",
        "\u2028",
        "\x85",
    ),
    *("Ω ≠ 数学", "🙂", "e\u0301", "=1+1", "${HOME}", "`rm`", "{question}", "%s", "#", "null"),
    *("2020-01-01?", "|", "\x1b[31m"),
)
PIECES = st.sampled_from(HOSTILE) | st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1, max_size=12
)
TEXTS = st.lists(PIECES, min_size=1, max_size=4).map("".join)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
    | st.just("x" * 500)
    | st.just("2020-01-01")
)
NESTED = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
METADATA = st.dictionaries(
    st.sampled_from(["level", "topic", "--- x", "id", "question", "task", ""]) | TEXTS,
    NESTED,
    max_size=3,
)
TEMPLATES = st.none() | st.builds(
    Template,
    name=TEXTS,
    text=TEXTS,
    slots=st.dictionaries(
        st.sampled_from("ab"),
        st.just(Slot(low=-3, high=10**12)) | st.builds(Slot, words=st.tuples(TEXTS, TEXTS)),
    ),
    constraints=st.lists(TEXTS, max_size=2).map(tuple),
    answer=TEXTS,
)
VALUES = st.dictionaries(st.sampled_from("ab"), st.integers() | TEXTS, max_size=2)
DOMAINS = st.none() | st.sampled_from(get_args(ItemDomain))
LETTERS = frozenset({"helm"})
"""Formats that hold multiple choice only."""


@st.composite
def items(draw: st.DrawFn, open_ended: bool) -> list[Item]:
    made = []
    for number in range(draw(st.integers(1, 3))):
        choices = () if open_ended else tuple(
            draw(st.lists(TEXTS, min_size=2, max_size=10, unique=True))
        )  # fmt: skip
        answer = draw(st.sampled_from(choices)) if choices else draw(TEXTS.filter(str.strip))
        made.append(
            Item(
                id=f"{number}-é x",
                question=draw(TEXTS.filter(str.strip)),
                answer=answer,
                choices=choices,
                template=draw(TEMPLATES),
                values=draw(VALUES),
                domain=draw(DOMAINS),
                metadata=draw(METADATA),
            )
        )
    return made


def read_back(data: bytes, suffix: str, wanted: list[Item]) -> tuple[Item, ...]:
    """Import a data file; responses stand beside it, without which there is nothing to import."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"data{suffix}"
        path.write_bytes(data)
        rows = "".join(
            json.dumps({"model": "m", "item": item.id, "correct": 1}) + "\n" for item in wanted
        )
        (Path(folder) / "answers.jsonl").write_text(rows, encoding="utf-8")
        return import_results([folder]).items


def data_of(files: Mapping[str, bytes]) -> tuple[bytes, str]:
    (name,) = [name for name in files if name.endswith((".jsonl", ".csv"))]
    return files[name], Path(name).suffix


def programs_of(to: str, one: Item) -> dict[str, bytes]:
    files = export_items(Benchmark("bench", (one,)), to)
    return {name: data for name, data in files.items() if name.endswith((".py", ".yaml", ".md"))}


CASES = [
    pytest.param(to, open_ended, id=f"{to}-{'open' if open_ended else 'choices'}")
    for to in sorted(all_exports())
    for open_ended in (False, True)
    if not (open_ended and to in LETTERS)
]


@pytest.mark.parametrize(("to", "open_ended"), CASES)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_an_export_imports_as_the_same_items(
    to: str, open_ended: bool, data: st.DataObject
) -> None:
    given_items = data.draw(items(open_ended))
    files = export_items(Benchmark("bench", tuple(given_items)), to)
    assert {item.id: item for item in read_back(*data_of(files), given_items)} == {
        item.id: item for item in given_items
    }


@settings(max_examples=25, deadline=None)
@given(items(open_ended=False))
def test_helm_instances_hold_question_choices_and_the_right_one(given_items: list[Item]) -> None:
    files = export_items(Benchmark("bench", tuple(given_items)), "helm")
    lines = files["bench.jsonl"].decode().split("\n")
    for item, line in zip(given_items, lines[:-1], strict=True):
        row: dict[str, Any] = json.loads(line)
        assert row["input"]["text"] == item.question
        assert row["id"] == item.id
        assert [one["output"]["text"] for one in row["references"]] == list(item.choices)
        (right,) = [one for one in row["references"] if one["tags"] == ["correct"]]
        assert right["output"]["text"] == item.answer


@pytest.mark.parametrize("to", sorted({*all_exports()} - {"helm"}))
@settings(max_examples=25, deadline=None)
@given(question=TEXTS.filter(str.strip), answer=TEXTS.filter(str.strip))
def test_no_text_of_an_item_reaches_a_program_or_yaml(to: str, question: str, answer: str) -> None:
    plain = programs_of(to, Item(id="plain", question="one", answer="two"))
    assert programs_of(to, Item(id=question, question=question, answer=answer)) == plain
    for name, source in plain.items():
        if name.endswith(".py"):
            compile(source, name, "exec")
        elif name.endswith(".yaml"):
            assert isinstance(yaml.safe_load(source), dict)


@pytest.mark.parametrize("to", sorted({*all_exports()} - {"helm"}))
def test_choices_that_look_like_letters_or_positions_are_not_taken_for_them(to: str) -> None:
    given_items = [
        Item(id="letters", question="q", answer="B", choices=("B", "A", "C")),
        Item(id="positions", question="q", answer="2", choices=("2", "0", "1")),
    ]
    files = export_items(Benchmark("bench", tuple(given_items)), to)
    found = {item.id: item for item in read_back(*data_of(files), given_items)}
    assert found == {item.id: item for item in given_items}


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(given_items=items(open_ended=False))
def test_our_own_file_of_items_reads_back(tmp_path: Path, given_items: list[Item]) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text("".join(f"{one.model_dump_json()}\n" for one in given_items), encoding="utf-8")
    assert read_items(path) == tuple(given_items)


@pytest.mark.parametrize("to", sorted(all_exports()))
def test_what_is_added_comes_back_beside_the_metadata(to: str) -> None:
    whole = Item(id="a", question="q", answer="x", choices=("x", "y"), metadata={"k": [1, {}]})
    benchmark = Benchmark("bench", (whole,), {"a": {"candidate": "c", "z": 0.5}})
    (found,) = read_back(*data_of(export_items(benchmark, to)), [whole])
    added = {"benchfill": {"provenance": {"candidate": "c", "z": 0.5}}}
    assert found == whole.model_copy(update={"metadata": whole.metadata | added})
    # and stays when it is exported again
    (again,) = read_back(*data_of(export_items(Benchmark("bench", (found,)), to)), [found])
    assert again == found


@pytest.mark.parametrize("to", sorted(all_exports()))
@pytest.mark.parametrize("own", [{"template": "junk"}, {"values": [1]}, "text", {}, {"domain": 3}])
def test_what_only_looks_like_our_fields_stays(to: str, own: Any) -> None:
    item = Item(id="a", question="q", answer="x", choices=("x", "y"), metadata={"benchfill": own})
    (found,) = read_back(*data_of(export_items(Benchmark("bench", (item,)), to)), [item])
    assert found == item


@pytest.mark.parametrize("to", sorted(all_exports()))
def test_a_row_longer_than_what_is_looked_at_first_is_whole(to: str) -> None:
    long = Item(id="a", question="q" * 400_000, answer="x", choices=("x", "y"), metadata={"k": 1})
    (found,) = read_back(*data_of(export_items(Benchmark("bench", (long,)), to)), [long])
    assert found == long


@pytest.mark.parametrize("to", sorted(all_exports()))
def test_metadata_nested_too_deeply_are_refused(to: str) -> None:
    nested: dict[str, Any] = {}
    for _ in range(150):
        nested = {"x": nested}
    item = Item(id="a", question="q", answer="x", choices=("x", "y"), metadata=nested)
    with pytest.raises(InputError, match="item 'a': has metadata that are nested more than 100"):
        export_items(Benchmark("bench", (item,)), to)
