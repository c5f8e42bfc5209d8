"""The formats as tables, for the documentation."""

from __future__ import annotations

from .registry import all_formats


def formats_table() -> str:
    """Return a Markdown table: what is recognised by what."""
    rows = ["| `--format` | what it is | recognised by | example |", "| --- | --- | --- | --- |"]
    for one in all_formats().values():
        example = one.example.removeprefix("benchfill import ")
        rows.append(f"| `{one.name}` | {one.title} | {one.recognised_by} | `{example}` |")
    return "\n".join(rows)


def choices_table() -> str:
    """Return a Markdown table: what a format leaves open, its option and its default."""
    rows = ["| format | option | default | what it settles |", "| --- | --- | --- | --- |"]
    rows += [
        f"| `{one.name}` | `{choice.option}` | {choice.default} | {choice.meaning} |"
        for one in all_formats().values()
        for choice in one.choices
    ]
    return "\n".join(rows)


def summary_table() -> str:
    """Return a Markdown table: format, what is read, choices with their defaults, an example."""
    rows = [
        "| format | what is read | choices and defaults | example |",
        "| --- | --- | --- | --- |",
    ]
    for one in all_formats().values():
        choices = "; ".join(f"`{each.option}`: {each.default}" for each in one.choices)
        rows.append(f"| `{one.name}` | {one.title} | {choices} | `{one.example}` |")
    return "\n".join(rows)
