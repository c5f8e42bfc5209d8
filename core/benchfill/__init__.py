"""BenchFill: a benchmark as an empirical measure over difficulty."""
