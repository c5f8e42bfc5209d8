"""A small benchmark with candidates that were made for it, as bytes and as files."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from benchfill.formats.delimited import responses_csv
from benchfill_services.review.provenance import Content
from benchfill_services.review.rules import NewVerdict, Person
from benchfill_services.store.benchmark_files import ITEMS, RESPONSES, VersionFiles
from support.fills import make_fill
from support.review_cases import make_case

if TYPE_CHECKING:
    from pathlib import Path

    from benchfill_services.review.case import Case
    from benchfill_services.review.desk import ReviewDesk


ADA = Person("a" * 12, "Ada", "reviewer")
BOB = Person("b" * 12, "Bob", "reviewer")
OPS = Person("d" * 12, "Ops", "operator")
YES = NewVerdict("approve")
NO = NewVerdict("reject", ("ambiguous",), "12 or 13?")


def base_files() -> VersionFiles:
    """The files that the candidates of `make_case` were measured against."""
    matrix = make_fill().fit.responses
    lines = (
        json.dumps({"id": name, "question": f"What is {k} + 1?", "answer": str(k + 1)})
        for k, name in enumerate(matrix.items)
    )
    return VersionFiles(
        "".join(f"{line}\n" for line in lines).encode(), responses_csv(matrix).encode()
    )


def content_of_files(files: VersionFiles) -> Content:
    shas = (hashlib.sha256(one).hexdigest() for one in (files.items, files.responses))
    return Content(**dict(zip(("items_sha256", "responses_sha256"), shas, strict=True)))


def write_files(folder: Path, files: VersionFiles) -> tuple[Path, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ITEMS).write_bytes(files.items)
    (folder / RESPONSES).write_bytes(files.responses)
    return folder / ITEMS, folder / RESPONSES


def case_of_files(files: VersionFiles, item: str, **changes: Any) -> Case:
    """A candidate, measured for the files, whose item has an id of its own."""
    made = make_case(**content_of_files(files).model_dump() | changes)
    first = made.first
    calibration = first.calibration.model_copy(update={"item": item})
    revision = first.model_copy(
        update={
            "item": first.item.model_copy(update={"id": item}),
            "calibration": calibration,
            "prompts": {"rewrite": "ef" * 32},
        }
    )
    return made.model_copy(update={"first": revision})


async def approve(desk: ReviewDesk, case: Case, *people: Person) -> str:
    await desk.reviews.open(case)
    for person in people or (ADA, BOB):
        await desk.decide(case.id, person, YES)
    return case.id
