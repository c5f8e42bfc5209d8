"""`benchfill generate`: items from a textbook, as a job of this process."""
