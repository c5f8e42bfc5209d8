"""Griffe extension: a pydantic model's fields, with their descriptions, in the reference."""

from __future__ import annotations

import ast
from typing import Any

import griffe


class PydanticFields(griffe.Extension):
    """Append the fields of a pydantic model, inherited ones first, to its docstring."""

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """Look at one class."""
        family = [*reversed(cls.mro()), cls]
        if not any(str(base).endswith("BaseModel") for one in family for base in one.bases):
            return
        fields = {
            attribute.name: attribute
            for one in family
            for attribute in one.attributes.values()
            if attribute.annotation is not None and not attribute.name.startswith("_")
        }
        if cls.docstring is None or not fields:
            return
        listed = [f"{name} : {one.annotation}\n    {_told(one)}" for name, one in fields.items()]
        cls.docstring.value += "\n\nAttributes\n----------\n" + "\n".join(listed)


def _told(attribute: griffe.Attribute) -> str:
    """Return the description in ``Field(..., description="...")``, or nothing."""
    if isinstance(attribute.value, griffe.ExprCall):
        for argument in attribute.value.arguments:
            if isinstance(argument, griffe.ExprKeyword) and argument.name == "description":
                return str(ast.literal_eval(str(argument.value)))
    return ""
