"""HELM instances, as its scenario ``custom_mcqa`` reads them: items without answers of models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..interface import ItemText, Reading, Recognised, Response, ResultFormat, whole_metadata
from ..json_stream import read_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..node import Node
    from ..source import InputFile


class HelmInstances(ResultFormat):
    """Instances that HELM asks, an object a line."""

    name = "helm-instances"
    example = "benchfill import bench.jsonl answers.csv"
    title = "HELM instances (items alone)"
    recognised_by = "JSON lines with `id`, `input.text` and `references`"

    def recognise(self, file: InputFile) -> Recognised | None:
        """Know them by their keys."""
        asked = file.first.get("input")
        told = isinstance(asked, dict) and "text" in asked
        if file.kind == "jsonl" and told and {"id", "references"} <= set(file.first):
            return Recognised("keys id, input.text, references")
        return None

    def read(self, file: InputFile, reading: Reading) -> Iterator[Response | ItemText]:
        """Yield the items; ``extra_data`` are their metadata."""
        reading.note("Holds items alone; give results of models beside it.")
        for row in read_lines(file):
            yield instance_item(row, row["id"].name(), "", has_choices=True)


def instance_item(instance: Node, item: str, scope: str, *, has_choices: bool) -> ItemText:
    """Return what an instance tells of its item; the first right reference is the answer."""
    references = instance.get("references")
    texts, right = [], []
    for one in references.elements() if references else ():
        text = one["output"]["text"].text()
        texts.append(text)
        tags = one.get("tags")
        if tags is not None and "correct" in [tag.value for tag in tags.elements()]:
            right.append(text)
    extra = instance.get("extra_data")
    known = whole_metadata(extra) if extra is not None and extra.is_a(dict) else {}
    return ItemText(
        item,
        scope,
        instance["input"]["text"].text(),
        right[0] if right else "",
        tuple(texts) if has_choices else (),
        known | ({"references": right} if len(right) > 1 else {}),
    )


FORMATS = (HelmInstances(),)
