"""The names of everything BenchFill keeps in Redis, so that the layout can be read in one place.

================================  ==============================================================
``benchfill:schema``              string: version of this layout
``benchfill:memory:order:B``      sorted set: ids of benchmark B's items by z
``benchfill:memory:entries:B``    hash: item id -> memory entry (JSON)
``benchfill:rollouts``            hash: digest of the rollout's key -> rollout (JSON)
``benchfill:steps:results:J``     hash: key of job J's step -> its result (JSON)
``benchfill:steps:order:J``       list: keys of job J's steps, oldest first
``benchfill:transcript:log:J:G``  stream: messages (JSON) of job J's gap G
``benchfill:transcript:ids:J:G``  hash: message key -> id in the stream
================================  ==============================================================
"""

from __future__ import annotations

SCHEMA_VERSION = 1
SCHEMA = "benchfill:schema"
ROLLOUTS = "benchfill:rollouts"


def memory_order(benchmark: str) -> str:
    """Sorted set of a benchmark's item ids."""
    return _key("memory:order", benchmark)


def memory_entries(benchmark: str) -> str:
    """Hash of a benchmark's memory entries."""
    return _key("memory:entries", benchmark)


def step_results(job: str) -> str:
    """Hash of a job's step results."""
    return _key("steps:results", job)


def step_order(job: str) -> str:
    """List of a job's step keys."""
    return _key("steps:order", job)


def transcript_log(job: str, gap: str) -> str:
    """Stream of a gap's messages."""
    return _key("transcript:log", job, gap)


def transcript_ids(job: str, gap: str) -> str:
    """Hash of a gap's message keys."""
    return _key("transcript:ids", job, gap)


def _key(kind: str, *names: str) -> str:
    # Names come from users: an unescaped colon would let (a:b, c) and (a, b:c) share a key.
    escaped = (name.replace("%", "%25").replace(":", "%3A") for name in names)
    return ":".join(("benchfill", kind, *escaped))
