"""The export formats, one module each; every module offers its instance as ``FORMAT``."""
