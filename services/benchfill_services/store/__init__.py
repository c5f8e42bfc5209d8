"""Redis: the embedded server, and the memory, ledger and job records kept in it."""
