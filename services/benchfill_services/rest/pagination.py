"""Pages: a limit, and a cursor that is handed back for the next one."""

from __future__ import annotations

from typing import Annotated, Generic, TypeVar

from fastapi import Depends, Query
from pydantic import BaseModel, Field

T = TypeVar("T")

Limit = Annotated[int, Query(ge=1, le=200, description="entries of the page at most")]


class Page(BaseModel, Generic[T]):
    """Entries, newest first, and how to get more."""

    entries: list[T]
    next_cursor: str | None = Field(
        description="send it as `cursor` for the next page; null: there are no more"
    )


def _cursor(
    cursor: Annotated[
        str | None,
        Query(pattern=r"^[0-9]{1,15}$", description="`next_cursor` of the page before"),
    ] = None,
) -> int | None:
    return None if cursor is None else int(cursor)


Before = Annotated[int | None, Depends(_cursor)]
"""Where the page begins: everything before this number."""


def page(entries: list[T], following: int | None) -> Page[T]:
    """Return a page; `following` becomes its cursor."""
    return Page(entries=entries, next_cursor=None if following is None else str(following))
