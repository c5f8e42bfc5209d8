"""Who looks at a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from ..rules import Person
from .sessions import csrf_token

COOKIE = "benchfill_review"
COOKIE_PATH = "/review"


@dataclass(frozen=True)
class Visit:
    """A request's visitor: signed in, anonymous where nobody needs a key, or neither."""

    token: str
    new: bool
    """Whether the browser has yet to be given the cookie."""
    person: Person | None
    anonymous: bool = False
    needed: int = 2
    """Reviewers who must agree on an item."""

    @property
    def csrf(self) -> str:
        """What forms send back."""
        return csrf_token(self.token)


def _visit(request: Request) -> Visit:
    visit: Visit = request.state.visit
    return visit


def _person(request: Request) -> Person:
    person = _visit(request).person
    if person is None:
        raise TypeError("the route is open to all and has no person")
    return person


VisitDep = Annotated[Visit, Depends(_visit)]
PersonDep = Annotated[Person, Depends(_person)]
