"""Templates by name: ``load("rewrite").render(target="5.98")``.

A template is the file ``NAME.md`` beside this one, with variables as ``$name`` or ``${name}`` and
``$$`` for a dollar sign.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from string import Template


class PromptError(ValueError):
    """A template is unknown or broken, or was given the wrong values."""


@dataclass(frozen=True)
class Prompt:
    """A template; `sha256` goes into results, so that they name the wording they came from."""

    name: str
    text: str
    sha256: str = field(init=False)
    variables: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        template = Template(self.text)
        if not template.is_valid():
            raise PromptError(
                f"prompt {self.name!r} has a $ that begins no variable; write $$ for a dollar sign."
            )
        object.__setattr__(self, "sha256", hashlib.sha256(self.text.encode()).hexdigest())
        object.__setattr__(self, "variables", frozenset(template.get_identifiers()))

    def render(self, **values: str | int) -> str:
        """Put the values in, literally and in one pass: a ``$name`` in a value stays as it is."""
        missing, unknown = self.variables - values.keys(), values.keys() - self.variables
        if missing:
            raise PromptError(f"prompt {self.name!r} was not given {', '.join(sorted(missing))}.")
        if unknown:
            raise PromptError(f"prompt {self.name!r} does not use {', '.join(sorted(unknown))}.")
        return Template(self.text).substitute(values)


@lru_cache(maxsize=64)
def load(name: str) -> Prompt:
    """Return the template with that name."""
    known = {
        entry.name.removesuffix(".md"): entry
        for entry in files(__package__).iterdir()
        if entry.name.endswith(".md")
    }
    if name not in known:
        raise PromptError(f"there is no prompt {name!r}; there are {', '.join(sorted(known))}.")
    return Prompt(name, known[name].read_text(encoding="utf-8").strip())
