"""Which export formats there are: ours, one module each, and those of other packages."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib.metadata import entry_points

from ..errors import InputError
from . import formats
from .interface import ExportFormat

GROUP = "benchfill.exports"


@cache
def all_exports() -> dict[str, ExportFormat]:
    """Return every format by its name.

    A module in ``exporting/formats`` offers its instance as ``FORMAT``. Other packages name an
    instance under the entry-point group ``benchfill.exports``.

    Raises
    ------
    InputError
        Another package's format cannot be loaded, or has a name that is taken.
    """
    modules = sorted(one.name for one in pkgutil.iter_modules(formats.__path__))
    ours = [importlib.import_module(f"{formats.__name__}.{name}").FORMAT for name in modules]
    found: dict[str, ExportFormat] = {one.name: one for one in ours}
    for point in entry_points(group=GROUP):
        try:
            other = point.load()
        except Exception as error:
            raise InputError(
                f"the format of another package cannot be loaded ({type(error).__name__}: {error});"
                " update or remove that package.",
                source=point.value,
            ) from error
        if not isinstance(other, ExportFormat) or other.name in found:
            raise InputError(
                "is no export format, or has the name of another one; remove that package.",
                source=point.value,
            )
        found[other.name] = other
    return dict(sorted(found.items()))


def export_named(name: str) -> ExportFormat:
    """Return the format of a name.

    Raises
    ------
    InputError
        There is none; the sentence lists those there are.
    """
    known = all_exports()
    if name not in known:
        raise InputError(f"{name[:40]!r} is none of {', '.join(known)}.", field="--to")
    return known[name]
