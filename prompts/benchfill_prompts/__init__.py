"""The prompts, one template a file, and their loader."""

from ._loader import Prompt, PromptError, load
from ._untrusted import quote_untrusted

__all__ = ["Prompt", "PromptError", "load", "quote_untrusted"]
