"""What all models of this package share."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), Field()
]
"""A short name or id."""

Symbol = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,63}$")]
"""An id that may stand in an expression."""

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=20_000)]
"""A text that says something."""

ShortText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4_000)]
"""A text that says something, of an option's length at most."""


class Frozen(BaseModel):
    """Immutable; a field that does not exist is an error, so that nothing is dropped in silence."""

    model_config = ConfigDict(frozen=True, extra="forbid")
