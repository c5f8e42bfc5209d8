"""A benchmark made larger, round by round: diagnose, fill, review, merge, and again."""
