"""The page at /review: experts read how an item came about, question the agents, and decide."""
