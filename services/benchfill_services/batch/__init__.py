"""Many fills at once: one file of jobs, shared limits and budget, in this process or by workers."""
