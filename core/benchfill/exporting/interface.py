"""What an export format is: it makes files of items."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from .benchmark import Benchmark


class ExportFormat(ABC):
    """A format of tasks.

    Subclass it, and offer an instance under the entry-point group ``benchfill.exports``. Items are
    untrusted: their text belongs into data files, never into generated programs or YAML.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    writes: ClassVar[str]
    """The files, in Markdown."""
    run: ClassVar[str]
    """The command that runs what is written, in its folder; {name} is the benchmark's name."""
    by_part: ClassVar[bool] = False
    """Whether multiple-choice items and others become two tasks."""
    letters: ClassVar[bool] = False
    """Whether an answer is a letter, so that there are at most 26 choices."""
    multiple_choice_only: ClassVar[bool] = False
    scores: ClassVar[bool] = True
    """Whether it is a task, which needs an answer for every item, or data alone."""

    @abstractmethod
    def files(self, benchmark: Benchmark) -> dict[str, bytes]:
        """Return the files by their paths in the folder, with slashes. Items were checked."""

    def commands(self, benchmark: Benchmark) -> list[str]:
        """Return the commands that run what is written, in its folder."""
        parts = [part.name for part in benchmark.parts()] if self.by_part else [benchmark.name]
        return [self.run.replace("{name}", name) for name in parts] if self.run else []
