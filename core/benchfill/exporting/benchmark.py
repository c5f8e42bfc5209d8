"""What is exported: items, where they came from, and how hard they were measured to be."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..item_metadata import DEEPEST, packed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..diagnosis import Diagnosis, Difficulty
    from ..items import Item

LONGEST_NAME = 64


@dataclass(frozen=True)
class Part:
    """Items that one task can hold: all of them multiple choice, or none."""

    name: str
    items: tuple[Item, ...]
    multiple_choice: bool


@dataclass(frozen=True)
class Benchmark:
    """Items to be exported.

    Parameters
    ----------
    name
        A name as `slug` makes it: it becomes file names, and names in YAML.
    items
        The items, in their order.
    provenance
        Where merged items came from, by item id.
    diagnosis
        Difficulties and gaps, if there are responses.
    """

    name: str
    items: tuple[Item, ...]
    provenance: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    diagnosis: Diagnosis | None = None

    @cached_property
    def difficulties(self) -> dict[str, Difficulty]:
        """Measured difficulties by item id."""
        known = self.diagnosis.difficulties if self.diagnosis else ()
        return {one.item: one for one in known}

    def parts(self) -> tuple[Part, ...]:
        """Return multiple-choice items and others apart; names differ only if there are both."""
        choices = tuple(item for item in self.items if item.choices)
        others = tuple(item for item in self.items if not item.choices)
        both = bool(choices and others)
        found = (
            Part(f"{self.name}_choices" if both else self.name, choices, multiple_choice=True),
            Part(f"{self.name}_open" if both else self.name, others, multiple_choice=False),
        )
        return tuple(part for part in found if part.items)

    def metadata(self, item: Item) -> dict[str, Any]:
        """Return an item's metadata, and under ``benchfill`` what else is known of it.

        Raises
        ------
        InputError
            They are nested too deeply to be read again.
        """
        whole: dict[str, Any] = {}
        if item.id in self.provenance:
            whole["provenance"] = dict(self.provenance[item.id])
        if item.id in self.difficulties:
            measured = self.difficulties[item.id]
            whole["difficulty"] = {"z": measured.z, "logits": measured.b, "sd": measured.sd}
        try:
            return packed(item, whole)
        except RecursionError:
            raise InputError(
                f"has metadata that are nested more than {DEEPEST} deep; leave them out.",
                field=f"item {item.id[:60]!r}",
            ) from None


def slug(name: str) -> str:
    """Return a name that is safe as a file name, in YAML and as a Python module.

    Raises
    ------
    InputError
        Nothing of the name is left.
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    found = re.sub(r"[^a-z0-9]+", "_", plain)[:LONGEST_NAME].strip("_")
    if not found:
        raise InputError("holds no letter from a to z; give a name that does.", field="--name")
    return found if found[0].isalpha() else f"items_{found}"
