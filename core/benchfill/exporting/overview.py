"""The export formats as a table in Markdown, for the documentation."""

from __future__ import annotations

from .registry import all_exports


def exports_table() -> str:
    """Return what every format writes and what runs it."""
    lines = [
        "| `--to` | what it is for | what is written | run there |",
        "| --- | --- | --- | --- |",
    ]
    for one in all_exports().values():
        run = f"`{one.run}`" if one.run else ""
        row = f"| `{one.name}` | {one.title} | {one.writes} | {run} |"
        lines.append(row.replace("{name}", "NAME"))
    return "\n".join(lines)
