"""PDF by docling, for pages whose layout defeats pypdf: columns, tables, formulas, scans."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ...errors import InputError
from .block import Block, Parsed, Place

if TYPE_CHECKING:
    from pathlib import Path

    from ..chapter import Why
    from .block import Kind

_KINDS: dict[str, Kind] = {"code": "code", "table": "table"}
_LEFT_OUT: dict[str, Why] = {
    "page_header": "page header",
    "page_footer": "page header",
    "document_index": "table of contents",
    "reference": "references",
}
_HUB_ERRORS = {"LocalEntryNotFoundError", "OfflineModeIsEnabled", "HfHubHTTPError"}
_NO_TEXT = {"picture", "chart", "form", "checkbox_selected", "checkbox_unselected"}


def read_with_docling(path: Path) -> Parsed:
    """Return the blocks of a PDF as docling's models see them.

    Raises
    ------
    InputError
        docling is not installed, or cannot convert the file.
    """
    if find_spec("docling") is None:
        raise InputError(
            "was to be read with docling, which is not installed; pip install "
            "'benchfill[docling]', or leave the option out.",
            source=str(path),
        )
    try:
        from docling.document_converter import DocumentConverter  # noqa: PLC0415 - an extra

        document = DocumentConverter().convert(path).document
    except ImportError as error:
        raise InputError(
            f"was to be read with docling, which is installed but cannot be loaded ({error}); "
            "install it anew, or leave the option out.",
            source=str(path),
        ) from None
    except Exception as error:  # docling's errors have no common root but this
        if _no_weights(error):
            raise InputError(
                "was to be read with docling, whose models are not on this machine and could not "
                "be fetched; run `docling-tools models download` where there is a network, or "
                "leave the option out.",
                source=str(path),
            ) from None
        raise InputError(
            f"could not be converted by docling ({type(error).__name__}).", source=str(path)
        ) from None
    return Parsed(document_blocks(document))


def _no_weights(error: BaseException | None) -> bool:
    """Whether an error comes of weights that the Hugging Face hub did not give."""
    while error is not None:
        if type(error).__name__ in _HUB_ERRORS:
            return True
        error = error.__cause__ or error.__context__
    return False


def document_blocks(document: Any) -> list[Block]:
    """Return the blocks of a ``DoclingDocument`` in reading order."""
    blocks: list[Block] = []
    for item, _ in document.iterate_items():
        label = str(getattr(item.label, "value", item.label))
        provenance = getattr(item, "prov", None) or []
        place = Place(page=provenance[0].page_no if provenance else None)
        if label in _NO_TEXT:
            continue
        if label == "table":
            text = item.export_to_markdown(document)
        else:
            text = getattr(item, "text", "") or ""
        if not text.strip():
            continue
        if label in {"title", "section_header"}:
            level = 1 if label == "title" else 1 + int(getattr(item, "level", 1))
            blocks.append(Block("heading", text.strip(), place, level))
        else:
            kind = _KINDS.get(label, "text")
            blocks.append(Block(kind, text.strip(), place, why=_LEFT_OUT.get(label)))
    return blocks
