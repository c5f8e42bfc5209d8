"""The report folder of `benchfill diagnose`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .folder import json_bytes, merged, write_folder
from .methods import methods_of
from .page import render
from .pictures import distribution_picture, map_picture
from .words import caveats, what_it_cannot_see

if TYPE_CHECKING:
    from pathlib import Path

    from benchfill.diagnosis import Diagnosis
    from benchfill.targets import Target


def write_diagnosis_report(
    out: Path, envelope: dict[str, Any], diagnosis: Diagnosis, target: Target
) -> None:
    """Write report.html, report.json and the pictures into a folder.

    `envelope` is what every JSON carries, with or without the result; report.json is what
    ``--json`` prints.

    Raises
    ------
        InputError: the folder cannot be written.
    """
    document = merged(envelope, diagnosis.model_dump(mode="json"))
    pictures = (distribution_picture(diagnosis, target), map_picture(diagnosis))
    page = render(
        "diagnosis.html.jinja",
        title="Diagnosis of a benchmark",
        lead=(what_it_cannot_see(diagnosis),),
        caveats=caveats(diagnosis),
        diagnosis=diagnosis,
        distribution=pictures[0],
        wright=pictures[1],
        document=document,
        methods=methods_of(document, diagnosis, target),
    )
    write_folder(
        out,
        {
            "report.html": page,
            "report.json": json_bytes(document, indent=2),
            **{picture.file: picture.light for picture in pictures},
        },
    )
