"""Write items.jsonl: `python -m benchfill_agents.sample.make_items`.

The questions are one- and two-digit arithmetic, since the local pool solves nothing larger. They
are graded finely, except in the middle of the difficulties that the pool showed, where questions
were left out on purpose: that is the hole which a fill of the sample is to find and close. The
templates of its neighbours reach into it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchfill.items import Item, Slot, Template

from ..templates import instantiate, permitted
from . import items_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True)
class Kind:
    """A template, and the slot values of the items that the benchmark has of it."""

    template: Template
    chosen: tuple[tuple[int, ...], ...]

    def items(self) -> Iterator[Item]:
        """Make the items, in the order of the values."""
        for numbers in self.chosen:
            yield make_item(self.template, numbers)


def make_item(template: Template, numbers: Sequence[int]) -> Item:
    """Make an item of a template. Raises ValueError if it does not permit the numbers."""
    values = dict(zip(template.slots, numbers, strict=True))
    if not permitted(template, values):
        raise ValueError(f"the template {template.name!r} does not permit {values}")
    return instantiate(template, values, "-".join([template.name, *map(str, numbers)]))


def _numbers(**ranges: tuple[int, int]) -> dict[str, Slot]:
    return {name: Slot(low=low, high=high) for name, (low, high) in ranges.items()}


# A constraint `not (...)` keeps a question out that pool.yaml shows to the models as an example.
KINDS = (
    Kind(
        Template(
            name="one-digit-sum",
            text="{a} + {b} =",
            slots=_numbers(a=(1, 8), b=(1, 8)),
            constraints=("a + b < 10", "not (a == 3 and b == 4)"),
            answer="a + b",
        ),
        ((4, 3), (6, 1), (7, 1)),
    ),
    Kind(
        Template(
            name="one-digit-sum-carry",
            text="{a} + {b} =",
            slots=_numbers(a=(1, 9), b=(1, 9)),
            constraints=("a + b >= 10", "not (a == 8 and b == 5)"),
            answer="a + b",
        ),
        ((8, 4), (7, 5), (7, 4), (7, 6), (9, 1), (2, 8)),
    ),
    Kind(
        Template(
            name="one-digit-difference",
            text="{a} - {b} =",
            slots=_numbers(a=(2, 9), b=(1, 8)),
            constraints=("b < a", "not (a == 9 and b == 5)"),
            answer="a - b",
        ),
        ((4, 2), (6, 1)),
    ),
    Kind(
        Template(
            name="plus-zero",
            text="{a} + 0 =",
            slots=_numbers(a=(1, 99)),
            answer="a",
        ),
        ((39,), (9,)),
    ),
    Kind(
        Template(
            name="two-digits-plus-one",
            text="{a} + {b} =",
            slots=_numbers(a=(11, 98), b=(1, 8)),
            constraints=("a % 10 > 0", "a % 10 + b < 10", "not (a == 12 and b == 6)"),
            answer="a + b",
        ),
        ((85, 1), (53, 5)),
    ),
    Kind(
        Template(
            name="two-digits-plus-one-carry",
            text="{a} + {b} =",
            slots=_numbers(a=(11, 89), b=(1, 9)),
            constraints=("a % 10 + b >= 10",),
            answer="a + b",
        ),
        ((68, 5), (69, 8)),
    ),
    Kind(
        Template(
            name="two-digit-sum-carry",
            text="{a} + {b} =",
            slots=_numbers(a=(11, 88), b=(11, 88)),
            constraints=("a + b < 100", "a % 10 + b % 10 >= 10"),
            answer="a + b",
        ),
        ((53, 39),),
    ),
    Kind(
        Template(
            name="two-digits-minus-one",
            text="{a} - {b} =",
            slots=_numbers(a=(11, 99), b=(1, 9)),
            constraints=("a - b >= 10",),
            answer="a - b",
        ),
        ((27, 8),),
    ),
    Kind(
        Template(
            name="sum-of-tens",
            text="{a}0 + {b}0 =",
            slots=_numbers(a=(1, 8), b=(1, 8)),
            constraints=("a + b < 10",),
            answer="10 * (a + b)",
        ),
        ((4, 2), (1, 3)),
    ),
    Kind(
        Template(
            name="tens-plus-one",
            text="{a}0 + {b} =",
            slots=_numbers(a=(1, 9), b=(1, 9)),
            constraints=("not (a == 2 and b == 3)",),
            answer="10 * a + b",
        ),
        ((4, 4), (3, 2), (9, 5), (8, 4)),
    ),
    Kind(
        Template(
            name="three-addends",
            text="{a} + {b} + {c} =",
            slots=_numbers(a=(1, 9), b=(1, 9), c=(1, 9)),
            constraints=("not (a == 2 and b == 6 and c == 1)",),
            answer="a + b + c",
        ),
        ((8, 5, 3), (4, 9, 2)),
    ),
    Kind(
        Template(
            name="times-table",
            text="{a} x {b} =",
            slots=_numbers(a=(2, 9), b=(2, 9)),
            constraints=("not (a == 4 and b == 5)", "not (a == 3 and b == 8)"),
            answer="a * b",
        ),
        ((9, 2), (5, 2), (2, 5), (3, 6), (5, 8), (6, 8), (7, 6), (8, 9)),
    ),
    Kind(
        Template(
            name="times-ten",
            text="{a} x 10 =",
            slots=_numbers(a=(2, 9)),
            answer="a * 10",
        ),
        ((2,), (4,)),
    ),
    Kind(
        Template(
            name="double",
            text="Double {a} is",
            slots=_numbers(a=(1, 49)),
            constraints=("a != 8",),
            answer="2 * a",
        ),
        ((18,),),
    ),
    Kind(
        Template(
            name="larger-of-two",
            text="The larger of {a} and {b} is",
            slots=_numbers(a=(10, 99), b=(10, 99)),
            constraints=("a != b",),
            answer="a if a > b else b",
        ),
        ((25, 60),),
    ),
    Kind(
        Template(
            name="pears-in-all",
            text="Tom has {a} pears and gets {b} more. Pears in all:",
            slots=_numbers(a=(2, 9), b=(1, 9)),
            answer="a + b",
        ),
        ((3, 3), (2, 2)),
    ),
    Kind(
        Template(
            name="eggs-left",
            text="Ann has {a} eggs and uses {b}. Eggs left:",
            slots=_numbers(a=(2, 12), b=(1, 9)),
            constraints=("b < a",),
            answer="a - b",
        ),
        ((7, 3),),
    ),
)


def main() -> None:
    """Write the items of all kinds."""
    items = [item for kind in KINDS for item in kind.items()]
    lines = [item.model_dump_json(exclude_defaults=True) + "\n" for item in items]
    path = items_path()
    path.write_text("".join(lines), encoding="utf-8")
    sys.stdout.write(f"{len(items)} items written to {path}\n")


if __name__ == "__main__":
    main()
