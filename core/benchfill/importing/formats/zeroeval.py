"""ZeroEval: answers without scores; recognised, to say what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import override

from ..interface import ItemText, Reading, Recognised, Response, ResultFormat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..source import InputFile

_WHY = (
    "is a ZeroEval output, which stores answers but no score; grade it with ZeroEval's own script "
    "and give a table with the columns model, item, correct."
)


class ZeroEval(ResultFormat):
    """Outputs of ZeroEval, which cannot be imported."""

    name = "zeroeval"
    example = "benchfill import result_dirs/gsm"
    title = "ZeroEval outputs (refused: they hold no score)"
    recognised_by = "a JSON list with `session_id` or `id`, `generator`, `output`"

    def recognise(self, file: InputFile) -> Recognised | None:
        """Know it by its keys."""
        keys = set(file.first) if file.is_list else set()
        known = {"generator", "output"} <= keys and keys & {"session_id", "id"}
        return Recognised(_WHY, "no scores") if known else None

    @override
    def read(self, file: InputFile, reading: Reading) -> Iterator[Response | ItemText]:
        """Refuse it."""
        raise file.error(_WHY)


FORMATS = (ZeroEval(),)
