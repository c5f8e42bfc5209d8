"""Which model before is which after, and whose responses may place the items.

A difficulty that was estimated from the responses *before* alone makes a test of the same
responses wrong: an item that the model failed by bad luck looks hard, and among hard items it then
seems to gain. (Simulated without any gain, 120 items, one rollout, hard third at level .05: called
a gain in 66% with 3 models, 35% with 6, 12% with 12.) Responses before and after are therefore
pooled, or those of the model under test left out: either leaves the null distribution as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import InputError
from ..responses import ResponseMatrix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class ModelPair(NamedTuple):
    """A model's name before, and its name after."""

    before: str
    after: str


def match_models(before: ResponseMatrix, after: ResponseMatrix) -> tuple[ModelPair, ...]:
    """Pair the models by name; one model in each file is a pair whatever the names.

    Raises
    ------
    InputError
        No model stands in both.
    """
    if len(before.models) == len(after.models) == 1:
        return (ModelPair(before.models[0], after.models[0]),)
    known = set(after.models)
    pairs = tuple(ModelPair(name, name) for name in before.models if name in known)
    if not pairs:
        raise InputError(
            f"no model name stands both before (such as {before.models[0]!r}) and after (such as "
            f"{after.models[0]!r}); models are matched by name, unless each file has just one."
        )
    return pairs


def pooled_responses(before: ResponseMatrix, after: ResponseMatrix) -> ResponseMatrix:
    """Return the matrix to fit where no other responses place the items.

    Items in both; models of both, in which a model that stands in both has all its rollouts: who
    swaps before and after changes nothing in it, so that tests on these difficulties stay valid.

    Raises
    ------
    InputError
        There is only one model, or no item or model in both.
    """
    pairs = match_models(before, after)
    names = list(dict.fromkeys([*before.models, *after.models]))
    if len(names) == 1 or len(before.models) == len(after.models) == 1:
        raise InputError(
            "with one model before and after nothing says how hard the items are; give the "
            "responses of other models to the same items with --difficulties."
        )
    items = common_items(before, after)
    shape = (len(names), len(items))
    correct, n = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for matrix in (before, after):
        columns = positions(matrix.items, items)
        rows = [names.index(name) for name in matrix.models]
        correct[rows] += matrix.correct[:, columns]
        n[rows] += matrix.n[:, columns]
    # models without a rollout on these items say nothing about them
    kept = np.flatnonzero(n.any(1))
    if not {names[j] for j in kept} & {pair.before for pair in pairs}:
        raise InputError("no model answered an item both before and after.")
    return ResponseMatrix(tuple(names[j] for j in kept), items, correct[kept], n[kept])


def placing_models(
    difficulties: ResponseMatrix, pairs: Sequence[ModelPair]
) -> tuple[ResponseMatrix, tuple[str, ...]]:
    """Return the responses that may place the items, and the models left out of them.

    A model under test is left out, unless both its states stand there under names of their own:
    then the two count alike.

    Raises
    ------
    InputError
        No other model is left.
    """
    known = set(difficulties.models)
    left_out = {
        name
        for pair in pairs
        for name in pair
        if name in known and (pair.before == pair.after or not known.issuperset(pair))
    }
    kept = [j for j, name in enumerate(difficulties.models) if name not in left_out]
    if not kept:
        raise InputError(
            "--difficulties holds no model but those under test, whose own luck would decide which "
            "items count as hard; add responses of other models."
        )
    if not left_out:
        return difficulties, ()
    return difficulties.select(models=kept), tuple(sorted(left_out))


def common_items(before: ResponseMatrix, after: ResponseMatrix) -> tuple[str, ...]:
    """Return the items of both, in the order of the first.

    Raises
    ------
    InputError
        There is none.
    """
    known = set(after.items)
    items = tuple(item for item in before.items if item in known)
    if not items:
        raise InputError(
            f"no item stands both before (such as {before.items[0]!r}) and after (such as "
            f"{after.items[0]!r}); items are matched by id."
        )
    return items


def positions(ids: Sequence[str], wanted: Sequence[str]) -> NDArray[np.int64]:
    """Return where the wanted ids stand among all, shape (len(wanted),)."""
    place = {one: at for at, one in enumerate(ids)}
    return np.array([place[one] for one in wanted], dtype=np.int64)
