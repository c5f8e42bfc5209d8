"""The report of a diagnosis or a fill, as a folder that needs no network."""
