"""The Validator: all checks in order, cheapest first; the first failure stops a child."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .checks import domain_checks, form_checks, normalised
from .duplicates import NAME as NEAR_DUPLICATE
from .duplicates import is_compared, judged, not_compared
from .findings import Finding, Verdict
from .judge import BLIND, WITH_REFERENCE, settled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchfill.items import Item

    from ..pool.config import Scoring
    from ..rewriter import Child
    from .checks import Check
    from .duplicates import NearDuplicates
    from .judge import Judge

NEW = "new"


class Validator:
    """Checks children against the pool's scoring and all items known so far.

    Without `duplicates` items are compared by their words only, without a `judge` nobody solves or
    judges them.
    """

    def __init__(
        self,
        scoring: Scoring,
        *,
        duplicates: NearDuplicates | None = None,
        judge: Judge | None = None,
    ) -> None:
        self._form, self._domain = form_checks(scoring), domain_checks(scoring)
        self._duplicates, self._judge = duplicates, judge

    @property
    def checks(self) -> tuple[str, ...]:
        """Names of all checks there are, made or not, in their order."""
        names = [*(name for name, _ in self._form), NEW, NEAR_DUPLICATE]
        names += [name for name, _ in self._domain]
        return (*names, BLIND, WITH_REFERENCE)

    async def validate(
        self, children: Iterable[Child], known: Iterable[Item]
    ) -> tuple[Verdict, ...]:
        """Judge children; an earlier valid child is known to the later ones.

        Raises
        ------
        BudgetExhaustedError, ProviderError
            The judge could not be asked; what it said so far is on record.
        """
        cases = [_Case(child.item) for child in children]
        accepted = list(known)
        waiting = cases
        while waiting:
            # who resembles a child that is still judged waits for that: it may be turned down
            waiting, running = await self._cheap(waiting, accepted)
            for case, findings in zip(running, await self._dear(running), strict=True):
                case.findings += findings
                if case.verdict.valid:
                    accepted.append(case.item)
        return tuple(case.verdict for case in cases)

    async def _cheap(
        self, cases: Sequence[_Case], accepted: Sequence[Item]
    ) -> tuple[list[_Case], list[_Case]]:
        """Make the checks that cost nothing; return who waits for a sibling, and who goes on."""
        waiting: list[_Case] = []
        running: list[_Case] = []
        for case in cases:
            siblings = [one.item for one in running]
            case.findings, twin = await self._look(case.item, [*accepted, *siblings])
            if case.verdict.valid:
                running.append(case)
            elif self._judge is not None and any(twin is one for one in siblings):
                waiting.append(case)
        return waiting, running

    async def _look(self, item: Item, known: Sequence[Item]) -> tuple[list[Finding], Item | None]:
        """Return the findings on an item, and the item that it repeats."""
        findings: list[Finding] = []
        if not _made(self._form, item, findings):
            return findings, None
        same = normalised(item.question)
        twin = next((one for one in known if normalised(one.question) == same), None)
        reason = None if twin is None else f"The same question is item {twin.id!r} already."
        findings.append(Finding(check=NEW, passed=twin is None, reason=reason))
        if twin is None and self._duplicates is not None:
            if is_compared(item):
                finding, twin = judged(item, await self._duplicates.near(item, known))
            else:
                finding = not_compared()
            findings.append(finding)
        if twin is None and self._domain:
            await asyncio.to_thread(_made, self._domain, item, findings)
        return findings, twin

    async def _dear(self, cases: Sequence[_Case]) -> list[tuple[Finding, ...]]:
        """Make the checks that are paid for, of all items at once."""
        judge = self._judge
        if judge is None:
            return [() for _ in cases]
        found = await asyncio.gather(
            *(judge.findings(case.item) for case in cases), return_exceptions=True
        )
        return [settled(one) for one in found]


@dataclass(eq=False)
class _Case:
    """A child while it is judged."""

    item: Item
    findings: list[Finding] = field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        return Verdict(item=self.item.id, findings=tuple(self.findings))


def _made(checks: Iterable[tuple[str, Check]], item: Item, findings: list[Finding]) -> bool:
    """Make checks until one fails; say whether none did."""
    for name, check in checks:
        reason = check(item)
        findings.append(Finding(check=name, passed=reason is None, reason=reason))
        if reason is not None:
            return False
    return True
