"""Solution graphs as SVG: whole, escaped, without script or style."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from benchfill.textbook.solution_graph import SolutionEdge, SolutionGraph, SolutionNode
from benchfill_services.textbook.graph_drawing import graph_svg
from support.textbook_good_python import GOOD_PYTHON, corner_block

HOSTILE = "</text></svg><script>alert(1)</script><b onclick=x>"


def boxes(svg: str) -> list[tuple[float, float, float, float]]:
    """x, y, width and height of each box."""
    root = ET.fromstring(svg)
    return [
        tuple(float(rect.get(name, "")) for name in ("x", "y", "width", "height"))  # type: ignore[misc]
        for rect in root.iter()
        if rect.tag.endswith("rect")
    ]


@pytest.mark.parametrize("make", GOOD_PYTHON, ids=lambda make: make.__name__)
def test_every_node_has_a_box_and_no_two_overlap(make: object) -> None:
    graph = make().graph  # type: ignore[operator]
    svg = graph_svg(graph)
    found = boxes(svg)
    assert len(found) == len(graph.nodes)
    for place, (x, y, w, h) in enumerate(found):
        for ox, oy, ow, oh in found[place + 1 :]:
            assert x + w <= ox or ox + ow <= x or y + h <= oy or oy + oh <= y
    width, height = (float(n) for n in re.findall(r'viewBox="0 0 (\d+) (\d+)"', svg)[0])
    assert all(x >= 0 and x + w <= width and y + h <= height for x, y, w, h in found)


def test_it_draws_in_the_colour_of_the_text_and_has_no_style() -> None:
    svg = graph_svg(corner_block().graph)
    assert "<style" not in svg
    assert " style=" not in svg
    assert set(re.findall(r'(?:fill|stroke)="([^"]+)"', svg)) == {"currentColor", "none"}


def test_hostile_text_is_text() -> None:
    node = SolutionNode(id="n1", kind="given", statement=HOSTILE, value=HOSTILE)
    last = SolutionNode(id="n2", kind="computed", statement="x", value="1", expression=HOSTILE)
    edge = SolutionEdge(source="n1", target="n2", rule=HOSTILE)
    svg = graph_svg(SolutionGraph(nodes=(node, last), edges=(edge,), answer="n2"))
    tags = {element.tag.rpartition("}")[2] for element in ET.fromstring(svg).iter()}
    assert tags == {"svg", "g", "title", "rect", "text", "path"}
    assert "<script" not in svg


def test_invisible_characters_show() -> None:
    node = SolutionNode(id="n1", kind="given", statement="a\u202eb", value="1")
    assert "\u202e" not in graph_svg(SolutionGraph(nodes=(node,), edges=(), answer="n1"))


def test_a_circle_is_not_drawn() -> None:
    nodes = tuple(
        SolutionNode(id=one, kind="inferred", statement="s", value="v") for one in ("a", "b")
    )
    edges = (
        SolutionEdge(source="a", target="b", rule="r"),
        SolutionEdge(source="b", target="a", rule="r"),
    )
    assert graph_svg(SolutionGraph(nodes=nodes, edges=edges, answer="b")) == ""
