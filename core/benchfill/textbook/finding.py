"""What a check found."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .frozen import Frozen

GraphFault = Literal[
    "duplicate_node",
    "unknown_node",
    "cycle",
    "sinks",
    "answer_not_sink",
    "orphan",
    "no_source",
    "given_has_source",
    "unknown_rule",
    "unknown_concept",
    "too_few_steps",
    "no_fan_in",
    "too_few_concepts",
    "no_expression",
    "bad_expression",
    "undefined_symbol",
    "unused_input",
    "wrong_value",
    "not_computable",
]
QuestionFault = Literal[
    "answer_not_derived",
    "same_options",
    "several_right",
    "none_right",
    "key_mismatch",
    "e_right",
    "bad_shuffle",
    "error_unknown",
    "error_not_distinct",
    "distractor_not_computed",
    "source_reference",
    "undefined_symbol",
    "given_not_stated",
    "answer_in_stem",
    "format",
]


class Finding(Frozen):
    """One fault, in words that the designer can act on."""

    code: GraphFault | QuestionFault
    where: str = Field(description="node, edge, option or part of the question at fault")
    message: str = Field(description="one sentence: what is wrong and what would mend it")
