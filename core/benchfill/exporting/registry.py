"""Which export formats there are: ours, one module each, and those of other packages."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from ..entry_points import with_offered
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
    ours: list[ExportFormat] = [
        importlib.import_module(f"{formats.__name__}.{name}").FORMAT for name in modules
    ]
    return dict(sorted(with_offered(ours, GROUP, ExportFormat, "export format").items()))


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
