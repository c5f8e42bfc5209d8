"""Scored answers from many files, put into one matrix; no row is lost without a word."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError
from ..responses import ResponseMatrix

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .interface import ItemText, Response
    from .options import ImportOptions
    from .report import FileReport

Key = tuple[str, str]
"""Scope and id of an item."""

Run = tuple[int, str, str]
"""Model, run, and rollout within the run."""

MAX_CELLS = 1_000_000_000
MAX_COUNT = 1 << 24
_SHIFT = 31
_MASK = (1 << _SHIFT) - 1


class Collector:
    """Answers and items as they come in.

    An answer is kept as one integer, ``correct << 31 | n``, under its subject and item: a million
    rows take about 100 MB whatever the size of the files. A subject is a model in one run (a file
    and, within it, an epoch or trial).
    """

    def __init__(self, options: ImportOptions) -> None:
        self.options = options
        self.aliases_used: dict[str, str] = {}
        self.items: dict[Key, int] = {}
        self.texts: dict[Key, ItemText] = {}
        self.models: dict[str, int] = {}
        self.shared: set[Key] = set()
        self.conflicts: dict[Key, tuple[str, str]] = {}
        self._text_files: dict[Key, str] = {}
        self._runs: dict[Run, dict[int, int]] = {}
        self._stamps: dict[Run, dict[int, float]] = {}
        self._file = -1
        self._report: FileReport

    def begin(self, report: FileReport) -> None:
        """Begin with a file."""
        self._file += 1
        self._report = report
        # a model's attributes are slow to set: counted here, and told at the end
        self._right = self._rollouts = self._rows = self._used = 0
        self._run = f"file {self._file}"
        self._score_sum = 0.0

    def add(self, response: Response) -> None:
        """Add one answer, or that there is none.

        Raises
        ------
        InputError
            A score out of range, or model and item a second time in one run.
        """
        self._rows += 1
        model = response.model
        if self.options.aliases:
            model = self._named(model)
        j = self.models.setdefault(model, len(self.models))
        i = self.items.setdefault((response.scope, response.item), len(self.items))
        if response.correct is None:
            report = self._report
            report.missing[response.why] = report.missing.get(response.why, 0) + 1
            return
        correct, n = self._counted(response)
        self._right += correct
        self._rollouts += n
        run = (j, response.run or self._run, response.rollout)
        self._used += self._keep(run, i, correct << _SHIFT | n, response)

    def _named(self, model: str) -> str:
        name = self.options.aliases.get(model, model)
        if name != model:
            self.aliases_used[model] = name
        return name

    def _counted(self, response: Response) -> tuple[int, int]:
        score, n = response.correct, response.n
        if score is None or not 0 < n <= MAX_COUNT:
            raise self._error(response, f"{n} rollouts cannot be counted.")
        if n == 1:
            score /= self.options.max_score
        if not 0 <= score <= n:
            most = "1; --max-score says what a right answer scores" if n == 1 else str(n)
            raise self._error(response, f"the score {response.correct:g} is not from 0 to {most}.")
        self._score_sum += score
        if n == 1 and score not in {0, 1}:
            partial = self._report.partial
            partial.mean += (score - partial.mean) / (partial.count + 1)
            partial.count += 1
            return int(score >= self.options.threshold), 1
        if score % 1:
            raise self._error(response, f"{score:g} of {n} rollouts is no whole count.")
        return int(score), n

    def _keep(self, run: Run, i: int, cell: int, response: Response) -> bool:
        """Keep an answer, or of two the one that counts; True if it stands for itself."""
        cells = self._runs.get(run)
        if cells is None:
            cells = self._runs[run] = {}
        new = i not in cells
        if response.stamp is not None:
            stamps = self._stamps.setdefault(run, {})
            self._report.superseded += not new
            if new or response.stamp >= stamps.get(i, response.stamp):
                cells[i], stamps[i] = cell, response.stamp
            return new
        if new:
            cells[i] = cell
            return True
        self._report.duplicates += 1
        rule = self.options.duplicates
        if rule == "refuse":
            raise self._error(
                response,
                "model and item stand here a second time; --duplicates first, last or rollouts "
                "says which of them count.",
            )
        if rule == "rollouts":
            cells[i] += cell
            if cells[i] & _MASK > MAX_COUNT:
                raise self._error(response, "has more rollouts than can be counted.")
        elif rule == "last":
            cells[i] = cell
        return rule == "rollouts"

    def _error(self, response: Response, message: str) -> InputError:
        return InputError(
            message,
            source=self._report.file,
            line=response.line,
            field=f"model {response.model[:60]!r}, item {response.item[:60]!r}",
        )

    def add_item(self, text: ItemText) -> None:
        """Add what is known of an item; what came first stays."""
        key = (text.scope, text.item)
        known = self.texts.get(key)
        if known is None or not known.question:
            self.texts[key] = text if known is None else joined(text, known)
            self._text_files[key] = self._report.file
            return
        if text.question and self._text_files[key] != self._report.file:
            self.shared.add(key)
        if text.question and text.question != known.question:
            self.conflicts.setdefault(key, (self._text_files[key], self._report.file))
            return
        self.texts[key] = joined(known, text)

    def end(self) -> None:
        """Finish a file: its accuracy, and whether that is what the file itself says."""
        report = self._report
        report.rows_read += self._rows
        report.rows_used += self._used
        if not self._rollouts:
            return
        report.accuracy = self._right / self._rollouts
        report.mean_score = self._score_sum / self._rollouts
        for total in report.totals:
            total.imported = report.mean_score
            total.same = abs(total.stated - total.imported) < 1e-6

    def runs(self) -> Iterator[tuple[int, Mapping[int, int]]]:
        """Iterate over model and cells of each run, in the order of the files."""
        return ((run[0], cells) for run, cells in self._runs.items())

    def matrix(self, item_of: np.ndarray, ids: tuple[str, ...]) -> ResponseMatrix:
        """Return the responses.

        Parameters
        ----------
        item_of
            New position of every item that was added, shape (items,).
        ids
            The items' ids in that order.
        """
        subjects: list[str] = []
        rows: list[tuple[int, Mapping[int, int]]] = []
        for j, name in enumerate(self.models):
            mine = [cells for model, cells in self.runs() if model == j]
            slots = _slots(mine, item_of) if self.options.repeat == "subjects" else [mine]
            for k, slot in enumerate(slots):
                rows += [(len(subjects), cells) for cells in slot]
                subjects.append(name if len(slots) == 1 else f"{name} #{k + 1}")
        shape = (len(subjects), len(ids))
        if shape[0] * shape[1] > MAX_CELLS:
            raise InputError(f"{shape[0]:,} models and {shape[1]:,} items are too many at once.")
        correct, n = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
        for j, cells in rows:
            places = item_of[np.fromiter(cells, np.int64, len(cells))]
            values = np.fromiter(cells.values(), np.int64, len(cells))
            np.add.at(correct[j], places, values >> _SHIFT)
            np.add.at(n[j], places, values & _MASK)
        return _answered(ResponseMatrix(tuple(subjects), ids, correct, n))


def joined(first: ItemText, second: ItemText) -> ItemText:
    """Return what is known of an item from two places; the first goes first."""
    return replace(
        first,
        question=first.question or second.question,
        answer=first.answer or second.answer,
        choices=first.choices or second.choices,
        metadata=second.metadata | first.metadata,
    )


def _slots(runs: list[Mapping[int, int]], item_of: np.ndarray) -> list[list[Mapping[int, int]]]:
    """Put a model's runs into as few subjects as may be, so that none answers an item twice.

    Files of one run hold different items, and stay together.
    """
    slots: list[list[Mapping[int, int]]] = []
    taken: list[set[int]] = []
    for cells in runs:
        items = set(item_of[np.fromiter(cells, np.int64, len(cells))].tolist())
        k = next((k for k, one in enumerate(taken) if not one & items), len(slots))
        if k == len(slots):
            slots.append([])
            taken.append(set())
        slots[k].append(cells)
        taken[k] |= items
    return slots or [[]]


def _answered(matrix: ResponseMatrix) -> ResponseMatrix:
    """Leave out models and items without any response."""
    return matrix.select(
        models=np.flatnonzero(matrix.n.any(1)).tolist(),
        items=np.flatnonzero(matrix.n.any(0)).tolist(),
    )
