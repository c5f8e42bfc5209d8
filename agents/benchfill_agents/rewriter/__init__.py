"""The Rewriter: from a parent item to children that aim at a target difficulty."""

from .child import Child, Rejection, RevisionTask, Rewriter, RewriteTask, Shortfall

__all__ = ["Child", "Rejection", "RevisionTask", "RewriteTask", "Rewriter", "Shortfall"]
