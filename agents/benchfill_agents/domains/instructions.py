"""Instruction following: a reply is right when it passes every checker that its item names.

The names stand in the item's metadata as IFEval has them: ``instruction_id_list``, and ``kwargs``
with the arguments of each, in the same order. The reference is a reply that passes them all.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

from ..pool.scoring import Extracted
from .checkers import ARGUMENTS, CHECKERS
from .interface import Domain

if TYPE_CHECKING:
    from benchfill.items import Item, ItemDomain

    from ..pool.config import Style

IDS, ARGUMENTS_OF = "instruction_id_list", "kwargs"


class Instructions(Domain):
    """Items whose replies are checked, whatever they say."""

    name: ClassVar[ItemDomain] = "instructions"
    uses: ClassVar[tuple[str, ...]] = (IDS, ARGUMENTS_OF)

    @property
    def rewriting_values(self) -> dict[str, str]:
        """See `Domain.rewriting_values`: the checkers and their arguments."""
        known = (f"{name} ({', '.join(sorted(ARGUMENTS[name])) or 'none'})" for name in CHECKERS)
        return {"checkers": "; ".join(known)}

    def problem(self, item: Item) -> str | None:
        """See `Domain.problem`: checkers and their arguments are known."""
        try:
            checks = _checks(item)
            for name, arguments in checks:
                CHECKERS[name]("", arguments)
        except ValueError as error:
            return f"{str(error)[:1].upper()}{str(error)[1:]}."
        except (KeyError, TypeError, AttributeError) as error:
            return f"An argument of {name} cannot be used ({type(error).__name__}: {error})."
        return None

    def extract(self, text: str, *, style: Style, item: Item) -> Extracted | None:  # noqa: ARG002
        """See `Domain.extract`: all of the reply."""
        return Extracted(text.strip(), at_end=True) if text.strip() else None

    def is_correct(self, answer: str, item: Item) -> bool:
        """See `Domain.is_correct`."""
        return all(CHECKERS[name](answer, arguments) for name, arguments in _checks(item))

    def check(self, item: Item) -> str | None:
        """See `Domain.check`: the reference shows that all can be satisfied at once."""
        problem = self.problem(item)
        if problem is not None:
            return problem
        for name, arguments in _checks(item):
            if not CHECKERS[name](item.answer, arguments):
                return f"The reference reply does not follow {name}."
        return None

    def details(self, item: Item) -> tuple[str, ...]:
        """See `Domain.details`."""
        try:
            checks = _checks(item)
        except ValueError:
            return ()
        return tuple(
            f"Checked by: {name} {json.dumps(arguments, ensure_ascii=False, sort_keys=True)}"
            for name, arguments in checks
        )


def _checks(item: Item) -> list[tuple[str, dict[str, Any]]]:
    """Return the checkers of an item with their arguments. Raises ValueError, one clause."""
    names, given = item.metadata.get(IDS), item.metadata.get(ARGUMENTS_OF)
    if not isinstance(names, list) or not names:
        raise ValueError(f"the item's metadata.{IDS} must name one checker or more")
    given = [{} for _ in names] if given is None else given
    if not isinstance(given, list) or len(given) != len(names):
        raise ValueError(f"the item's metadata.{ARGUMENTS_OF} must hold one object a checker")
    checks = []
    for name, arguments in zip(names, given, strict=True):
        if not isinstance(name, str) or name not in CHECKERS:
            raise ValueError(f"the checker {name!r} is not known; there are {', '.join(CHECKERS)}")
        if not isinstance(arguments, dict):
            raise ValueError(f"the arguments of {name} are no object")  # noqa: TRY004 - of data
        # IFEval's data name the arguments of all checkers everywhere, most of them null
        checks.append(
            (name, {key: one for key, one in arguments.items() if key in ARGUMENTS[name]})
        )
    return checks
