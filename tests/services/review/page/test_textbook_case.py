"""What a reviewer sees of an item from a textbook: its graph, its errors, and its source."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from benchfill.textbook.arranging import arrange
from benchfill.textbook.blueprint import BlueprintCell
from benchfill.textbook.chapter import SourceSpan
from benchfill.textbook.solution_graph import SolutionEdge, SolutionGraph, SolutionNode
from benchfill_agents.textbook.calls import Spent
from benchfill_agents.textbook.candidate import Candidate
from benchfill_services.review.textbook_case import TextbookSource, case_of
from benchfill_services.store.reviews import RedisReviews
from support.review_cases import make_case
from support.textbook_good_python import corner_block

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from benchfill_services.review.case import Case

HOSTILE = "</text></svg><script>alert(1)</script><img src=x onerror=alert(2)>"
SPAN = SourceSpan(
    file="02-numpy.md", chapter="Arrays", heading=("Slicing data",), line_start=250, line_end=262
)


def textbook_case(**changes: Any) -> Case:
    """A case as a generation opens it, measured like that of a fill."""
    made, one = make_case(), corner_block()
    arranged = arrange(one.question, "C", seed=3)
    candidate = Candidate(
        place="item-3",
        number=3,
        cell=BlueprintCell(competency="array-slicing", bloom="Apply", count=1),
        chapter="02-numpy",
        outcome="accepted",
        key="C",
        item=arranged.item("array-slicing-0123456789"),
        graph=one.graph,
        question=one.question,
        arranged=arranged,
        spans=(SPAN,),
        spent=(Spent(role="Designer", model="secret-model", calls=1),),
        target=made.target,
        calibration=made.first.calibration,
    )
    source = TextbookSource(
        job=made.job,
        benchmark="sums",
        items_sha256=made.items_sha256,
        responses_sha256=made.responses_sha256,
        prompts={"textbook_graph": "ab" * 32},
        matrix_names={},
        seed=0,
        attribution="Software Carpentry",
        licence="CC BY 4.0",
    )
    case = case_of(source, candidate.model_copy(update=changes))
    assert case is not None
    return case


async def test_graph_errors_and_source_stand_beside_the_item(visitor: Any, valkey: Redis) -> None:
    case = textbook_case()
    assert case.gap == "item-3"
    await RedisReviews(valkey).open(case)
    page = visitor("Ada").get(f"/review/c/{case.id}").text
    assert page.count('class="solution-graph"') == 1
    (svg,) = re.findall(r'<svg class="solution-graph".*?</svg>', page, re.DOTALL)
    assert svg.count("<rect") == len(corner_block().graph.nodes)
    assert "counts the row bound as a row" in page
    assert "02-numpy.md, &#34;Slicing data&#34;, lines 250-262" in page
    assert "Software Carpentry (CC BY 4.0)" in page
    assert "New item from a textbook" in page
    assert "secret-model" not in page
    assert "Its parent" not in page


async def test_hostile_texts_of_a_graph_are_text(visitor: Any, valkey: Redis) -> None:
    node = SolutionNode(id="n1", kind="given", statement=HOSTILE, value=HOSTILE)
    last = SolutionNode(id="n2", kind="inferred", statement=HOSTILE, value=HOSTILE)
    graph = SolutionGraph(
        nodes=(node, last),
        edges=(SolutionEdge(source="n1", target="n2", rule=HOSTILE),),
        answer="n2",
    )
    case = textbook_case(graph=graph, spans=(SPAN.model_copy(update={"file": HOSTILE}),))
    await RedisReviews(valkey).open(case)
    answer = visitor("Ada").get(f"/review/c/{case.id}")
    assert "<script>alert" not in answer.text
    assert "<img src=x" not in answer.text
    assert "&lt;script&gt;alert(1)" in answer.text


async def test_an_item_of_a_fill_has_no_graph(visitor: Any, valkey: Redis) -> None:
    case = make_case()
    await RedisReviews(valkey).open(case)
    page = visitor("Ada").get(f"/review/c/{case.id}").text
    assert "solution-graph" not in page
    assert "How it is solved" not in page


@pytest.mark.parametrize("changes", [{"outcome": "dropped"}, {"target": None}])
def test_only_what_was_accepted_and_measured_becomes_a_case(changes: dict[str, Any]) -> None:
    with pytest.raises(AssertionError):
        textbook_case(**changes)
