"""Items from a textbook: Designer, Verifier and a third model that solves blind.

Each call is kept in the ledger of paid calls and each turn in the record of the job. What the
models say is data: the checks of `benchfill.textbook` decide what is kept.
"""
