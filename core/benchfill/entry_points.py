"""What other packages offer beside ours, by an entry-point group."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from .errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable


class Named(Protocol):
    """Something that is asked for by its name."""

    @property
    def name(self) -> str:
        """Its name, unique in its group."""


T = TypeVar("T", bound=Named)


def with_offered(ours: Iterable[T], group: str, kind: type[Any], noun: str) -> dict[str, T]:
    """Return ours and those of other packages, by name.

    Parameters
    ----------
    ours
        What this package has, each with a name of its own.
    group
        The entry-point group under which others name an instance.
    kind
        The class that it must be an instance of.
    noun
        What errors call it, such as ``format``.

    Raises
    ------
    InputError
        Another package's cannot be loaded, is no such thing, or has a name that is taken.
    """
    found = {one.name: one for one in ours}
    for point in entry_points(group=group):
        try:
            other = point.load()
        except Exception as error:
            raise InputError(
                f"the {noun} of another package cannot be loaded ({type(error).__name__}: {error});"
                " update or remove that package.",
                source=point.value,
            ) from error
        if not isinstance(other, kind) or other.name in found:
            raise InputError(
                f"is no {noun}, or has the name of another one; remove that package.",
                source=point.value,
            )
        found[other.name] = other
    return found
