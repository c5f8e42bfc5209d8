"""What a fill is asked for, and the id of its job. Light to import: a file of jobs is read with it.

The id is a hash of the inputs' contents and of all options that matter, so that the same command
finds its own records again, wherever it runs against the same Redis and data folder.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from benchfill_agents.calibrator.calibrator import Mode


@dataclass(frozen=True)
class FillRequest:
    """What the user asked for; see the options of `benchfill fill`."""

    items: Path
    responses: Path
    pool: Path
    out: Path
    max_gaps: int = 3
    include_unresolved: bool = False
    at: tuple[float, ...] = ()
    rounds: int = 8
    rewriter: str = "llm"
    writer: str | None = None
    judge: str | None = None
    calibration: Mode = "sequential"
    min_p_in_gap: float = 0.9
    budget_rollouts: int | None = None
    budget_tokens: int | None = None
    budget_usd: float | None = None
    anchors: bool = True
    seed: int = 0

    def job_id(self, inputs: dict[str, str]) -> str:
        """Return the id of the job, 32 hex digits; `inputs` are the files' hashes by path.

        A budget may be raised and the job goes on, so it is no part of the id.
        """
        options = asdict(self)
        for name in ("items", "responses", "pool", "out"):
            del options[name]
        options = {name: one for name, one in options.items() if not name.startswith("budget")}
        if self.judge is None:  # a job that has none keeps the id that it had before there were any
            del options["judge"]
        content = [
            importlib.metadata.version("benchfill"),
            [inputs[str(path)] for path in (self.items, self.responses, self.pool)],
            options,
        ]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:32]
