"""From collected answers to a response matrix, its items and the report."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError
from ..item_metadata import unpacked
from ..items import Item
from .collect import joined
from .matching import same_content, suspicions
from .report import ChoiceMade, FileReport, ImportReport, SkippedFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ..responses import ResponseMatrix
    from .collect import Collector, Key
    from .interface import ItemText
    from .options import ImportOptions

TOLD = 5


@dataclass(frozen=True)
class Imported:
    """What an import gives."""

    responses: ResponseMatrix
    items: tuple[Item, ...]
    """Of those items of the responses whose question is known."""
    report: ImportReport


def assemble(
    collector: Collector,
    options: ImportOptions,
    files: Sequence[FileReport],
    skipped: Sequence[SkippedFile],
) -> Imported:
    """Put together what was read.

    Raises
    ------
    InputError
        There is no response, or ids mean other items in other files.
    """
    _refuse_other_benchmarks(collector)
    ids = _Ids(collector, options)
    _refuse_nothing(collector, options, files, skipped)
    matrix = collector.matrix(ids.item_of, ids.names)
    texts = ids.texts()
    items = tuple(
        _item(name, texts[name])
        for name in matrix.items
        if name in texts and texts[name].question.strip()
    )
    report = ImportReport(
        models=len(matrix.models),
        items=len(matrix.items),
        rollouts=int(matrix.n.sum(dtype=np.int64)),
        missing_cells=matrix.missing_cells,
        accuracy=float(matrix.correct.sum(dtype=np.int64) / matrix.n.sum(dtype=np.int64)),
        rows_read=sum(one.rows_read for one in files),
        rows_used=sum(one.rows_used for one in files),
        items_with_question=len(items),
        items_without_answer=sum(not item.answer for item in items),
        items_without_response=len(ids.names) - len(matrix.items),
        models_without_response=_silent(collector),
        repeated_cells=int((matrix.n > 1).sum()),
        merged_items=ids.merged,
        same_content=ids.same_content,
        conflicting_items=len(collector.conflicts),
        conflicts=tuple(item for _, item in list(collector.conflicts)[:TOLD]),
        aliases_used=collector.aliases_used,
        choices=_choices(options, ids),
        suspicions=suspicions(matrix),
        files=list(files),
        skipped=list(skipped),
    )
    report.warnings = _warnings(report, options, ids)
    return Imported(matrix, items, report)


class _Ids:
    """The final id of every item, and which items are one."""

    def __init__(self, collector: Collector, options: ImportOptions) -> None:
        self._collector = collector
        self.scopes = {scope for scope, _ in collector.items}
        self.prefixed = options.prefix == "always" or (
            options.prefix == "auto" and len(self.scopes) > 1
        )
        self._name = {key: self._named(key) for key in collector.items}
        groups, self.ambiguous = same_content(
            collector.texts, (cells for _, cells in collector.runs()), collector.items
        )
        apart = [keys for keys in groups if len({self._name[key] for key in keys}) > 1]
        self.same_content = self.merged = 0
        if options.match_items == "content":
            for first, *others in apart:
                self._name |= dict.fromkeys(others, self._name[first])
            self.merged = sum(len(keys) - 1 for keys in apart)
        else:
            self.same_content = len(apart)
        self.names = tuple(dict.fromkeys(self._name.values()))
        place = {name: k for k, name in enumerate(self.names)}
        self.item_of: NDArray[np.int64] = np.array(
            [place[name] for name in self._name.values()], np.int64
        )

    def _named(self, key: Key) -> str:
        scope, item = key
        return f"{scope}/{item}" if self.prefixed and scope else item

    def texts(self) -> dict[str, ItemText]:
        """Return what is known of each item, by its final id; the first that has a question."""
        found: dict[str, ItemText] = {}
        by_id = {key[1]: text for key, text in self._collector.texts.items() if not key[0]}
        for key, name in self._name.items():
            # items of their own file, such as items.jsonl, name no task; if there are several,
            # only a whole id says which of them is meant
            bare = by_id.get(key[1]) if len(self.scopes) == 1 else None
            known = (self._collector.texts.get(key), bare, by_id.get(name))
            text = reduce(_joined, known)
            if text is not None and not (name in found and found[name].question):
                found[name] = text
        return found


def _joined(first: ItemText | None, second: ItemText | None) -> ItemText | None:
    if first is None or second is None or first.question:
        return first or second
    return joined(first, second)


def _item(name: str, text: ItemText) -> Item:
    metadata, fields = unpacked(text.metadata)
    if text.scope:
        metadata.setdefault("task", text.scope)
    return Item(
        id=name,
        question=text.question,
        answer=text.answer,
        choices=text.choices if len(text.choices) > 1 else (),
        metadata=metadata,
        **fields,
    )


def _refuse_other_benchmarks(collector: Collector) -> None:
    conflicts, shared = collector.conflicts, collector.shared
    if len(conflicts) * 2 > len(shared):
        (_, item), (first, second) = next(iter(conflicts.items()))
        raise InputError(
            f"asks another question under {len(conflicts):,} of {len(shared):,} ids that stand in "
            f"{first} too; these are two benchmarks: import them apart.",
            source=second,
            field=f"item {item[:60]!r}",
        )


def _refuse_nothing(
    collector: Collector,
    options: ImportOptions,
    files: Sequence[FileReport],
    skipped: Sequence[SkippedFile],
) -> None:
    if any(cells for _, cells in collector.runs()):
        return
    if not files:
        # what is of another format tells more than a picture that lies about
        one = min(skipped, key=lambda one: not one.why.startswith("is of the"), default=None)
        why = f"; {one.file} {one.why}" if one else "."
        what = "holds results that can be read"
        if options.format is not None:
            what = f"is of the format {options.format}"
        raise InputError(f"none of the {len(skipped):,} files {what}{why}")
    reasons: Counter[str] = Counter()
    for file in files:
        reasons.update(file.missing)
        reasons.update(file.dropped)
    said = "; ".join(f"{count:,} rows: {why}" for why, count in reasons.most_common(3))
    notes = [note.rstrip(".").lower() for file in files for note in file.notes]
    noted = notes[-1] if notes else "no rows"
    raise InputError(
        f"holds no scored answer ({said or noted}); give results that were scored.",
        source=files[0].file,
    )


def _silent(collector: Collector) -> tuple[str, ...]:
    scored = {j for j, cells in collector.runs() if cells}
    return tuple(name for name, j in collector.models.items() if j not in scored)


def _choices(options: ImportOptions, ids: _Ids) -> list[ChoiceMade]:
    made = [
        _made("--repeat", options.repeat, "rollouts", "answers of one model are one subject's"),
        _made("--match-items", options.match_items, "id", "ids are what a benchmark says"),
        _made("--duplicates", options.duplicates, "refuse", "which one counts is not known"),
        _made("--threshold", f"{options.threshold:g}", "1", "only full marks are a right answer"),
    ]
    if any(ids.scopes):
        shown = "task before the id" if ids.prefixed else "bare ids"
        because = f"{len(ids.scopes)} tasks" if ids.prefixed else "one task"
        made.append(_made("--prefix", f"{options.prefix} ({shown})", "auto", because))
    if options.max_score != 1:
        made.append(_made("--max-score", f"{options.max_score:g}", "1", ""))
    return made


def _made(option: str, value: str, default: str, because: str) -> ChoiceMade:
    by_default = value.split(" ", 1)[0] == default
    return ChoiceMade(
        option=option, value=value, by_default=by_default, because=because if by_default else ""
    )


def _warnings(report: ImportReport, options: ImportOptions, ids: _Ids) -> list[str]:
    said = []
    partial = sum(one.partial.count for one in report.files)
    if partial:
        said.append(
            f"{partial:,} scores lie between wrong and right; from {options.threshold:g} on they "
            "count as right (--threshold)."
        )
    if report.same_content:
        said.append(
            f"{report.same_content:,} items have the same text under different ids; "
            "--match-items content makes them one."
        )
    if ids.ambiguous:
        said.append(
            f"{ids.ambiguous:,} texts stand under several ids within one run; those stay apart."
        )
    if report.conflicting_items:
        said.append(
            f"{report.conflicting_items:,} ids have another question in another file, such as "
            f"{report.conflicts[0]!r}; the first question is kept."
        )
    if report.items_without_answer:
        said.append(
            f"{report.items_without_answer:,} items have no reference answer; their answer is "
            "empty, and they cannot be asked of models."
        )
    if report.models_without_response:
        names = ", ".join(repr(name) for name in report.models_without_response[:TOLD])
        said.append(f"No score at all: {names}; left out.")
    if report.items_without_response:
        said.append(f"{report.items_without_response:,} items without any score; left out.")
    if report.suspicions:
        one = report.suspicions[0]
        said.append(
            f"{len(report.suspicions):,} pairs of models may be the same, such as "
            f"{one.models[0]!r} and {one.models[1]!r} ({one.why}); --alias makes them one, "
            "`benchfill check` looks closer."
        )
    used = {one.option for file in report.files for one in file.choices}
    unused = [f"--{option}" for option in options.chosen if f"--{option}" not in used]
    if unused:
        said.append(f"Nothing asked for {', '.join(unused)}: no file leaves that choice.")
    idle = len(set(options.aliases) - set(report.aliases_used))
    if idle:
        said.append(f"{idle:,} lines of the alias file name no model that was found.")
    return said
