"""Free-form mathematics: a reply is right when it equals the reference, however it is written."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar

from benchfill.errors import InputError

from ..pool.scoring import Extracted, extract, normalise, parse_number
from .interface import Domain
from .math_worker import compare

if TYPE_CHECKING:
    from benchfill.items import Item, ItemDomain

    from ..pool.config import Style

LONGEST = 2_000  # characters of an expression
SOLUTION = "solution"
_MAX_REPLY = 20_000
_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{")


class Math(Domain):
    """Items whose reference is an expression, a set, an interval, an equation."""

    name: ClassVar[ItemDomain] = "math"
    slow: ClassVar[bool] = True

    def problem(self, item: Item) -> str | None:
        """See `Domain.problem`."""
        if find_spec("math_verify") is None:
            raise InputError(
                "math items are scored with math-verify, which is not installed; run "
                "pip install 'benchfill[math]'."
            )
        if len(item.answer) > LONGEST:
            return f"The answer has {len(item.answer)} characters; at most {LONGEST} are read."
        return None

    def extract(self, text: str, *, style: Style, item: Item) -> Extracted | None:  # noqa: ARG002
        """See `Domain.extract`: what is boxed last, what follows "answer is", or all of it."""
        if style == "chat":
            boxed = last_boxed(text[-_MAX_REPLY:])
            if boxed is not None:
                return Extracted(boxed, at_end=False)
        return extract(text, style=style, scoring="exact")

    def is_correct(self, answer: str, item: Item) -> bool:
        """See `Domain.is_correct`. An answer that SymPy cannot settle in time is wrong."""
        if normalise(answer) == normalise(item.answer):
            return True
        numbers = parse_number(answer), parse_number(item.answer)
        if None not in numbers:
            return numbers[0] == numbers[1]
        if len(answer) > LONGEST:
            return False
        return compare(item.answer, answer).equal

    def check(self, item: Item) -> str | None:
        """See `Domain.check`: the reference can be read, and is what the solution comes to."""
        problem = self.problem(item)
        if problem is not None:
            return problem
        itself = compare(item.answer, item.answer)
        if not itself.reference:
            return f"The answer {item.answer[:80]!r} cannot be read as mathematics."
        if not itself.equal:
            return f"The answer {item.answer[:80]!r} cannot be compared, not even with itself."
        return self._claim(item)

    def _claim(self, item: Item) -> str | None:
        solution = item.metadata.get(SOLUTION)
        if not isinstance(solution, str):
            return None
        claimed = last_boxed(solution)
        if claimed is None:
            return "The solution puts no result into \\boxed{}."
        if not self.is_correct(claimed, item):
            return f"The solution comes to {claimed[:80]!r}, the answer is {item.answer[:80]!r}."
        return None

    def details(self, item: Item) -> tuple[str, ...]:
        """See `Domain.details`."""
        solution = item.metadata.get(SOLUTION)
        return (f"Solution: {solution}",) if isinstance(solution, str) else ()


def last_boxed(text: str) -> str | None:
    r"""Return what stands in the last ``\boxed{...}`` that is closed; None without one."""
    for match in reversed(list(_BOXED.finditer(text))):
        depth = 1
        for place in range(match.end(), min(len(text), match.end() + LONGEST)):
            depth += {"{": 1, "}": -1}.get(text[place], 0)
            if depth == 0:
                return text[match.end() : place].strip() or None
    return None
