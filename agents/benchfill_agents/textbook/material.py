"""What each stage is sent: its rules, and the material behind fences."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from benchfill_prompts import load, quote_untrusted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pydantic import BaseModel

    from benchfill.textbook.blueprint import BlueprintCell
    from benchfill.textbook.chapter import Chapter, Passage
    from benchfill.textbook.knowledge import Knowledge
    from benchfill.textbook.question import ArrangedQuestion, Question
    from benchfill.textbook.solution_graph import SolutionGraph
    from benchfill.textbook.taxonomy import Competency

RepairStage = Literal["self_contained", "integrity", "concise", "source_references", "sound"]
REPAIRS: tuple[RepairStage, ...] = (
    "self_contained",
    "integrity",
    "concise",
    "source_references",
    "sound",
)
PROMPTS = (
    "textbook_again",
    "textbook_final_check",
    "textbook_graph",
    "textbook_knowledge",
    "textbook_mend",
    "textbook_question",
    *(f"textbook_repair_{stage}" for stage in REPAIRS),
    "textbook_solve",
    "textbook_taxonomy",
    "textbook_trace_review",
)
"""Names of the templates that items of a textbook come from."""

_MOST_CHARACTERS = 60_000  # of a chapter's text in one prompt
_MOST_SUMMARIES = 80
_NONE = "(none)"


@dataclass(frozen=True)
class Ask:
    """A stage's rules, and what is to be worked on."""

    rules: str
    material: str


@dataclass(frozen=True)
class ItemTask:
    """What one item shall be, and what it is made of."""

    cell: BlueprintCell
    competency: Competency
    chapter: Chapter
    knowledge: Knowledge
    summaries: tuple[str, ...] = ()
    """Of the items that exist, newest last."""
    failures: tuple[str, ...] = ()
    """Why the latest candidates for this cell were dropped."""


def ask_knowledge(chapter: Chapter) -> Ask:
    """Ask what a chapter teaches."""
    return _ask("knowledge", ("Chapter", chapter.title), ("Passages", _passages(chapter.passages)))


def ask_taxonomy(chapters: Sequence[Chapter], knowledge: Sequence[Knowledge]) -> Ask:
    """Ask for areas and competencies."""
    parts = [
        (f"Chapter {number}", f"id: {chapter.id}\ntitle: {chapter.title}\n{_known(known)}")
        for number, (chapter, known) in enumerate(zip(chapters, knowledge, strict=True), start=1)
    ]
    return _ask("taxonomy", *parts)


def ask_graph(task: ItemTask) -> Ask:
    """Ask for a solution graph."""
    return _ask(
        "graph",
        ("What is asked for", _wanted(task)),
        ("Knowledge of the chapter", _known(task.knowledge)),
        ("Passages of the chapter", _passages(_relevant(task))),
        ("Items that exist", _list(task.summaries[-_MOST_SUMMARIES:])),
        ("Why earlier candidates for this were dropped", _list(task.failures)),
    )


def ask_question(task: ItemTask, graph: SolutionGraph) -> Ask:
    """Ask for the question to a graph."""
    return _ask(
        "question",
        ("What is asked for", _wanted(task)),
        ("Solution graph", _json(graph)),
        ("Knowledge of the chapter", _known(task.knowledge)),
        ("Items that exist", _list(task.summaries[-_MOST_SUMMARIES:])),
    )


def ask_repair(
    stage: RepairStage,
    task: ItemTask,
    graph: SolutionGraph,
    question: Question,
    found: Sequence[str],
) -> Ask:
    """Ask for one of the five repairs; `found` is what checks or the Verifier found."""
    return _ask(
        f"repair_{stage}",
        ("Question", _json(question)),
        ("Solution graph", _json(graph)),
        ("Knowledge of the chapter", _known(task.knowledge)),
        ("What was found", _list(found)),
    )


def ask_trace_review(task: ItemTask, graph: SolutionGraph, question: Question) -> Ask:
    """Ask the Verifier to follow the graph."""
    return _ask(
        "trace_review",
        ("Solution graph", _json(graph)),
        ("Question", _json(question)),
        ("Knowledge of the chapter", _known(task.knowledge)),
    )


def ask_final_check(
    task: ItemTask, graph: SolutionGraph, question: Question, arranged: ArrangedQuestion
) -> Ask:
    """Ask the Verifier for the last word; it sees key, trace and solution."""
    errors = [f"{one.text}: {one.error.name} at {one.error.node}" for one in question.distractors]
    return _ask(
        "final_check",
        ("What was asked for", _wanted(task)),
        ("Item", arranged.text),
        ("Key", f"{arranged.key}. {arranged.right_option}\nAnswer of the solution graph: "
         f"{question.answer}"),
        ("Solution graph", _json(graph)),
        ("Errors behind the wrong options (one of them may have been left out)", _list(errors)),
        ("Knowledge of the chapter", _known(task.knowledge)),
    )  # fmt: skip


def ask_solve(arranged: ArrangedQuestion) -> Ask:
    """Ask for a blind solution: stem and options, and nothing else."""
    return Ask(load("textbook_solve").render(), quote_untrusted(arranged.text))


def ask_mend(
    task: ItemTask,
    graph: SolutionGraph,
    question: Question,
    arranged: ArrangedQuestion,
    diagnosis: Sequence[str],
) -> Ask:
    """Ask the Designer to mend what a diagnosis names."""
    return _ask(
        "mend",
        ("What is asked for", _wanted(task)),
        ("Diagnosis", _list(diagnosis)),
        ("Item as it was shown", f"{arranged.text}\n\nKey: {arranged.key}"),
        ("Solution graph", _json(graph)),
        ("Question", _json(question)),
        ("Knowledge of the chapter", _known(task.knowledge)),
        ("Passages of the chapter", _passages(_relevant(task))),
    )


def _ask(stage: str, *parts: tuple[str, str]) -> Ask:
    shown = [f"{title}\n{quote_untrusted(text)}" for title, text in parts]
    return Ask(load(f"textbook_{stage}").render(), "\n\n".join(shown))


def _wanted(task: ItemTask) -> str:
    cell, competency = task.cell, task.competency
    return (
        f"Competency: {competency.name}: {competency.description}\n"
        f"Bloom level: {cell.bloom}\nDifficulty: {cell.difficulty}"
    )


def _relevant(task: ItemTask) -> tuple[Passage, ...]:
    """Return the passages that the competency's knowledge cites, or all when it names none."""
    wanted = set(task.competency.knowledge)
    cited = {
        passage for node in task.knowledge.nodes if node.id in wanted for passage in node.passages
    }
    passages = task.chapter.passages
    return tuple(one for one in passages if one.id in cited) or passages


def _passages(passages: Iterable[Passage]) -> str:
    lines: list[str] = []
    room = _MOST_CHARACTERS
    for one in passages:
        text = f"[{one.id}] {one.text}"
        if len(text) > room:
            lines.append("(the rest is left out)")
            break
        room -= len(text)
        lines.append(text)
    return "\n\n".join(lines)


def _known(knowledge: Knowledge) -> str:
    return "\n".join(
        f"{node.id} ({node.kind}): {node.statement}"
        + (f" Requires {', '.join(node.requires)}." if node.requires else "")
        for node in knowledge.nodes
    )


def _json(model: BaseModel) -> str:
    content: Any = model.model_dump(mode="json")
    return json.dumps(content, ensure_ascii=False, indent=1)


def _list(lines: Sequence[str]) -> str:
    return "\n".join(f"- {one}" for one in lines) or _NONE
