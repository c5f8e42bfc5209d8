"""The report folders: complete, self-contained, and safe whatever stands in items and names."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

import benchfill as bf
from benchfill.errors import InputError
from benchfill_services.report.diagnosis_report import Shown, write_diagnosis_report
from benchfill_services.report.fill_report import write_fill_report
from support.fills import ENVELOPE, HOSTILE, FillExample, gapped_fit, make_fill

if TYPE_CHECKING:
    from pathlib import Path

PNG = b"\x89PNG\r\n\x1a\n"
LOADS = {"src", "srcset", "href", "poster", "data", "action", "background", "cite", "formaction"}
VOID = {"meta", "img", "source", "br", "hr", "input", "link"}


class _Page(HTMLParser):
    """What a browser would see of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text = ""
        self._open: list[str] = []
        self.unbalanced: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.unbalanced.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data

    def values(self, tag: str, attribute: str) -> list[str]:
        return [value for t, a, value in self.attributes if (t, a) == (tag, attribute)]


@pytest.fixture(scope="module")
def example() -> FillExample:
    return make_fill()


UNIFORM = Shown(bf.Uniform())


@pytest.fixture(scope="module")
def written(example: FillExample, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("reports") / "new" / "fill"
    write_fill_report(out, ENVELOPE, example.diagnosis, example.report, example.transcripts)
    return out


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("hostile")
    bad = make_fill(HOSTILE)
    write_fill_report(out, ENVELOPE, bad.diagnosis, bad.report, bad.transcripts)
    return out


def _page(folder: Path) -> _Page:
    return _Page((folder / "report.html").read_text(encoding="utf-8"))


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_folder_is_complete_and_nothing_half_written_stays(written: Path) -> None:
    pictures = {"distribution.png", "wright-map.png", "search-gap-1.png", "search-gap-2.png"}
    texts = {"report.html", "report.json", "candidates.jsonl", "transcript.jsonl"}
    assert {path.name for path in written.iterdir()} == pictures | texts
    assert all((written / name).read_bytes().startswith(PNG) for name in pictures)


def test_report_json_is_the_envelope_and_the_result(written: Path, example: FillExample) -> None:
    expected = ENVELOPE | example.report.model_dump(mode="json")
    assert json.loads((written / "report.json").read_text(encoding="utf-8")) == expected


def test_a_document_that_holds_the_result_already_is_written_as_it_is(
    example: FillExample, tmp_path: Path
) -> None:
    document = ENVELOPE | example.report.model_dump(mode="json") | {"job": "1f", "seconds": None}
    write_fill_report(tmp_path, document, example.diagnosis, example.report, {})
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8")) == document


def test_every_measured_child_has_its_line(written: Path, example: FillExample) -> None:
    lines = _lines(written / "candidates.jsonl")
    measured = [one for fill in example.report.fills for one in fill.calibrations]
    assert [line["calibration"]["item"] for line in lines] == [one.item for one in measured]
    assert [bf.Item.model_validate(line["item"]).id for line in lines] == [
        one.item for one in measured
    ]
    (chosen,) = [line for line in lines if line["chosen"]]
    assert example.report.fills[0].chosen is not None
    assert chosen["item"]["question"] == example.report.fills[0].chosen.question
    assert chosen["gap"] == "gap-1"
    assert chosen["provenance"]["parent"] == example.report.fills[0].chosen.parent
    assert {line["provenance"]["round"] for line in lines} == {1, 2}


def test_every_message_has_its_line(written: Path, example: FillExample) -> None:
    expected = [
        {"gap": gap} | message
        for gap, messages in example.transcripts.items()
        for message in messages
    ]
    assert _lines(written / "transcript.jsonl") == expected


@pytest.mark.parametrize("which", ["written", "hostile"])
def test_the_page_loads_nothing_and_runs_nothing(
    which: str, request: pytest.FixtureRequest
) -> None:
    folder: Path = request.getfixturevalue(which)
    page = _page(folder)
    assert page.unbalanced == []
    assert not {"script", "iframe", "object", "embed", "link", "form", "base"} & set(page.tags)
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]
    for tag, name, value in page.attributes:
        if name in LOADS:
            beside = tag == "a" and (folder / value).is_file()
            assert beside or value.startswith("data:image/png;base64,"), (tag, name, value[:80])
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    assert policy in page.values("meta", "content")
    assert "url(" not in (folder / "report.html").read_text(encoding="utf-8")


def test_hostile_text_adds_no_tag_and_hides_nothing(written: Path, hostile: Path) -> None:
    page = _page(hostile)
    # every tag of the page is one that the harmless page has too, and no bold or bare image
    assert set(page.tags) <= set(_page(written).tags) | {"details", "summary", "span"}
    assert page.tags.count("img") == 4
    assert "b" not in page.tags
    assert "<script>alert(1)</script>" in page.text
    assert "{{ 7*7 }}" in page.text
    assert "⟨U+202E⟩txt.exe⟨U+202C⟩" in page.text
    raw = (hostile / "report.html").read_text(encoding="utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u200b]", raw)


