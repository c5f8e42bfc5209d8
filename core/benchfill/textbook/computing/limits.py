"""What the computing process may use."""

from __future__ import annotations

CPU_SECONDS = 8
"""For one request; SymPy's import takes half a second of the first."""
WALL_SECONDS = 15 * CPU_SECONDS
"""For machines on which others work too."""
MEMORY = 2 << 30
"""Bytes of address space."""
