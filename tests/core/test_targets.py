"""Target distributions as users write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchfill import Beta, Empirical, InputError, Uniform, parse_target

if TYPE_CHECKING:
    from pathlib import Path


def test_words_and_files_are_read(tmp_path: Path) -> None:
    assert parse_target("uniform") == Uniform()
    assert parse_target("beta:2,5.5") == Beta(2, 5.5)
    path = tmp_path / "t.txt"
    path.write_text("\ufeff0.5\n\n1\n 0 \n", encoding="utf-8")
    target = parse_target(str(path))
    assert isinstance(target, Empirical)
    np.testing.assert_array_equal(target.points, [0.5, 1, 0])
    np.testing.assert_array_equal(target.quantile(np.array([0.1, 0.5, 0.9])), [0, 0.5, 1])


@pytest.mark.parametrize(
    "text",
    ["", "Uniform", "beta", "beta:", "beta:1", "beta:1,2,3", "beta:0,1", "beta:-1,2", "beta:a,b",
     "beta:nan,1", "beta:inf,1", "no/such/file.txt", ".", "a\0b", "x" * 5000],
)  # fmt: skip
def test_what_is_no_target_is_refused(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_target(text)
    assert caught.value.field == "--target-dist"
    assert len(caught.value.message) < 300


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        (b"0.5\n1.5\n", 2, "1.5"),
        (b"0.5\n\n-0.1\n", 3, "-0.1"),
        (b"half\n", 1, "half"),
        (b"nan\n", 1, "nan"),
        (b"0,5\n", 1, "0,5"),
        (b"", None, "no number"),
        (b"\n \n", None, "no number"),
        (b"\xff\xfe0\x00", None, "text"),
        (b"\x80\n", None, "text"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, content: bytes, line: int | None, words: str) -> None:
    path = tmp_path / "t.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words) as caught:
        parse_target(str(path))
    assert caught.value.line == line
    assert caught.value.source == str(path)


@pytest.mark.parametrize("target", [Uniform(), Beta(2, 5), Empirical(np.array([0.2, 0.9]))])
def test_a_benchmark_that_follows_its_target_has_little_mismatch(target: object) -> None:
    z = target.quantile((np.arange(1000) + 0.5) / 1000)  # type: ignore[attr-defined]
    assert float(target.wasserstein(z)) < 1e-3  # type: ignore[attr-defined]


@pytest.mark.parametrize("target", [Uniform(), Beta(2, 5), Empirical(np.array([0.9, 0.2, 0.2]))])
def test_the_distribution_function_inverts_the_quantiles(target: object) -> None:
    u = np.array([0.1, 0.5, 0.7, 0.95])
    quantile = target.quantile(u)  # type: ignore[attr-defined]
    assert (target.cdf(quantile) >= u - 1e-12).all()  # type: ignore[attr-defined]
    assert (target.cdf(quantile - 1e-6) <= u).all()  # type: ignore[attr-defined]
    np.testing.assert_array_equal(target.cdf(np.array([-0.1, 1.0])), [0, 1])  # type: ignore[attr-defined]
