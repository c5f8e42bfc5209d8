"""Pool files to begin with, one for each kind of provider; keys come from the environment."""

from __future__ import annotations

from importlib.resources import files

from benchfill.errors import InputError


def template_names() -> tuple[str, ...]:
    """Return the names of all templates, in alphabetical order."""
    found = (one.name for one in files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(".yaml") for name in found if name.endswith(".yaml")))


def template_text(name: str) -> str:
    """Return a template (YAML). Raises InputError that lists the names there are."""
    known = template_names()
    if name not in known:
        raise InputError(f"there is no template {name!r}; there are {', '.join(known)}.")
    return (files(__name__) / f"{name}.yaml").read_text(encoding="utf-8")
