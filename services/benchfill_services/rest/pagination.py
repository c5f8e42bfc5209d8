"""Pages: a limit, and a cursor that is handed back for the next one."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Generic, TypeVar

from fastapi import Depends, Query
from pydantic import BaseModel, Field

from .problem import wrong_field

T = TypeVar("T")
_LARGEST = 2**53

Limit = Annotated[int, Query(ge=1, le=200, description="entries of the page at most")]


class Page(BaseModel, Generic[T]):
    """Entries, newest first, and how to get more."""

    entries: list[T]
    next_cursor: str | None = Field(
        description="send it as `cursor` for the next page; null: there are no more"
    )


def _cursor(
    cursor: Annotated[
        str | None, Query(max_length=64, description="`next_cursor` of the page before")
    ] = None,
) -> int | None:
    if cursor is None:
        return None
    try:
        place = int(base64.urlsafe_b64decode(cursor.encode("ascii")))
    except (ValueError, UnicodeEncodeError, binascii.Error):
        place = -1
    if not 0 <= place < _LARGEST:
        raise wrong_field("query", "cursor", "is no cursor; send what a page before gave.")
    return place


Before = Annotated[int | None, Depends(_cursor)]
"""Where the page begins: everything before this number."""


def page(entries: list[T], following: int | None) -> Page[T]:
    """Return a page; `following` goes into its cursor."""
    cursor = (
        None if following is None else base64.urlsafe_b64encode(str(following).encode()).decode()
    )
    return Page(entries=entries, next_cursor=cursor)
