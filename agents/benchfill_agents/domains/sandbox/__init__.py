"""Running Python that nobody has read: no network, no files of ours, little time and memory."""

from .bubblewrap import NoSandboxError, require_sandbox
from .limits import Limits
from .run import Outcome, run_python

__all__ = ["Limits", "NoSandboxError", "Outcome", "require_sandbox", "run_python"]
