"""A suite of benchmarks: how many directions it measures, which benchmarks to keep, what is blind.

Paper arXiv 2606.05169, with its definitions mended where they are wrong: docs/suite.
"""
