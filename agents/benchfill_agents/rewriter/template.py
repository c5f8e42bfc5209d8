"""The Rewriter of programmatic benchmarks: new slot values for the parent's template.

Which values give the wanted difficulty is learned from the measured items at hand: a Bayesian
linear regression of z on a few features of the numbers in an item, anchored at the parent. Children
are chosen by Thompson sampling (one draw of the regression a child), so that the search explores
where little is known and closes in as measured children come back as references.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchfill.errors import InputError

from ..templates import combinations, instantiate
from .child import Child, child_id

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchfill.items import Item, SlotValue, Template

    from ..memory import MemoryEntry
    from .child import RewriteTask

POOL = 400
PRIOR_SD = 0.3
NOISE_SD = 0.05
OTHER_TEMPLATE_NOISE_SD = 0.15


class TemplateRewriter:
    """A `Rewriter` that needs no model."""

    async def rewrite(self, task: RewriteTask, rng: np.random.Generator) -> tuple[Child, ...]:
        """See `Rewriter.rewrite`.

        Raises
        ------
        InputError
            The parent was not made from a template.
        """
        parent = task.parent.item
        if parent.template is None:
            raise InputError(
                f"item {parent.id!r} has no template; use the llm rewriter for such items."
            )
        items = _candidates(parent, parent.template, task, rng)
        if not items:
            return ()
        predicted = _Prediction(task).draw([features(item) for item in items], rng, task.count)
        chosen: list[int] = []
        for drawn in predicted:
            ranked = np.argsort(np.abs(drawn - task.target_z), kind="stable")
            fresh = next((int(k) for k in ranked if int(k) not in chosen), None)
            if fresh is not None:
                chosen.append(fresh)
        return tuple(_child(items[k], task, float(predicted[:, k].mean())) for k in chosen)


def features(item: Item) -> NDArray[np.float64]:
    """Describe the size of the numbers in a programmatic item, shape (6,)."""
    numbers = sorted((abs(v) for v in item.values.values() if isinstance(v, int)), reverse=True)
    largest = numbers[0] if numbers else 0
    second = numbers[1] if len(numbers) > 1 else 0
    units = sum(number % 10 for number in numbers)
    digits = sum(character.isdigit() for character in item.answer)
    return np.array(
        [
            np.log1p(largest),
            np.log1p(second),
            np.log1p(sum(numbers)),
            float(units >= 10),
            float(digits),
            np.log1p(units),
        ]
    )


class _Prediction:
    """z of a child = z of its parent + (features - parent's features) @ w, with w uncertain."""

    def __init__(self, task: RewriteTask) -> None:
        self._origin = features(task.parent.item)
        self._z = task.parent.z
        precision = np.eye(len(self._origin)) / PRIOR_SD**2
        response = np.zeros(len(self._origin))
        for entry in (*task.references_below, *task.references_above):
            if not entry.item.values:
                continue
            away = features(entry.item) - self._origin
            weight = 1 / self._noise(task, entry) ** 2
            precision += weight * np.outer(away, away)
            response += weight * away * (entry.z - self._z)
        self._covariance = np.linalg.inv(precision)
        self._mean = self._covariance @ response

    @staticmethod
    def _noise(task: RewriteTask, entry: MemoryEntry) -> float:
        ours, theirs = task.parent.item.template, entry.item.template
        alike = ours is not None and theirs is not None and ours.name == theirs.name
        own = NOISE_SD if alike else OTHER_TEMPLATE_NOISE_SD
        return float(np.hypot(own, entry.sd))

    def draw(
        self, described: list[NDArray[np.float64]], rng: np.random.Generator, count: int
    ) -> NDArray[np.float64]:
        """Draw predicted z of all candidates, shape (count, candidates)."""
        away = np.array(described) - self._origin
        weights = rng.multivariate_normal(self._mean, self._covariance, size=count)
        return np.asarray(self._z + weights @ away.T)


def _candidates(
    parent: Item, template: Template, task: RewriteTask, rng: np.random.Generator
) -> list[Item]:
    known = {entry.item.question for entry in (*task.references_below, *task.references_above)}
    known |= {parent.question} | {rejection.question for rejection in task.rejected}
    items = []
    for values in combinations(template, rng, POOL):
        item = _named(parent, template, values)
        if item.question not in known:
            items.append(item)
    return items


def _named(parent: Item, template: Template, values: dict[str, SlotValue]) -> Item:
    draft = instantiate(template, values, "draft")
    return draft.model_copy(update={"id": child_id(parent.id, draft.question, draft.answer)})


def _child(item: Item, task: RewriteTask, predicted: float) -> Child:
    parent = task.parent.item
    changed = ", ".join(
        f"{name} {parent.values.get(name)} → {value}"
        for name, value in item.values.items()
        if parent.values.get(name) != value
    )
    return Child(
        item=item,
        parent_id=parent.id,
        target_z=task.target_z,
        rewriter="template",
        what_changed=changed,
        rationale=f"predicted z {predicted:.2f} from measured items of like numbers",
    )
