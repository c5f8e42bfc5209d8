"""The measured children of a fill with where they came from, gathered from the transcripts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchfill.items import Item
from benchfill_agents.calibrator import Calibration
from benchfill_agents.memory import MemoryEntry
from benchfill_agents.rewriter import Child
from benchfill_agents.target import FillTarget

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchfill_agents.fill_report import FillReport, FillResult

    Transcripts = Mapping[str, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True)
class Candidate:
    """A measured child as one gap sees it."""

    gap: str
    calibration: Calibration
    chosen: bool
    item: Item | None
    child: Child | None
    parent: MemoryEntry | None
    round: int | None

    def line(self) -> dict[str, Any]:
        """Return the object that stands for it in candidates.jsonl."""
        child = self.child
        return {
            "item": self.item.model_dump(mode="json") if self.item else None,
            "gap": self.gap,
            "chosen": self.chosen,
            "calibration": self.calibration.model_dump(mode="json"),
            "provenance": {
                "parent": child.parent_id if child else None,
                "rewriter": child.rewriter if child else None,
                "target_z": child.target_z if child else None,
                "what_changed": child.what_changed if child else None,
                "rationale": child.rationale if child else None,
                "round": self.round,
            },
        }


@dataclass
class _Said:
    """What the agents said of children and parents, over all gaps."""

    children: dict[str, Child] = field(default_factory=dict)
    parents: dict[str, MemoryEntry] = field(default_factory=dict)
    rounds: dict[tuple[str, str], int] = field(default_factory=dict)

    def note(self, gap: str, message: Mapping[str, Any]) -> None:
        content = message["content"]
        if message["kind"] == "rewriting":
            for written in content["children"]:
                child = Child.model_validate(written)
                self.children[child.item.id] = child
        elif message["kind"] == "retrieval":
            for entry in content["parents"]:
                parent = MemoryEntry.model_validate(entry)
                self.parents[parent.item.id] = parent
        elif message["kind"] == "calibrationround":
            for one in content["calibrations"]:
                self.rounds.setdefault((gap, one["item"]), message["round"])


def assigned(targets: Sequence[FillTarget], transcripts: Transcripts) -> dict[str, FillTarget]:
    """Return the targets by id, as their teams were told: measured borders may have moved one."""
    told = {target.id: target for target in targets}
    for gap, messages in transcripts.items():
        for message in messages:
            if gap in told and message["kind"] == "assignment":
                told[gap] = FillTarget.model_validate(message["content"]["target"])
    return told


def candidates_of(report: FillReport, transcripts: Transcripts) -> dict[str, list[Candidate]]:
    """Return the measured children of each gap, in the order they were measured."""
    said = _Said()
    for gap, messages in transcripts.items():
        for message in messages:
            said.note(gap, message)
    return {
        fill.gap: [_candidate(fill, one, said) for one in fill.calibrations]
        for fill in report.fills
    }


def measured_so_far(transcripts: Transcripts) -> dict[str, list[Candidate]]:
    """Return the same of a fill that has no report yet, by what its agents have said."""
    said = _Said()
    measured: dict[str, dict[str, Calibration]] = {}
    chosen: dict[str, str | None] = {}
    for gap, messages in transcripts.items():
        for message in messages:
            said.note(gap, message)
            if message["kind"] == "calibrationround":
                content = message["content"]
                chosen[gap] = content["chosen"]
                measured.setdefault(gap, {}).update(
                    (one["item"], Calibration.model_validate(one))
                    for one in content["calibrations"]
                )
    return {
        gap: [_known(gap, one, said, chosen=one.item == chosen[gap]) for one in by_item.values()]
        for gap, by_item in measured.items()
    }


def _known(gap: str, calibration: Calibration, said: _Said, *, chosen: bool) -> Candidate:
    child = said.children.get(calibration.item)
    return Candidate(
        gap=gap,
        calibration=calibration,
        chosen=chosen,
        item=child.item if child else None,
        child=child,
        parent=said.parents.get(child.parent_id) if child else None,
        round=said.rounds.get((gap, calibration.item)),
    )


def _candidate(fill: FillResult, calibration: Calibration, said: _Said) -> Candidate:
    child = said.children.get(calibration.item)
    chosen = fill.chosen if fill.chosen and fill.chosen.item == calibration.item else None
    item = child.item if child else None
    parent = child.parent_id if child else None
    if item is None and chosen is not None:
        item = Item(id=chosen.item, question=chosen.question, answer=chosen.answer)
        parent = chosen.parent
    return Candidate(
        gap=fill.gap,
        calibration=calibration,
        chosen=chosen is not None,
        item=item,
        child=child,
        parent=said.parents.get(parent or ""),
        round=said.rounds.get((fill.gap, calibration.item)),
    )
