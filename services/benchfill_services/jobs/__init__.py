"""Fills and diagnoses as jobs: records in Redis, carried out by any number of workers."""
