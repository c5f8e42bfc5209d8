"""The errors that BenchFill raises on purpose.

::

    BenchFillError            exit code
    +-- InputError            2   a file, field, item or option cannot be used
    +-- FitError              2   the data cannot carry the fit that was asked for
    +-- ProviderError         3   a model could not be reached or refused for good
    +-- BudgetExhaustedError  3   the given budget is spent; everything is kept
    +-- InterruptedRunError   130 the run was interrupted and can be resumed

Each message is one sentence that names the file, line, field or item and says what to do.
"""

from __future__ import annotations


class BenchFillError(Exception):
    """Root of all errors raised on purpose.

    Parameters
    ----------
    message
        One sentence for the user.
    """

    exit_code = 1

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class InputError(BenchFillError):
    """Something that the user gave cannot be used.

    Parameters
    ----------
    message
        What is wrong and what to do, without the place.
    source
        File (or option) at fault; put in front of the message.
    line
        1-based line of the file.
    field
        Column, key path or cell at fault.
    """

    exit_code = 2

    def __init__(
        self,
        message: str,
        *,
        source: str | None = None,
        line: int | None = None,
        field: str | None = None,
    ) -> None:
        self.source, self.line, self.field = source, line, field
        place = [str(source)] if source else []
        if line is not None:
            place.append(f"line {line}")
        if field is not None:
            place.append(field)
        super().__init__(f"{', '.join(place)}: {message}" if place else message)


class FitError(BenchFillError):
    """The responses cannot carry the fit that was asked for."""

    exit_code = 2


class ProviderError(BenchFillError):
    """A model could not be reached, or refused for good.

    Parameters
    ----------
    message
        One sentence for the user.
    model
        Name of the model in the pool.
    retryable
        Whether the same call may succeed later.
    """

    exit_code = 3

    def __init__(self, message: str, *, model: str, retryable: bool = False) -> None:
        super().__init__(message)
        self.model, self.retryable = model, retryable


class BudgetExhaustedError(BenchFillError):
    """The given budget is spent; everything measured so far is kept."""

    exit_code = 3


class InterruptedRunError(BenchFillError):
    """The run was interrupted; the same command resumes it."""

    exit_code = 130
