"""`python -m benchfill_services` is `benchfill`."""

from .cli import main

main()
