"""simple-evals: the HTML page of a run, the only place where it keeps scores of single items.

The page names neither items nor model: an item's id is a hash of its prompt, which is the same for
every model.
"""

from __future__ import annotations

import codecs
import hashlib
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from typing_extensions import override

from ..interface import Choice, ItemText, Reading, Recognised, Response, ResultFormat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..source import InputFile

_START, _RESULTS = "Prompt conversation", "Results"
_BLOCK = 1 << 16
ID_LENGTH = 16


class SimpleEvals(ResultFormat):
    """Pages of simple-evals."""

    name = "simple-evals"
    example = "benchfill import mmlu_gpt-4o.html --model gpt-4o"
    title = "simple-evals pages"
    recognised_by = "HTML with `Prompt conversation`, `Results` and `Score:`"
    choices = (Choice("--model", "the file's name", "the model"),)

    def recognise(self, file: InputFile) -> Recognised | None:
        """Know a page by its headings."""
        head = file.head_text if file.kind == "text" else ""
        if f"<h3>{_START}</h3>" in head and "<h1>Examples</h1>" in head:
            return Recognised("HTML with the headings Examples and Prompt conversation")
        return None

    def read(self, file: InputFile, reading: Reading) -> Iterator[Response | ItemText]:
        """Yield every example of the page."""
        model = reading.model(file.stem(), "file's name")
        reading.note("The page names no items: ids are hashes of the prompts.")
        page = _Page()
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        with file.open() as stream:
            while block := stream.read(_BLOCK):
                page.feed(decode(block))
                for example in page.taken():
                    yield from _example(example, model, file)
        page.close()
        for example in page.taken():
            yield from _example(example, model, file)
        if page.unfinished:
            raise file.error("ends in the middle of an example; the file is cut off.")


def _example(example: dict[str, str], model: str, file: InputFile) -> Iterator[Response | ItemText]:
    prompt = example["prompt"].strip()
    if not prompt:
        raise file.error("holds an example without a prompt.")
    item = hashlib.sha256(prompt.encode()).hexdigest()[:ID_LENGTH]
    yield ItemText(item, "", prompt, example.get("Correct Answer", ""))
    text = example.get("Score", "")
    try:
        score = None if text in {"", "None"} else float({"True": "1", "False": "0"}.get(text, text))
    except ValueError:
        raise file.error(f"{text[:40]!r} is no score.", field=f"item {item}") from None
    yield Response(model, item, score, why="no score")


class _Page(HTMLParser):
    """Collects prompt and results of every example."""

    def __init__(self) -> None:
        super().__init__()
        self._done: list[dict[str, str]] = []
        self._part = ""
        self._tag = ""
        self._text: list[str] = []
        self._example: dict[str, str] = {}

    @property
    def unfinished(self) -> bool:
        """Whether an example was begun and not ended."""
        return bool(self._part)

    def taken(self) -> list[dict[str, str]]:
        """Return the examples that were completed since the last call."""
        done, self._done = self._done, []
        return done

    @override
    def handle_starttag(self, tag: str, attrs: object) -> None:
        """Begin a heading, paragraph or text; a line ends an example."""
        if tag in {"h3", "p", "pre"}:
            self._tag, self._text = tag, []
        elif tag == "hr" and self._part:
            self._done.append(self._example)
            self._part = ""

    def handle_data(self, data: str) -> None:
        """Keep what stands in it."""
        if self._tag:
            self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        """Put it where it belongs."""
        if tag != self._tag:
            return
        text, self._tag = "".join(self._text), ""
        if tag == "h3":
            if text == _START:
                self._example = {"prompt": ""}
            self._part = text
        elif tag == "pre" and self._part == _START:
            self._example["prompt"] += f"{text}\n\n"
        elif tag == "p" and self._part == _RESULTS:
            name, colon, value = text.partition(":")
            if colon:
                self._example[name] = value.strip()


FORMATS = (SimpleEvals(),)
