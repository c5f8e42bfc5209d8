"""How the children of a run are checked, and what came of it; and what their text foretells."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

from .calibrator.learned import LearnedDifficulty, LearnedReport
from .embeddings import NOT_INSTALLED
from .fill_report import CheckReport
from .validator import Validator
from .validator.duplicates import NAME as NEAR_DUPLICATE
from .validator.duplicates import NearDuplicates
from .validator.judge import BLIND, WITH_REFERENCE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .embeddings import Embedder
    from .memory import Memory
    from .pool.config import Scoring
    from .validator import Verdict
    from .validator.judge import Judge

_PROGRAMMATIC = "children are made from templates, whose values make each an item of its own."
_COUNTED = "children are made from templates, whose rewriter learns from their numbers."
_NO_JUDGE = "no judge was named (--judge)."
_TURNED_OFF = "it was turned off."


class Checking:
    """The Validator of a run, and a count of what it finds.

    Without an embedder or a judge their checks are left out, and the report says why; children made
    from templates are not embedded.
    """

    def __init__(
        self,
        scoring: Scoring,
        *,
        judge: Judge | None,
        embedder: Embedder | None,
        templates_only: bool,
    ) -> None:
        compared = embedder is not None and not templates_only
        self.validator = Validator(
            scoring,
            duplicates=NearDuplicates(embedder) if embedder is not None and compared else None,
            judge=judge,
        )
        self._left_out: dict[str, str] = {}
        if not compared:
            self._left_out[NEAR_DUPLICATE] = _PROGRAMMATIC if templates_only else NOT_INSTALLED
        if judge is None:
            self._left_out |= dict.fromkeys((BLIND, WITH_REFERENCE), _NO_JUDGE)
        self._passed: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._calls: Counter[str] = Counter()

    def note(self, verdicts: Iterable[Verdict]) -> None:
        """Count the findings of an attempt."""
        for verdict in verdicts:
            for finding in verdict.findings:
                counted = self._passed if finding.passed else self._failed
                counted[finding.check] += 1
                self._calls[finding.check] += finding.calls

    def report(self) -> tuple[CheckReport, ...]:
        """Return a line a check."""
        return tuple(
            CheckReport(
                check=name,
                made=name not in self._left_out,
                why_not=self._left_out.get(name),
                passed=self._passed[name],
                failed=self._failed[name],
                calls=self._calls[name],
            )
            for name in self.validator.checks
        )


async def learn_from_text(
    memory: Memory,
    embedder: Embedder | None,
    *,
    prior_sd: float,
    templates_only: bool,
    wanted: bool,
) -> tuple[LearnedDifficulty | None, LearnedReport]:
    """Learn from the benchmark's own items, so that a resumed run guesses what it guessed before.

    Children that the run measured are left out: what they teach goes into the rewriter's habits.
    """
    why = None
    if not wanted:
        why = _TURNED_OFF
    elif templates_only:
        why = _COUNTED
    elif embedder is None:
        why = NOT_INSTALLED
    if why is not None or embedder is None:
        return None, LearnedReport(used=False, why_off=why)
    entries = [entry for entry in await memory.entries() if entry.kind == "original"]
    learned = await asyncio.to_thread(LearnedDifficulty, entries, embedder, prior_sd=prior_sd)
    return learned, learned.report
