"""BenchFill's agents, their team, the model pool and the memory's interface."""

import os

# litellm fetches its price list from the network at import unless told to use the packaged one.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
