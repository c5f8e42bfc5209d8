"""The domains by name, and which of them an item belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .code import Code
from .exact import Exact
from .instructions import Instructions
from .math import Math
from .multiple_choice import MultipleChoice
from .numeric import Numeric

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchfill.items import Item, ItemDomain

    from .interface import Domain

DOMAINS: dict[ItemDomain, Domain] = {
    domain.name: domain
    for domain in (Exact(), Numeric(), Math(), MultipleChoice(), Code(), Instructions())
}


def domain_of(item: Item, scoring: ItemDomain) -> Domain:
    """Return how an item is scored: as itself says, else as the pool does."""
    return DOMAINS[item.domain or scoring]


def domain_check(item: Item, scoring: ItemDomain) -> str | None:
    """Say why an item is unsound in its domain, in one sentence; None when it is sound.

    It may take seconds, as the tests of code items are run; it blocks for as long.
    """
    return domain_of(item, scoring).check(item)


def details_of(item: Item) -> tuple[str, ...]:
    """Return lines that a Rewriter is shown of an item beside question, choices and answer.

    Of an item that names no domain, what its metadata hold for any.
    """
    domains = [DOMAINS[item.domain]] if item.domain else DOMAINS.values()
    return tuple(line for domain in domains for line in domain.details(item))


def first_problem(items: Iterable[Item], scoring: ItemDomain) -> tuple[Item, str] | None:
    """Return the first item that cannot be scored, and why; None when all can.

    Raises InputError where what scoring needs is not installed.
    """
    for item in items:
        problem = domain_of(item, scoring).problem(item)
        if problem is not None:
            return item, problem
    return None
