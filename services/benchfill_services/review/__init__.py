"""Experts decide: cases, blind verdicts, the audit trail, and what becomes of approved items."""
