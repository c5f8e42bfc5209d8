"""Difficulty guessed from the text: the closed form, and when it is off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchfill.child_likelihoods import Expected
from benchfill.items import Item
from benchfill.measure import DifficultyScale
from benchfill_agents.calibrator.learned import (
    ENOUGH,
    Guess,
    LearnedDifficulty,
    Ridge,
    judged,
    narrower,
)
from benchfill_agents.calibrator.surface import NAMES, surface_features
from benchfill_agents.memory import MemoryEntry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class Topics:
    """An `Embedder` that knows the topic of a text, its first word, and nothing else."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), 384), np.float32)
        vectors[np.arange(len(texts)), [int(text.split()[0][5:]) for text in texts]] = 1
        return vectors


def entries(count: int, *, tells: bool, seed: int = 3) -> list[MemoryEntry]:
    """Items of 10 topics; z follows the topic, or nothing."""
    rng = np.random.default_rng(seed)
    of_topic = rng.uniform(0.1, 0.9, 10)
    made = []
    for k in range(count):
        topic = int(rng.integers(10))
        z = of_topic[topic] + rng.normal(0, 0.05) if tells else rng.uniform(0.1, 0.9)
        item = Item(id=f"i{k}", question=f"topic{topic} question {k:04d}?", answer="7")
        made.append(MemoryEntry(item=item, z=z, sd=0.02))
    return made


def test_left_out_predictions_are_those_of_refits() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(1)
    X, y, weights = rng.normal(size=(25, 40)), rng.normal(size=25), rng.uniform(0.2, 3, 25)
    penalty = np.repeat([2.0, 5.0], 20)
    ridge = Ridge.fit(X, y, weights, penalty)
    scaled = X / np.sqrt(penalty)  # scikit-learn has one penalty for all
    refit = linear_model.Ridge(alpha=1.0).fit(scaled, y, sample_weight=weights)
    np.testing.assert_allclose(ridge.predict(X), refit.predict(scaled), atol=1e-9)
    for i in range(25):
        kept = np.arange(25) != i
        refit.fit(scaled[kept], y[kept], sample_weight=weights[kept])
        assert ridge.left_out[i] == pytest.approx(refit.predict(scaled[i : i + 1])[0], abs=1e-9)


def test_what_the_text_tells_is_guessed_with_its_error() -> None:
    known = entries(200, tells=True)
    learned = LearnedDifficulty(known[:150], Topics(), prior_sd=0.25)
    report = learned.report
    assert report.used
    assert report.items == 150
    assert report.r is not None
    assert report.r_q05 is not None
    assert report.r_q95 is not None
    assert 0.8 < report.r_q05 < report.r < report.r_q95
    new = known[150:]
    guesses = learned.guess([entry.item for entry in new])
    assert guesses is not None
    missed = [guess.mean - entry.z for guess, entry in zip(guesses, new, strict=True)]
    assert {guess.sd for guess in guesses} == {report.sd}
    assert report.sd == pytest.approx(np.sqrt(np.mean(np.square(missed))), rel=0.35)


def test_off_where_the_text_tells_nothing() -> None:
    learned = LearnedDifficulty(entries(120, tells=False), Topics(), prior_sd=0.25)
    assert not learned.report.used
    assert learned.report.why_off is not None
    assert "leave-one-out correlation" in learned.report.why_off
    assert learned.guess([entries(1, tells=True)[0].item]) is None


def test_off_where_the_benchmark_is_narrower_than_the_error() -> None:
    learned = LearnedDifficulty(entries(120, tells=True), Topics(), prior_sd=0.03)
    assert learned.report.why_off is not None
    assert "no less than the benchmark's own spread of 0.030" in learned.report.why_off


def test_off_with_few_items() -> None:
    few = entries(ENOUGH - 1, tells=True)
    report = LearnedDifficulty(few, Topics(), prior_sd=0.25).report
    assert (report.used, report.items) == (False, ENOUGH - 1)


def test_equal_difficulties_correlate_with_nothing() -> None:
    report = judged(np.full(40, 0.5), np.full(40, 0.5), 0.2)
    assert not report.used
    assert report.r == 0


def test_surface_features_are_finite_for_any_text() -> None:
    texts = ["", "7", "9" * 500, "a\n\n\u0000 1/2 % $x^2$", "1,000.5 and 30%"]
    items = [Item(id=str(k), question=text or " ", answer=text) for k, text in enumerate(texts)]
    found = surface_features(items)
    assert found.shape == (5, len(NAMES))
    assert np.isfinite(found).all()
    assert surface_features([]).shape == (0, len(NAMES))


def test_the_narrower_expectation_counts() -> None:
    scale = DifficultyScale.of(np.array([-2.0, 2.0]))
    guess = Guess(0.75, 0.1).on(scale)
    assert (guess.mean, guess.sd) == (pytest.approx(1.0), pytest.approx(0.4))
    habit = Expected(0.2, 0.7)
    assert narrower(habit, guess) is guess
    assert narrower(habit, None) is habit
    assert narrower(None, None) is None
