"""BenchFill as a service: command line, embedded Redis, reports."""
