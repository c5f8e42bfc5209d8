"""Readers of result files."""

from .delimited import read_responses

__all__ = ["read_responses"]
