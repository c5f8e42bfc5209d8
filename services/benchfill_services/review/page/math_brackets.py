r"""Markdown rules for \( ... \) and \[ ... \].

mdit-py-plugins has them as `texmath`, which drops what follows \] on its line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline


def math_brackets(md: MarkdownIt) -> None:
    """Add the rules to a parser; their tokens are those of `dollarmath`."""
    md.inline.ruler.before("escape", "math_brackets", _inline)
    alt = ["paragraph", "reference", "blockquote", "list"]
    md.block.ruler.before("fence", "math_brackets_block", _block, {"alt": alt})


def _inline(state: StateInline, silent: bool) -> bool:
    opening = state.src[state.pos : state.pos + 2]
    closing = {"\\(": "\\)", "\\[": "\\]"}.get(opening)
    if closing is None:
        return False
    end = state.src.find(closing, state.pos + 2, state.posMax)
    content = state.src[state.pos + 2 : end]
    if end < 0 or not content.strip() or opening in content:
        return False
    if not silent:
        kind = "math_inline" if opening == "\\(" else "math_inline_double"
        state.push(kind, "math", 0).content = content
    state.pos = end + 2
    return True


def _block(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    start = state.bMarks[first] + state.tShift[first]
    if not state.src.startswith("\\[", start):
        return False
    for line in range(first, last):
        if line > first and state.sCount[line] < state.blkIndent:
            return False
        text = state.src[state.bMarks[line] : state.eMarks[line]].rstrip()
        place = text.find("\\]")
        if place < 0:
            continue
        if place != len(text) - 2:  # more follows: a paragraph with mathematics in it
            return False
        if not silent:
            token = state.push("math_block", "math", 0)
            token.block = True
            token.content = state.src[start + 2 : state.bMarks[line] + place]
            token.map = [first, line + 1]
        state.line = line + 1
        return True
    return False
