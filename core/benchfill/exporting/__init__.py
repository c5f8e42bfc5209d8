"""Export of items as tasks that other harnesses run.

`export_items` is the door; ``interface.py`` says what a format is, ``formats/`` holds ours, one
module each.
"""

from .benchmark import Benchmark, slug
from .registry import all_exports
from .run import check_items, export_items

__all__ = ["Benchmark", "all_exports", "check_items", "export_items", "slug"]
