"""Jobs for tests of the records."""

from __future__ import annotations

import uuid
from typing import Any

from benchfill_services.jobs.record import FillSpec, Job

CREATED = "2026-01-01T00:00:00.000+00:00"


def new_job(benchmark: str = "b1", **changes: Any) -> Job:
    """Return the record of a fill that was just asked for."""
    spec = FillSpec(benchmark=benchmark, version=1, pool="small")
    job = {
        "id": uuid.uuid4().hex,
        "kind": "fill",
        "spec": spec,
        "created_at": CREATED,
        "created_by": "key-1",
        "updated_at": CREATED,
    }
    return Job.model_validate(job | changes)
