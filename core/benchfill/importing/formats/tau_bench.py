"""tau-bench: a list of trials with rewards."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..interface import Choice, ItemText, Reading, Recognised, Response, ResultFormat
from ..json_stream import read_array

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..node import Node
    from ..source import InputFile

_DOMAIN = re.compile(r"(airline|retail|telecom)")


class TauBench(ResultFormat):
    """Trajectories of tau-bench."""

    name = "tau-bench"
    example = "benchfill import historical_trajectories/gpt-4o-airline.json"
    title = "tau-bench trajectories"
    recognised_by = "a JSON list with `task_id`, `reward`, `trial`"
    choices = (Choice("--model", "the file's name", "the agent or model"),)

    def recognise(self, file: InputFile) -> Recognised | None:
        """Know it by its keys."""
        keys = {"task_id", "reward"} & set(file.first)
        if file.is_list and len(keys) == 2 and {"trial", "traj", "info"} & set(file.first):
            return Recognised("a list with keys task_id, reward, trial")
        return None

    def read(self, file: InputFile, reading: Reading) -> Iterator[Response | ItemText]:
        """Yield a rollout a trial; the domain is the scope, for tasks are counted within it."""
        model = reading.model(file.stem(), "file's name")
        found = _DOMAIN.search(file.path.name)
        scope = found[1] if found else ""
        for row in read_array(file):
            item = row["task_id"].name()
            text = _instruction(row)
            if text:
                yield ItemText(item, scope, text)
            trial, reward = row.get("trial"), row["reward"]
            yield Response(
                model,
                item,
                None if reward.value is None else reward.number(),
                rollout="" if trial is None else trial.name(),
                scope=scope,
                why="no reward",
            )


def _instruction(row: Node) -> str:
    info = row.get("info")
    task = info.get("task") if info is not None and info.is_a(dict) else None
    text = task.get("instruction") if task is not None and task.is_a(dict) else None
    return text.text() if text is not None else ""


FORMATS = (TauBench(),)
