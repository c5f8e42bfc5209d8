"""The prompts, one template a file, and their loader."""
