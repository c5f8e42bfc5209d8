"""Which part of the queue somebody works on; it goes along from page to page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

from fastapi import Depends, Query

from ..case import GAP

if TYPE_CHECKING:
    from ..desk import Shelf
    from ..view import CaseView


@dataclass(frozen=True)
class QueueFilter:
    """A benchmark, a gap, both or neither."""

    benchmark: str | None = None
    gap: tuple[str, str] | None = None

    def query(self, **more: str | int | None) -> str:
        """Return the query string of a link that keeps the filter; empty when there is none."""
        fill, gap = self.gap or (None, None)
        named = {"benchmark": self.benchmark, "fill": fill, "gap": gap} | more
        given = {name: value for name, value in named.items() if value not in {None, ""}}
        return f"?{urlencode(given)}" if given else ""


def _filter(
    benchmark: Annotated[str, Query(max_length=200)] = "",
    fill: Annotated[str, Query(pattern=r"^([0-9a-f]{32})?$")] = "",
    gap: Annotated[str, Query(pattern=rf"^({GAP})?$")] = "",
) -> QueueFilter:
    return QueueFilter(benchmark.strip() or None, (fill, gap) if fill and gap else None)


FilterDep = Annotated[QueueFilter, Depends(_filter)]


@dataclass(frozen=True)
class QueueLinks:
    """Addresses of a page of the queue."""

    filter: QueueFilter
    current: Shelf
    following_cursor: int | None = None

    def shelf(self, name: str) -> str:
        """Return the address of a shelf, filtered the same."""
        return f"/review{self.filter.query(shelf=name)}"

    def case(self, candidate: str) -> str:
        """Return the address of a candidate's page."""
        return f"/review/c/{candidate}{self.filter.query()}"

    def only_benchmark(self, benchmark: str) -> str:
        """Return that of this shelf, of one benchmark."""
        return f"/review{QueueFilter(benchmark).query(shelf=self.current)}"

    def only_gap(self, case: CaseView) -> str:
        """Return that of this shelf, of one gap."""
        one = replace(self.filter, gap=(case.job, case.gap))
        return f"/review{one.query(shelf=self.current)}"

    @property
    def without_gap(self) -> str:
        """Address of this shelf, of all gaps."""
        return f"/review{replace(self.filter, gap=None).query(shelf=self.current)}"

    @property
    def without_filter(self) -> str:
        """Address of this shelf, all of it."""
        return f"/review{QueueFilter().query(shelf=self.current)}"

    @property
    def first(self) -> str:
        """Address of its newest page."""
        return self.shelf(self.current)

    @property
    def following(self) -> str:
        """Address of what is older."""
        return f"/review{self.filter.query(shelf=self.current, before=self.following_cursor)}"
