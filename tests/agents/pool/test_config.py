from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchfill.errors import InputError
from benchfill_agents.pool.config import read_pool

if TYPE_CHECKING:
    from pathlib import Path

GOOD = """
scoring: numeric
examples:
  - {question: "1 + 1 =", answer: 2}
  - {question: "2 + 3 =", answer: "5"}
models:
  - name: tiny
    model: openai/SmolLM2-135M-Instruct
    api_base: local
    style: completion
    shots: 2
    parameters: {temperature: 0.7, max_tokens: 8, stop: "\\n", seed: per_sample}
  - {name: paid, model: openai/gpt-4o-mini, api_key_env: SOME_KEY, matrix_name: GPT}
"""


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_pool_file_is_read(tmp_path: Path) -> None:
    pool = read_pool(write(tmp_path / "pool.yaml", GOOD))
    tiny, paid = pool.models
    assert pool.shots_of(tiny)[0].answer == "2"
    assert tiny.litellm_id == "text-completion-openai/SmolLM2-135M-Instruct"
    assert tiny.parameters.stop == ("\n",)
    assert pool.needs_local_server
    assert (tiny.response_name, paid.response_name) == ("tiny", "GPT")


@pytest.mark.parametrize(
    ("text", "said"),
    [("models:\n", "models: must be a list."), ("models: []\n", "models: is empty; one entry")],
)
def test_a_list_of_no_models_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = write(tmp_path / "pool.yaml", text)
    with pytest.raises(InputError, match=said):
        read_pool(path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("shots: 2", "shots: 3"), "model 'tiny' wants 3 shots, but there are 2 examples"),
        (("name: paid", "name: tiny"), "2 models have the name 'tiny'"),
        (("matrix_name: GPT", "matrix_name: tiny"), "2 models have the matrix_name 'tiny'"),
        (
            ("shots: 2", "shot: 2"),
            "models[0].shot (tiny): is no key here; perhaps 'shots'",
        ),
        (("temperature: 0.7", "temperature: 7"), "models[0].parameters.temperature (tiny)"),
        (("api_base: local", "api_base: localhost:80"), "neither an http(s) URL nor the word"),
        (
            ("SmolLM2-135M-Instruct", "gpt-4o"),
            "the local server carries SmolLM2-135M",
        ),
        (("max_tokens: 8, ", ""), "completion style needs parameters.max_tokens"),
        (("api_key_env: SOME_KEY", "api_key: sk-123456789"), "a key must not stand in the pool"),
        (("scoring: numeric", "scoring: fuzzy"), "scoring"),
        (("scoring: numeric", "limits: {local: 0}"), "limits"),
        (("scoring: numeric", "limits: {other: 3}"), "'other', which is no model's api_base"),
        (("shots: 2", "shots: 2\n    shots: 1"), "line 12: is not valid YAML (the key 'shots'"),
        (("shots: 2", "shots: 2\n    runners: 1"), "is no key here; perhaps 'runner'"),
        (("scoring: numeric", "scoring: *a"), "aliases are not supported"),
        (("scoring: numeric", "scoring: [1"), "is not valid YAML"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    assert change[0] in GOOD
    path = write(tmp_path / "pool.yaml", GOOD.replace(*change))
    with pytest.raises(InputError) as caught:
        read_pool(path)
    assert str(path) in caught.value.message
    assert said in caught.value.message
    assert "sk-123456789" not in caught.value.message


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"# only a comment\n", "is empty"),
        (b"- 1\n- 2\n", "must be a mapping"),
        (b"models: []\n", "models"),
        (b"models: 3\n", "models"),
        (b"\x00\x01\x02\xff\xfe", "is not UTF-8"),
        (b"a: \x07\n", "is not valid YAML"),
        (b"!!python/object/apply:os.system ['true']", "is not valid YAML"),
        (b"[" * 20_000, "is nested too deeply"),
        (b"? {a: 1}\n: 2\n", "is not valid YAML"),
        (b"models: [2001-99-99]\n", "is not valid YAML"),
    ],
)
def test_a_file_that_is_no_pool_gives_one_sentence(
    tmp_path: Path, content: bytes, said: str
) -> None:
    path = tmp_path / "pool.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said):
        read_pool(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.yaml: cannot be read \(No such file"):
        read_pool(tmp_path / "none.yaml")


def test_two_models_asked_alike_are_refused(tmp_path: Path) -> None:
    twice = "models:\n  - {name: a, model: openai/x}\n  - {name: b, model: openai/x}\n"
    with pytest.raises(InputError, match="'a' and 'b' are asked in exactly the same way"):
        read_pool(write(tmp_path / "pool.yaml", twice))


def test_the_key_depends_on_parameters_and_not_on_names_or_limits(tmp_path: Path) -> None:
    one = read_pool(write(tmp_path / "a.yaml", GOOD)).models[0]
    renamed = one.model_copy(update={"name": "x", "max_concurrency": 1, "retries": 0})
    hotter = one.model_copy(
        update={"parameters": one.parameters.model_copy(update={"temperature": 0.8})}
    )
    assert renamed.parameters_hash == one.parameters_hash
    assert hotter.parameters_hash != one.parameters_hash
