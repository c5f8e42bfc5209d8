"""Import of result files that others' tools wrote.

`import_results` is the door; ``interface.py`` says what a format is, ``formats/`` holds ours, one
module each.
"""

from .assemble import Imported
from .options import ImportOptions
from .run import import_results

__all__ = ["ImportOptions", "Imported", "import_results"]
