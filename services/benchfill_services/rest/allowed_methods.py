"""Which methods a path takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import compile_path

if TYPE_CHECKING:
    from fastapi import FastAPI


def methods_of(app: FastAPI, path: str) -> list[str]:
    """Return the methods that a path takes, by the document."""
    found: set[str] = set()
    for template, operations in app.openapi()["paths"].items():
        pattern, _, _ = compile_path(template)
        if pattern.fullmatch(path):
            found |= {method.upper() for method in operations}
    return sorted(found)
