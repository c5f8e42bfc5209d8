"""The report folder of `benchfill fill`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchfill.targets import Uniform

from .candidates import candidates_of
from .folder import json_bytes, jsonl_bytes, merged, write_folder
from .methods import methods_of
from .page import render
from .pictures import distribution_picture, gap_search_picture, map_picture
from .words import caveats, learned_words, what_it_cannot_see, what_was_done

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from benchfill.diagnosis import Diagnosis
    from benchfill_agents.fill_report import FillReport, FillResult

    from .candidates import Candidate
    from .pictures import Picture

MOST_GAPS = 12  # with pictures and transcripts in the page; the others stand in the files
MOST_MESSAGES = 120  # of a gap in the page


@dataclass(frozen=True)
class GapSection:
    """What the page shows of one gap."""

    fill: FillResult
    candidates: tuple[Candidate, ...]
    picture: Picture | None
    messages: tuple[Mapping[str, Any], ...]
    messages_left_out: int

    @property
    def winner(self) -> Candidate | None:
        """The chosen candidate."""
        return next((one for one in self.candidates if one.chosen), None)


def write_fill_report(
    out: Path,
    envelope: dict[str, Any],
    diagnosis: Diagnosis,
    report: FillReport,
    transcripts: Mapping[str, Sequence[dict[str, Any]]],
) -> None:
    """Write the page, its pictures, and everything that was measured and said, into a folder.

    `envelope` is what every JSON carries, with or without the result; report.json is what
    ``--json`` prints. `transcripts` holds the messages of each gap in their order.

    Raises
    ------
        InputError: the folder cannot be written.
    """
    target = Uniform()  # a fill makes the widest gap narrower, whatever the target
    document = merged(envelope, report.model_dump(mode="json"))
    candidates = candidates_of(report, transcripts)
    chosen = [fill.chosen.z for fill in report.fills if fill.chosen is not None]
    pictures = (distribution_picture(diagnosis, target, chosen), map_picture(diagnosis))
    sections = tuple(
        _section(fill, candidates[fill.gap], transcripts.get(fill.gap, ()), number < MOST_GAPS)
        for number, fill in enumerate(report.fills)
    )
    page = render(
        "fill.html.jinja",
        title="Filling the gaps of a benchmark",
        lead=(what_it_cannot_see(diagnosis), *what_was_done(report)),
        caveats=caveats(diagnosis),
        diagnosis=diagnosis,
        report=report,
        sections=sections,
        learned_words=learned_words,
        places={one.item: one for one in diagnosis.difficulties},
        distribution=pictures[0],
        wright=pictures[1],
        document=document,
        methods=methods_of(document, diagnosis, target, report),
    )
    drawn = [*pictures, *(one.picture for one in sections if one.picture is not None)]
    write_folder(
        out,
        {
            "report.html": page,
            "report.json": json_bytes(document, indent=2),
            "candidates.jsonl": jsonl_bytes(
                one.line() for fill in report.fills for one in candidates[fill.gap]
            ),
            "transcript.jsonl": jsonl_bytes(
                {"gap": gap} | dict(message)
                for gap, messages in transcripts.items()
                for message in messages
            ),
            **{picture.file: picture.light for picture in drawn},
        },
    )


def _section(
    fill: FillResult,
    candidates: Sequence[Candidate],
    messages: Sequence[Mapping[str, Any]],
    pictured: bool,
) -> GapSection:
    shown = messages[:MOST_MESSAGES] if pictured else ()
    return GapSection(
        fill=fill,
        candidates=tuple(candidates),
        picture=gap_search_picture(fill, candidates) if pictured else None,
        messages=tuple(shown),
        messages_left_out=len(messages) - len(shown),
    )
