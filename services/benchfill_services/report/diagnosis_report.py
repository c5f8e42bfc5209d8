"""The report folder of `benchfill diagnose`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .folder import json_bytes, merged, write_folder
from .methods import methods_of
from .page import render
from .pictures import (
    curves_picture,
    distribution_picture,
    map_picture,
    pooled_picture,
    posterior_picture,
    traces_picture,
)
from .words import caveats, what_it_cannot_see

if TYPE_CHECKING:
    from pathlib import Path

    from benchfill import Fit1PL
    from benchfill.diagnosis import Diagnosis
    from benchfill.targets import Target


@dataclass(frozen=True)
class Shown:
    """What the report shows: the target, and the sampler's traces if they were asked for."""

    target: Target
    traces: bool = False


def write_diagnosis_report(
    out: Path,
    envelope: dict[str, Any],
    fit: Fit1PL,
    diagnosis: Diagnosis,
    shown: Shown,
) -> None:
    """Write report.html, report.json and the pictures into a folder.

    `envelope` is what every JSON carries, with or without the result; report.json is what
    ``--json`` prints.

    Raises
    ------
        InputError: the folder cannot be written.
    """
    document = merged(envelope, diagnosis.model_dump(mode="json"))
    target = shown.target
    pictures = {
        "distribution": distribution_picture(diagnosis, target),
        "wright": map_picture(diagnosis),
        "posterior": posterior_picture(fit, target),
        "pooled": pooled_picture(fit),
        "curves": curves_picture(fit),
        "traces": traces_picture(fit) if shown.traces else None,
    }
    files = {one.file: one.light for one in pictures.values() if one is not None}
    page = render(
        "diagnosis.html.jinja",
        title="Diagnosis of a benchmark",
        lead=(what_it_cannot_see(diagnosis),),
        caveats=caveats(diagnosis),
        diagnosis=diagnosis,
        **pictures,
        files=["report.json", *files],
        document=document,
        methods=methods_of(document, diagnosis, target),
    )
    write_folder(
        out,
        {
            "report.html": page,
            "report.json": json_bytes(document, indent=2),
            **files,
        },
    )
