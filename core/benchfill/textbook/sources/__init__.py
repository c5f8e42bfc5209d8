"""Chapters out of Markdown, plain text, HTML and PDF files: what is used, left out, and where."""
