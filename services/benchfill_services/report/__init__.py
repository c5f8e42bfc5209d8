"""The report of a diagnosis or a fill, as a folder that needs no network."""

import logging

# Matplotlib tells about its font cache on stderr, which is no news to whoever wants a report.
logging.getLogger("matplotlib").setLevel(logging.ERROR)
