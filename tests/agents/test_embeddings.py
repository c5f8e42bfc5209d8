"""Sentence embeddings with the packaged model, and what is kept of them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchfill_agents.embeddings import SentenceEmbedder, installed

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(not installed(), reason="the extra embeddings is not installed")
TEXTS = ("How many clips did Natalia sell?", "Which planet is the largest?", "Is 7 prime?")


def test_unit_vectors_whatever_comes_with_them() -> None:
    embedder = SentenceEmbedder()
    together = embedder.embed([*TEXTS, TEXTS[0]])
    assert together.shape == (4, 384)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    np.testing.assert_array_equal(together[0], together[3])
    alone = SentenceEmbedder().embed([TEXTS[1]])[0]
    assert float(alone @ together[1]) == pytest.approx(1, abs=1e-4)


def test_texts_that_are_no_words() -> None:
    vectors = SentenceEmbedder().embed(["", "\ud800", "x" * 100_000])
    assert np.isfinite(vectors).all()


def test_the_end_of_a_long_text_counts() -> None:
    start = "The farmer has many animals and counts them every single day. " * 30
    one, other = SentenceEmbedder().embed(
        [f"{start}What is 12% of 50?", f"{start}Prove that the harmonic series diverges." * 3]
    )
    assert float(one @ other) < 0.999


def test_what_was_embedded_is_read_back_from_the_file(tmp_path: Path) -> None:
    file = tmp_path / "new folder" / "vectors.sqlite"
    made = SentenceEmbedder(file).embed(TEXTS)
    # whatever stands in the file is believed, so a changed vector shows where it came from
    with closing(sqlite3.connect(file)) as kept, kept:
        assert kept.execute("SELECT count(*) FROM vectors").fetchone() == (3,)
        other = np.full(384, 384**-0.5, np.float32).tobytes()
        kept.execute("UPDATE vectors SET vector = ? WHERE vector = ?", (other, made[1].tobytes()))
    again = SentenceEmbedder(file).embed([*TEXTS, "And this one is new."])
    np.testing.assert_array_equal(again[[0, 2]], made[[0, 2]])
    np.testing.assert_allclose(again[1], 384**-0.5)
