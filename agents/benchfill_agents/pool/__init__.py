"""The model pool: who answers items, how they are asked, and what an answer cost."""
