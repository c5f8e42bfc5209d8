"""Real files, changed at random: an import that can be written and read again, or a sentence."""

from __future__ import annotations

import io
import json
import random
import zipfile
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchfill import InputError, read_items, read_responses
from benchfill.formats.delimited import responses_csv
from benchfill.importing import Imported, import_results
from support.import_files import beside, is_a_sentence, result_files, zipped

if TYPE_CHECKING:
    from pathlib import Path

FUZZED = 50_000  # bytes


def mutated(data: bytes, seed: int) -> bytes:
    """Change bytes, cut pieces out, double pieces, put in what JSON is made of."""
    rng = random.Random(seed)
    changed = bytearray(data[:FUZZED])
    pieces = [
        b'"',
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"null",
        b"-1",
        b"1e999",
        b"NaN",
        b"\\ud800",
    ]
    pieces += [b"\0", b"\xff", b"\n", b"true", b'""', b"0.5", b"7" * 400, b"\\", b"\r"]
    for _ in range(rng.choice([1, 1, 2, 5, 30])):
        at = rng.randrange(len(changed) + 1)
        match rng.randrange(4):
            case 0:
                changed[at : at + 1] = rng.choice(pieces)
            case 1:
                del changed[at : at + rng.randrange(1, 200)]
            case 2:
                changed[at:at] = changed[at : at + rng.randrange(1, 200)]
            case 3:
                changed[at : at + len(b"null")] = rng.choice(pieces)
    return bytes(changed)


def revalued(data: bytes, seed: int) -> bytes:
    """Change values of a JSON document or of a line, which stays JSON."""
    rng = random.Random(seed)
    lines = data.decode().splitlines()
    try:
        document, rest = json.loads(data), None
    except ValueError:
        row = rng.randrange(len(lines))
        try:
            document, rest = json.loads(lines[row]), row
        except ValueError:
            return mutated(data, seed)
    for _ in range(rng.choice([1, 1, 3])):
        document = _changed(document, rng)
    text = json.dumps(document)
    if rest is None:
        return text.encode()
    return "\n".join([*lines[:rest], text, *lines[rest + 1 :]]).encode()


def _changed(value: object, rng: random.Random) -> object:
    odd = [None, True, -1, 0.5, "", "x", "C", [], {}, [None], {"a": 1}, 10**400, 2, "\ud800", "\0"]
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice([*value])
        match rng.randrange(8):
            case 0:
                return {name: one for name, one in value.items() if name != key}
            case 1:
                return value | {key: rng.choice(odd)}
        return value | {key: _changed(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.9:
        at = rng.randrange(min(len(value), 5))
        return [*value[:at], _changed(value[at], rng), *value[at + 1 :]]
    return rng.choice(odd)


def sound(found: Imported, folder: Path) -> None:
    """What was imported can be written and read again."""
    path = folder / "responses.csv"
    path.write_text(responses_csv(found.responses), encoding="utf-8")
    again = read_responses(path)
    assert again.n.sum() == found.responses.n.sum()
    assert set(again.items) == set(found.responses.items)
    lines = "".join(f"{one.model_dump_json()}\n" for one in found.items)
    if lines:
        (folder / "items.jsonl").write_text(lines, encoding="utf-8")
        assert len(read_items(folder / "items.jsonl")) == len(found.items)
    found.report.model_dump_json()


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(seed=st.integers(0, 2**32), values=st.booleans())
def test_noise_gives_an_import_or_a_sentence(
    shared_data: Path, tmp_path: Path, seed: int, values: bool
) -> None:
    files = [*result_files(shared_data)]
    path = files[seed % len(files)]
    data = path.read_bytes()
    text = path.suffix != ".eval"
    path = beside(path, tmp_path, revalued(data, seed) if values and text else mutated(data, seed))
    try:
        found = import_results([path])
    except InputError as error:
        is_a_sentence(error, path)
    else:
        sound(found, tmp_path)


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(seed=st.integers(0, 2**32))
def test_noise_within_an_eval_log(shared_data: Path, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    sources = sorted((shared_data / "raw/inspect_ai").glob("*.eval"))
    buffer = io.BytesIO(rng.choice(sources).read_bytes())
    with zipfile.ZipFile(buffer) as source:
        members = {name: source.read(name) for name in source.namelist()}
    victim = rng.choice([*members])
    members[victim] = revalued(members[victim], seed)
    path = zipped(tmp_path / "noise.eval", members)
    try:
        found = import_results([path])
    except InputError as error:
        is_a_sentence(error, path)
    else:
        sound(found, tmp_path)
