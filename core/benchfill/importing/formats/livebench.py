"""LiveBench: ``ground_truth_judgment.jsonl``, and the questions in ``question.jsonl``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import override

from ..interface import ItemText, Reading, Recognised, Response, ResultFormat, small_metadata
from ..json_stream import read_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..node import Node
    from ..source import InputFile

_LONG = ("turns", "ground_truth", "question_id", "solution")


class LiveBench(ResultFormat):
    """Judgments of LiveBench; of two of the same answer the later one counts."""

    name = "livebench"
    example = "benchfill import data/live_bench --threshold 0.5"
    title = "LiveBench judgments"
    recognised_by = "JSON lines with `question_id`, `model`, `score`, `tstamp`"

    def recognise(self, file: InputFile) -> Recognised | None:
        """Know judgments and questions by their keys."""
        keys = set(file.first) if file.kind == "jsonl" else set()
        if {"question_id", "model", "score", "tstamp"} <= keys:
            return Recognised("keys question_id, model, score, tstamp")
        if {"question_id", "turns", "category"} <= keys and "choices" not in keys:
            return Recognised("keys question_id, turns, category: the questions")
        if {"question_id", "model_id", "choices"} <= keys:
            return Recognised(
                "holds answers without scores, which the judgments have.", "companion"
            )
        return None

    @override
    def read(self, file: InputFile, reading: Reading) -> Iterator[Response | ItemText]:
        """Yield judgments, or questions; those beside judgments too."""
        if "score" not in file.first:
            for row in read_lines(file):
                yield _question(row)
            return
        beside = file.beside("../question.jsonl") or file.beside("question.jsonl")
        for row in read_lines(beside) if beside is not None else ():
            yield _question(row)
        for row in read_lines(file):
            score, stamp = row["score"], row.get("tstamp")
            known = score.value is not None and score.value != -1
            yield Response(
                row["model"].name(),
                row["question_id"].name(),
                score.number() if known else None,
                rollout=row["turn"].name() if row.get("turn") is not None else "",
                stamp=0.0 if stamp is None else stamp.number(),
                why="not judged",
                line=row.line,
            )


def _question(row: Node) -> ItemText:
    turns, truth = row.get("turns"), row.get("ground_truth")
    asked = [one.text() for one in turns.elements()] if turns is not None else []
    known = truth is not None and not truth.is_a(dict)
    return ItemText(
        row["question_id"].name(),
        question="\n\n".join(asked),
        answer=truth.shown_text() if truth is not None and known else "",
        metadata=small_metadata(row, _LONG),
    )


FORMATS = (LiveBench(),)
