"""A solution graph as SVG: layers from what is given to the answer. Every text is escaped.

It has no style and no script of its own and draws in the colour of the text around it, so that it
is legible on dark and on light paper and under the review page's policy.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from markupsafe import Markup

if TYPE_CHECKING:
    from benchfill.textbook.solution_graph import SolutionGraph, SolutionNode

_WIDTH, _LINE, _PADDING = 190, 15, 9
_GAP_X, _GAP_Y, _MARGIN = 26, 38, 8
_DETOUR = 18  # width that an edge past a layer takes
_CHARACTERS = {"value": 23, "statement": 28, "rules": 28}  # of a line, at 12 px
_MOST_LINES = {"value": 3, "statement": 4, "rules": 3}

Text = tuple[str, str]  # its kind, and the line


@dataclass
class _Box:
    """A node, or the place where a long edge passes a layer."""

    key: str
    lines: tuple[Text, ...]
    node: SolutionNode | None
    x: float = 0.0
    y: float = 0.0

    @property
    def width(self) -> float:
        return _WIDTH if self.node is not None else _DETOUR

    @property
    def height(self) -> float:
        return len(self.lines) * _LINE + 2 * _PADDING if self.node is not None else 0.0

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


def graph_svg(graph: SolutionGraph, *, rules: dict[str, str] | None = None) -> Markup:
    """Draw a graph; `rules` gives names for the ids of rules, where they are known.

    A graph with a circle, which no check lets through, is not drawn: the result is empty.
    """
    ranks = _ranks(graph)
    if ranks is None:
        return Markup()
    layers, links = _layers(graph, ranks, rules or {})
    width, height = _place(layers, links)
    drawn = [
        *(_edge(one) for one in _boxed(layers, links)),
        *(_box(box, graph) for layer in layers for box in layer if box.node is not None),
    ]
    return Markup(
        '<svg class="solution-graph" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img" '
        'aria-label="{label}" font-family="system-ui, sans-serif" font-size="12">{body}</svg>'
    ).format(w=round(width), h=round(height), label=_words(graph), body=Markup("").join(drawn))


def _ranks(graph: SolutionGraph) -> dict[str, int] | None:
    before = {node.id: set(graph.predecessors(node.id)) & set(graph.by_id) for node in graph.nodes}
    try:
        order = list(TopologicalSorter(before).static_order())
    except CycleError:
        return None
    ranks: dict[str, int] = {}
    for key in order:
        ranks[key] = max((ranks[one] + 1 for one in before[key]), default=0)
    for key in order:  # what is given stands right above where it is used first
        if not before[key]:
            used = [ranks[one] for one, sources in before.items() if key in sources]
            ranks[key] = min(used, default=1) - 1
    return ranks


def _layers(
    graph: SolutionGraph, ranks: dict[str, int], rules: dict[str, str]
) -> tuple[list[list[_Box]], list[tuple[str, str]]]:
    """Return boxes by layer, and links between boxes of neighbouring layers."""
    layers: list[list[_Box]] = [[] for _ in range(max(ranks.values()) + 1)]
    for node in graph.by_id.values():
        layers[ranks[node.id]].append(_Box(node.id, _lines(node, graph, rules), node))
    links: list[tuple[str, str]] = []
    for node in graph.by_id.values():
        for source in graph.predecessors(node.id):
            if source not in ranks:
                continue
            last = source
            for rank in range(ranks[source] + 1, ranks[node.id]):
                key = f"{source} > {node.id} > {rank}"  # no id has spaces
                layers[rank].append(_Box(key, (), None))
                links.append((last, key))
                last = key
            links.append((last, node.id))
    return layers, links


def _lines(node: SolutionNode, graph: SolutionGraph, rules: dict[str, str]) -> tuple[Text, ...]:
    head = f"{node.id} · {'answer' if node.id == graph.answer else node.kind}"
    value = node.value if node.unit is None else f"{node.value} {node.unit}"
    if node.expression is not None:
        value = f"{node.expression} = {value}"
    used = dict.fromkeys(edge.rule for edge in graph.edges if edge.target == node.id)
    by = "; ".join(rules.get(rule, rule) for rule in used)
    return (
        ("head", _shown(head)),
        *(("value", line) for line in _wrapped(value, "value")),
        *(("statement", line) for line in _wrapped(node.statement, "statement")),
        *(("rules", line) for line in (_wrapped(f"by {by}", "rules") if by else [])),
    )


def _wrapped(text: str, kind: str) -> list[str]:
    return textwrap.wrap(
        _shown(text),
        _CHARACTERS[kind],
        max_lines=_MOST_LINES[kind],
        placeholder=" …",
        break_on_hyphens=False,
    )


def _shown(text: str) -> str:
    """Replace what does not print: a reader must not be shown less than there is."""
    cut = " ".join(text[:600].split())
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in cut)


def _place(layers: list[list[_Box]], links: list[tuple[str, str]]) -> tuple[float, float]:
    """Order each layer by where its boxes come from, and give every box its place."""
    sources: dict[str, list[str]] = {}
    for source, target in links:
        sources.setdefault(target, []).append(source)
    places: dict[str, float] = {}
    for layer in layers:

        def before(box: _Box) -> float:
            known = [places[one] for one in sources.get(box.key, ())]
            return sum(known) / len(known) if known else 0.0

        layer.sort(key=before)
        for place, box in enumerate(layer):
            places[box.key] = place - (len(layer) - 1) / 2
    widths = [sum(b.width for b in layer) + _GAP_X * (len(layer) - 1) for layer in layers]
    width = max(widths) + 2 * _MARGIN
    y = float(_MARGIN)
    for layer, taken in zip(layers, widths, strict=True):
        x = (width - taken) / 2
        for box in layer:
            box.x, box.y = x, y
            x += box.width + _GAP_X
        y += max(box.height for box in layer) + _GAP_Y
    return width, y - _GAP_Y + _MARGIN


def _boxed(
    layers: list[list[_Box]], links: list[tuple[str, str]]
) -> list[tuple[_Box, _Box, float]]:
    """Return the links with their boxes, and where the source's layer ends."""
    found = {box.key: (box, layer) for layer in layers for box in layer}
    pairs = []
    for source, target in links:
        box, layer = found[source]
        ends = max(one.y + one.height for one in layer)
        pairs.append((box, found[target][0], ends))
    return pairs