def test_headings_are_in_order_and_everything_has_a_name(written: Path) -> None:
    page = _page(written)
    levels = [int(tag[1]) for tag in page.tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    alts = page.values("img", "alt")
    assert len(alts) == page.tags.count("img")
    assert all(len(alt) > 40 for alt in alts)
    assert len(page.values("th", "scope")) == page.tags.count("th")
    assert page.tags.count("caption") == page.tags.count("table")
    assert page.values("html", "lang") == ["en"]


def test_the_page_says_what_was_found(written: Path, example: FillExample) -> None:
    text = " ".join(_page(written).text.split())
    chosen = example.report.fills[0].chosen
    assert chosen is not None
    assert "keeps its score, and the benchmark does not see it" in text
    assert f"z = {chosen.z:.3f} (90% interval {chosen.q05:.3f} to {chosen.q95:.3f})" in text
    assert "12 + 6 =" in text
    assert "1 drifted" in text
    assert "measured again, with 96 rollouts" in text
    (moved,) = example.report.fills[0].borders.borders
    assert f"from {moved.z_before:.3f} ± 0.062 to {moved.z:.3f} ± 0.015" in text
    for digest in ENVELOPE["inputs"].values():  # type: ignore[attr-defined]
        assert digest in text
    assert "ZeroSumNormal" in text
    assert "arXiv:2610.29927" in text
    assert "Calibrator" in text


def test_a_fill_of_nothing_is_reported_too(example: FillExample, tmp_path: Path) -> None:
    nothing = example.report.model_copy(update={"fills": ()})
    write_fill_report(tmp_path, ENVELOPE, example.diagnosis, nothing, {})
    assert "No gap is surely empty" in _page(tmp_path).text
    assert (tmp_path / "candidates.jsonl").read_bytes() == b""


def test_long_texts_are_folded_and_the_page_stays_small(tmp_path: Path) -> None:
    long = make_fill("A long story. " * 1400, gaps=1, rounds=1)
    write_fill_report(tmp_path, ENVELOPE, long.diagnosis, long.report, long.transcripts)
    assert (tmp_path / "report.html").stat().st_size < 3_000_000
    assert "[cut at 4,000 of 19," in _page(tmp_path).text


def test_a_large_diagnosis_leaves_out_the_middle_of_its_tables(tmp_path: Path) -> None:
    fit = gapped_fit(items=1500, k=2)
    diagnosis = bf.diagnose(fit)
    write_diagnosis_report(tmp_path, ENVELOPE, fit, diagnosis, UNIFORM)
    page = _page(tmp_path)
    assert page.unbalanced == []
    assert "1,100 rows left out here" in page.text
    written = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert written == ENVELOPE | diagnosis.model_dump(mode="json")
    assert (tmp_path / "report.html").stat().st_size < 2_000_000


def test_failed_checks_are_said_in_words(tmp_path: Path) -> None:
    fit = gapped_fit(items=12, k=1)
    diagnosis = bf.diagnose(fit)
    failed = [
        check.model_copy(update={"passed": False, "value": 0.9}) for check in diagnosis.checks
    ]
    write_diagnosis_report(
        tmp_path,
        ENVELOPE,
        fit,
        diagnosis.model_copy(update={"checks": tuple(failed)}),
        Shown(bf.Beta(2, 2)),
    )
    text = _page(tmp_path).text
    assert "7 of 7 checks failed" in text
    assert "Add models of middling ability" in text
    assert "the Beta(2, 2) distribution" in text


def test_other_files_stay_and_a_file_in_the_way_is_named(
    example: FillExample, tmp_path: Path
) -> None:
    (tmp_path / "mine.txt").write_text("keep")
    write_diagnosis_report(tmp_path, ENVELOPE, example.fit, example.diagnosis, UNIFORM)
    assert (tmp_path / "mine.txt").read_text() == "keep"
    with pytest.raises(InputError, match=r"mine\.txt: is a file, not a folder"):
        write_diagnosis_report(
            tmp_path / "mine.txt", ENVELOPE, example.fit, example.diagnosis, UNIFORM
        )


def test_a_write_that_fails_leaves_the_former_report(example: FillExample, tmp_path: Path) -> None:
    write_diagnosis_report(tmp_path, ENVELOPE, example.fit, example.diagnosis, UNIFORM)
    before = (tmp_path / "report.json").read_bytes()
    (tmp_path / "wright-map.png").unlink()
    (tmp_path / "wright-map.png").mkdir()
    with pytest.raises(InputError, match="cannot be written there"):
        write_diagnosis_report(tmp_path, ENVELOPE, example.fit, example.diagnosis, UNIFORM)
    assert (tmp_path / "report.json").read_bytes() == before
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
