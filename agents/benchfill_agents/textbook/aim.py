"""Aiming at gaps: accepted items are measured on the pool, and cells that land near go on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict

from ..calibrator import Calibration, Measurement
from ..memory import MemoryEntry
from ..target import FillTarget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchfill.items import Item
    from benchfill.textbook.blueprint import BlueprintCell

    from ..calibrator import Calibrator
    from ..memory import Memory
    from ..steps import StepRecord

GapStatus = Literal["filled", "open", "resolution_limited"]


class GapResult(BaseModel):
    """A gap that was aimed at, and what fills it."""

    model_config = ConfigDict(frozen=True)

    target: FillTarget
    status: GapStatus
    item: str | None = None
    calibration: Calibration | None = None


class Aim:
    """The gaps of a benchmark, and the calibrator that says which item lies in which."""

    def __init__(
        self, calibrator: Calibrator, targets: Sequence[FillTarget], memory: Memory
    ) -> None:
        self._calibrator, self._memory = calibrator, memory
        self.targets = tuple(targets)
        least = calibrator.plan.min_p_in_gap
        self._hopeless = {one.id for one in targets if calibrator.best_p_in_gap(one) < least}
        self._filled: dict[str, Calibration] = {}
        self._places: dict[tuple[str, str, str], list[float]] = {}

    @property
    def rollouts(self) -> int:
        """Rollouts used so far."""
        return self._calibrator.allowance.used

    @property
    def current(self) -> FillTarget | None:
        """The gap that is aimed at now; None when none is left."""
        return next((one for one in self.targets if self._is_open(one)), None)

    def _is_open(self, target: FillTarget) -> bool:
        return target.id not in self._hopeless and target.id not in self._filled

    async def measure(
        self, item: Item, cell: BlueprintCell, place: str, steps: StepRecord
    ) -> tuple[FillTarget, Calibration]:
        """Measure an item for the gap aimed at, and give it to the memory; a recorded step.

        Returned is the gap that it fills, else the one that was aimed at, with the measurement as
        that gap sees it.

        Raises
        ------
        BudgetExhaustedError, ProviderError
            See `Calibrator.calibrate`.
        """
        aimed = self.current
        if aimed is None:
            raise RuntimeError("there is no gap to measure for")
        key = f"{place}/calibrate"
        recorded = await steps.get(key)
        if recorded is None:
            before = self._calibrator.allowance.used
            (measured,) = await self._calibrator.calibrate([item], aimed)
            used = self._calibrator.allowance.used - before
            await steps.put(
                key, {"calibration": measured.model_dump(mode="json"), "rollouts": used}
            )
        else:
            measured = Calibration.model_validate(recorded["calibration"])
            self._calibrator.allowance.used += recorded["rollouts"]
        await self._memory.add(
            MemoryEntry(item=item, z=measured.z_mean, sd=measured.sd, kind="child")
        )
        self._places.setdefault(cell.key, []).append(measured.z)
        return self._settle(aimed, measured)

    def _settle(self, aimed: FillTarget, measured: Calibration) -> tuple[FillTarget, Calibration]:
        """Return the open gap that the item fills, with the measurement as it sees it."""
        bench = self._calibrator.bench
        others = [one for one in self.targets if self._is_open(one) and one.id != aimed.id]
        views = [(aimed, measured)] + [
            (one, Measurement.of(measured, bench).calibration(bench, one, "accepted"))
            for one in others
        ]
        best, view = max(views, key=lambda pair: pair[1].p_in_gap)
        if view.p_in_gap >= self._calibrator.plan.min_p_in_gap:
            self._filled[best.id] = view
            return best, view
        return aimed, measured

    def next_cell(self, cells: Sequence[BlueprintCell], tried: set[tuple[str, str, str]]) -> int:
        """Return the place of the cell to write for: each once, then the one that lands nearest."""
        for place, cell in enumerate(cells):
            if cell.key not in tried:
                return place
        aimed = self.current
        if aimed is None:
            return 0

        def distance(place: int) -> tuple[float, int, int]:
            found = self._places.get(cells[place].key, [])
            far = min((abs(z - aimed.z) for z in found), default=float("inf"))
            return far, len(found), place

        return min(range(len(cells)), key=distance)

    def results(self) -> tuple[GapResult, ...]:
        """Return what became of each gap."""
        return tuple(self._result(one) for one in self.targets)

    def _result(self, target: FillTarget) -> GapResult:
        found = self._filled.get(target.id)
        if found is not None:
            return GapResult(target=target, status="filled", item=found.item, calibration=found)
        hopeless = target.id in self._hopeless
        return GapResult(target=target, status="resolution_limited" if hopeless else "open")