def _edge(link: tuple[_Box, _Box, float]) -> Markup:
    source, target, ends = link
    x0, y0, x1, y1 = source.middle, source.y + source.height, target.middle, target.y
    bend = (ends + y1) / 2
    path = f"M{x0:.1f} {y0:.1f} L{x0:.1f} {ends:.1f} C{x0:.1f} {bend:.1f} {x1:.1f} {bend:.1f} "
    path += f"{x1:.1f} {y1:.1f}"
    arrow = Markup("")
    if target.node is not None:
        tip = f"M{x1 - 4:.1f} {y1 - 7:.1f} L{x1:.1f} {y1:.1f} L{x1 + 4:.1f} {y1 - 7:.1f}"
        arrow = Markup('<path d="{d}" fill="none" stroke="currentColor"/>').format(d=tip)
    line = Markup('<path d="{d}" fill="none" stroke="currentColor" stroke-opacity="0.55"/>')
    return line.format(d=path) + arrow


def _box(box: _Box, graph: SolutionGraph) -> Markup:
    if box.node is None:
        return Markup("")
    answer = box.node.id == graph.answer
    dash = "5 3" if box.node.kind == "given" else "none"
    frame = Markup(
        '<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="6" fill="currentColor" '
        'fill-opacity="{fill}" stroke="currentColor" stroke-width="{stroke}" '
        'stroke-dasharray="{dash}"/>'
    ).format(
        x=round(box.x, 1),
        y=round(box.y, 1),
        w=box.width,
        h=box.height,
        fill=0.12 if answer else 0.04,
        stroke=2.2 if answer else 1,
        dash=dash,
    )
    texts = [
        Markup('<text x="{x}" y="{y}" fill="currentColor"{more}>{text}</text>').format(
            x=round(box.x + _PADDING, 1),
            y=round(box.y + _PADDING + (number + 1) * _LINE - 3, 1),
            more=_MORE[kind],
            text=text,
        )
        for number, (kind, text) in enumerate(box.lines)
    ]
    title = Markup("<title>{text}</title>").format(text=_shown(box.node.statement))
    return Markup("<g>{t}{f}{x}</g>").format(t=title, f=frame, x=Markup("").join(texts))


_MORE = {
    "head": Markup(' font-weight="700"'),
    "value": Markup(' font-family="ui-monospace, monospace"'),
    "statement": Markup(""),
    "rules": Markup(' font-style="italic" fill-opacity="0.85"'),
}


def _words(graph: SolutionGraph) -> str:
    """Say in words what is drawn."""
    given = sum(node.kind == "given" for node in graph.nodes)
    answer = graph.by_id.get(graph.answer)
    result = "" if answer is None else f" The answer is {_shown(answer.value)[:120]}."
    return (
        f"Solution graph: from {given} given nodes in {len(graph.nodes) - given} steps to the "
        f"answer.{result}"
    )
