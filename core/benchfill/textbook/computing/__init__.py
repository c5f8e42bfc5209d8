"""Re-computation of what a solution graph claims, by SymPy in a process with limits.

Texts come from a model. `grammar` reads them into a tree of few kinds of nodes, `evaluating` walks
that tree; nothing is ever handed to Python's or SymPy's own evaluators. `process` holds the limits
of time and memory for what is allowed and yet too much.
"""
