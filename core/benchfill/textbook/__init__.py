"""Items from a textbook: sources, knowledge, blueprint, solution graphs, questions, their checks.

Nothing here asks a model or the network. Every text is untrusted: it is data that is read, compared
and computed with by a restricted grammar, never run.
"""
