"""Which formats there are: ours, one module each, and those of other packages."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib.metadata import entry_points

from ..errors import InputError
from . import formats
from .interface import ResultFormat

GROUP = "benchfill.formats"


@cache
def all_formats() -> dict[str, ResultFormat]:
    """Return every format by its name, specific ones before generic ones.

    A module in ``importing/formats`` offers its instances as ``FORMATS``. Other packages name an
    instance under the entry-point group ``benchfill.formats``.

    Raises
    ------
    InputError
        Another package's format cannot be loaded, or has a name that is taken.
    """
    found: dict[str, ResultFormat] = {}
    for module in sorted(one.name for one in pkgutil.iter_modules(formats.__path__)):
        for one in importlib.import_module(f"{formats.__name__}.{module}").FORMATS:
            found[one.name] = one
    for point in entry_points(group=GROUP):
        try:
            other = point.load()
        except Exception as error:
            raise InputError(
                f"the format of another package cannot be loaded ({type(error).__name__}: {error});"
                " update or remove that package.",
                source=point.value,
            ) from error
        if not isinstance(other, ResultFormat) or other.name in found:
            raise InputError(
                "is no format, or has the name of another one; remove that package.",
                source=point.value,
            )
        found[other.name] = other
    return dict(sorted(found.items(), key=lambda pair: (pair[1].generic, pair[0])))


def format_named(name: str) -> ResultFormat:
    """Return the format of a name.

    Raises
    ------
    InputError
        There is none; the sentence lists those there are.
    """
    known = all_formats()
    if name not in known:
        raise InputError(f"{name!r} is none of {', '.join(known)}.", field="--format")
    return known[name]
