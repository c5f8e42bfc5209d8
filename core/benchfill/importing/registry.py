"""Which formats there are: ours, one module each, and those of other packages."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from ..entry_points import with_offered
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
    modules = sorted(one.name for one in pkgutil.iter_modules(formats.__path__))
    ours: list[ResultFormat] = [
        one
        for name in modules
        for one in importlib.import_module(f"{formats.__name__}.{name}").FORMATS
    ]
    found = with_offered(ours, GROUP, ResultFormat, "format")
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
