"""What the site needs of MkDocs beyond its settings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from markdown.extensions.toc import slugify
from mkdocs.exceptions import PluginError

PICTURE = re.compile(r"!\[([^\]]*)\]\((img/[\w-]+)\.png\)")
FETCHED = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed|object|link)\b(?![^>]*canonical)[^>]*?"""
    r"""\s(?:src|href|data|srcset)=["']?\s*((?:https?:)?//[^"'\s>]+)""",
    re.IGNORECASE,
)
CITED = re.compile(r"docs/method, sections? (\d)")
NOTHING_SAID = re.compile(r'\s–\s*<div class="doc-md-description">\s*</div>')


def on_config(config: Any) -> None:
    """Put every decision into the navigation, in the order of their numbers."""
    for entry in config["nav"]:
        for title, page in entry.items():
            if isinstance(page, str) and "*" in page:
                folder = Path(config["docs_dir"])
                found = sorted(folder.glob(page))
                entry[title] = [path.relative_to(folder).as_posix() for path in found]


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Show each picture on light or on dark paper; elsewhere the light one stands alone."""
    return PICTURE.sub(
        r"![\1](\2.png#only-light){ loading=lazy }![\1](\2-dark.png#only-dark){ loading=lazy }",
        markdown,
    )


def on_page_content(html: str, page: Any, config: Any, **_: Any) -> str:
    """Link what docstrings say of the method to its sections."""
    if page.file.src_uri not in {"python.md", "results.md"}:
        return html
    method = (Path(config["docs_dir"]) / "method.md").read_text(encoding="utf-8")
    titles = re.findall(r"^## (\d\. .*)$", method, re.MULTILINE)
    anchors = {title[0]: slugify(title, "-") for title in titles}
    return CITED.sub(
        lambda cited: f'<a href="method.html#{anchors[cited[1]]}">{cited[0]}</a>', html
    )


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Refuse a page that would fetch something from elsewhere; no dash before nothing."""
    if found := FETCHED.search(output):
        raise PluginError(f"{page.file.src_uri} would fetch {found[1]}; keep it in docs/ instead.")
    return NOTHING_SAID.sub("", output)
