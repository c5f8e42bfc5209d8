"""MMLU-Pro: ``model_outputs_*.json``, often in a ZIP file; the score is pred == answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..interface import (
    Choice,
    ItemText,
    Reading,
    Recognised,
    Response,
    ResultFormat,
    answer_text,
    small_metadata,
)
from ..json_stream import read_array, read_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..node import Node
    from ..source import InputFile

_KEYS = {"question_id", "options", "answer", "pred"}
_LONG = ("question", "options", "pred", "model_outputs", "generated_text", "cot_content")


class MmluPro(ResultFormat):
    """Outputs of MMLU-Pro's scripts."""

    name = "mmlu-pro"
    example = "benchfill import eval_results/*.zip --null missing"
    title = "MMLU-Pro outputs"
    recognised_by = "a JSON list with `question_id`, `options`, `answer`, `pred`"
    choices = (
        Choice("--null", "wrong", "no prediction: wrong or missing (officially a random guess)"),
        Choice("--model", "the file's name", "the model"),
    )

    def recognise(self, file: InputFile) -> Recognised | None:
        """Know it by its keys."""
        if (file.is_list or file.kind == "jsonl") and set(file.first) >= _KEYS:
            return Recognised("a list with keys question_id, options, answer, pred")
        return None

    def read(self, file: InputFile, reading: Reading) -> Iterator[Response | ItemText]:
        """Yield whether the prediction is the answer."""
        name = file.stem().removeprefix("model_outputs_")
        model = reading.model(name, "file's name")
        guessed, nulls = 0.0, 0
        for row in read_array(file) if file.is_list else read_lines(file):
            if row.is_a(str):
                reading.drop("a bare text instead of a row")
                continue
            item = row["question_id"].name()
            options = tuple(one.text() for one in row["options"].elements())
            answer = row["answer"].text()
            yield _item(row, item, options, answer)
            pred = row.get("pred")
            if pred is not None:
                yield Response(model, item, float(pred.text() == answer), line=row.line)
                continue
            nulls += 1
            guessed += 1 / max(len(options), 1)
            wrong = reading.wrong("null", "the official script guesses at random, which no two do")
            yield Response(model, item, 0.0 if wrong else None, why="no prediction", line=row.line)
        if nulls:
            reading.note(
                f"{nulls:,} rows have no prediction; the official script would guess, and get "
                f"{guessed:.1f} of them right on average."
            )


def _item(row: Node, item: str, options: tuple[str, ...], answer: str) -> ItemText:
    text = row["question"].text()
    return ItemText(
        item, "", text, answer_text(answer, options), options, small_metadata(row, _LONG)
    )


FORMATS = (MmluPro(),)
