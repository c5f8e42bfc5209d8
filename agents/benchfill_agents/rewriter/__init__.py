"""The Rewriter: from a parent item to children that aim at a target difficulty."""

from .child import Child, Rejection, Rewriter, RewriteTask, Shortfall

__all__ = ["Child", "Rejection", "RewriteTask", "Rewriter", "Shortfall"]
