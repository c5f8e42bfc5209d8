"""The names of everything BenchFill keeps in Redis, so that the layout can be read in one place.

================================  ==============================================================
``benchfill:schema``              string: version of this layout
``benchfill:schema:lock``         string that expires: somebody migrates older data
``benchfill:memory:order:B``      sorted set: ids of benchmark B's items by z
``benchfill:memory:entries:B``    hash: item id -> memory entry (JSON)
``benchfill:rollouts``            hash: digest of the rollout's key -> rollout (JSON)
``benchfill:rollout:claim:D``     string that expires: who is asking for the rollout of digest D
``benchfill:steps:results:J``     hash: key of job J's step -> its result (JSON)
``benchfill:steps:order:J``       list: keys of job J's steps, oldest first
``benchfill:transcript:log:J:G``  stream: messages (JSON) of job J's gap G
``benchfill:transcript:ids:J:G``  hash: message key -> id in the stream
``benchfill:jobs:sequence``       string: number of the last job
``benchfill:jobs:all``            sorted set: ids of all jobs by number
``benchfill:jobs:benchmark:B``    sorted set: ids of benchmark B's jobs by number
``benchfill:jobs:status:S``       sorted set: ids of the jobs in status S by number
``benchfill:jobs:idempotency``    hash: API key and Idempotency-Key -> job id
``benchfill:job:J``               hash: the record of job J, one field each
``benchfill:job:result:J``        string: its report (JSON)
``benchfill:job:events:J``        stream: what happened to it
``benchfill:job:lease:J``         string that expires: token of the worker that has it
``benchfill:job:fence:J``         string: the highest token given out
``benchfill:job:lost:J``          set: digests of calls that were out at a kill
``benchfill:job:spent:J``         hash: gap -> US dollars that job J had spent when it began
``benchfill:job:swept:J``         string that expires: the job was put back into the queue
``benchfill:usage:job:J``         hash: what job J took, see ``usage``
``benchfill:usage:day:K:D``       hash: what the jobs of API key K took on day D (UTC)
``benchfill:benchmarks:sequence`` string: number of the last benchmark
``benchfill:benchmarks:all``      sorted set: ids of all benchmarks by number
``benchfill:benchmark:B``         hash: version -> its record (JSON)
``benchfill:benchmark:last:B``    string: the highest version ever given out
``benchfill:content:S``           string: a file of SHA-256 S (zlib, base64)
``benchfill:content:users:S``     set: versions (B:n) that hold it
``benchfill:api_keys``            hash: id of an API key -> what is known of it (JSON)
``benchfill:api_keys:used``       hash: id -> time of its last use, to the minute
``benchfill:api_keys:revoked``    hash: id -> time from which it opens nothing
``benchfill:limits:*``            requests of the last minute, see the library `limits`
``benchfill:promised:K:D``        hash: what day D's fills of API key K may use
``benchfill:jobs:bodies``         hash: as jobs:idempotency -> SHA-256 of the request
``benchfill:diagnoses``           hash: content and engine -> id of the job that diagnoses it
``benchfill:review:case:C``       string: candidate C as it came under review (JSON)
``benchfill:review:log:C``        list: its audit trail (JSON), only ever added to
``benchfill:review:thread:C``     stream: messages (JSON) after the fill
``benchfill:review:thread:ids:C`` hash: message key -> id in the stream
``benchfill:review:opened:C``     hash: reviewer and revision -> time of the first look
``benchfill:review:sequence``     string: number of the last case
``benchfill:review:all``          sorted set: ids of all cases by number
``benchfill:review:queue:S``      sorted set: cases that are open, in disagreement, or decided
``benchfill:review:done:R``       sorted set: cases on which reviewer R has no verdict to give
``benchfill:review:benchmark:B``  sorted set: cases of benchmark B
``benchfill:review:gap:J:G``      sorted set: cases of gap G of job J
``benchfill:review:pseudonyms``   hash: id of a reviewer -> number that stands for it in results
``benchfill:review:session:T``    string that expires: API key of the session of token hash T (JSON)
``benchfill:workers``             sorted set: worker -> unix time of its last sign of life
================================  ==============================================================
"""

from __future__ import annotations

SCHEMA_VERSION = 1
SCHEMA = "benchfill:schema"
SCHEMA_LOCK = "benchfill:schema:lock"
ROLLOUTS = "benchfill:rollouts"
JOB_SEQUENCE = "benchfill:jobs:sequence"
JOBS = "benchfill:jobs:all"
IDEMPOTENCY = "benchfill:jobs:idempotency"
BENCHMARK_SEQUENCE = "benchfill:benchmarks:sequence"
BENCHMARKS = "benchfill:benchmarks:all"
API_KEYS = "benchfill:api_keys"
API_KEYS_USED = "benchfill:api_keys:used"
API_KEYS_REVOKED = "benchfill:api_keys:revoked"
LIMITS_PREFIX = "benchfill:limits"
IDEMPOTENT_BODIES = "benchfill:jobs:bodies"
DIAGNOSES = "benchfill:diagnoses"
WORKERS = "benchfill:workers"
REVIEW_SEQUENCE = "benchfill:review:sequence"
REVIEW_CASES = "benchfill:review:all"
REVIEW_PSEUDONYMS = "benchfill:review:pseudonyms"


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


def jobs_by_benchmark(benchmark: str) -> str:
    """Sorted set of a benchmark's jobs."""
    return _key("jobs:benchmark", benchmark)


def jobs_by_status(status: str) -> str:
    """Sorted set of the jobs in a status."""
    return _key("jobs:status", status)


def job(job_id: str) -> str:
    """Hash of a job's record."""
    return _key("job", job_id)


def job_result(job_id: str) -> str:
    """Report of a job: a string."""
    return _key("job:result", job_id)


def job_events(job_id: str) -> str:
    """Stream of a job's events."""
    return _key("job:events", job_id)


def job_lease(job_id: str) -> str:
    """Who works on a job: a string that expires."""
    return _key("job:lease", job_id)


def job_fence(job_id: str) -> str:
    """Highest token given out for a job: a string."""
    return _key("job:fence", job_id)


def benchmark_versions(benchmark: str) -> str:
    """Hash of a benchmark's versions."""
    return _key("benchmark", benchmark)


def benchmark_last(benchmark: str) -> str:
    """Highest version ever given out for a benchmark: a string."""
    return _key("benchmark:last", benchmark)


def content(sha256: str) -> str:
    """Return the key of a file: a string."""
    return _key("content", sha256)


def content_users(sha256: str) -> str:
    """Set of the versions that hold a file."""
    return _key("content:users", sha256)


def job_lost(job_id: str) -> str:
    """Set of the calls that were out when a worker of a job was killed."""
    return _key("job:lost", job_id)


def job_spent(job_id: str) -> str:
    """Hash of what a job had spent when each gap began."""
    return _key("job:spent", job_id)


def job_swept(job_id: str) -> str:
    """Whether a job was put back into the queue just now: a string that expires."""
    return _key("job:swept", job_id)


def usage_job(job_id: str) -> str:
    """Hash of what a job took."""
    return _key("usage:job", job_id)


def usage_day(api_key: str, day: str) -> str:
    """Hash of what the jobs of an API key took on a day (ISO date, UTC)."""
    return _key("usage:day", api_key, day)


def daily_promises(api_key: str, day: str) -> str:
    """Hash of what the fills of an API key may use on a day."""
    return _key("promised", api_key, day)


def review_case(candidate: str) -> str:
    """Candidate as it came under review: a string."""
    return _key("review:case", candidate)


def review_log(candidate: str) -> str:
    """List of a candidate's audit trail."""
    return _key("review:log", candidate)


def review_thread(candidate: str) -> str:
    """Stream of what was said about a candidate after the fill."""
    return _key("review:thread", candidate)


def review_thread_ids(candidate: str) -> str:
    """Hash of the keys of these messages."""
    return _key("review:thread:ids", candidate)


def review_opened(candidate: str) -> str:
    """Hash of when reviewers first looked at a candidate."""
    return _key("review:opened", candidate)


def review_queue(name: str) -> str:
    """Sorted set of the cases in a queue."""
    return _key("review:queue", name)


def review_done(reviewer: str) -> str:
    """Sorted set of the cases on which a reviewer has no verdict to give."""
    return _key("review:done", reviewer)


def review_benchmark(benchmark: str) -> str:
    """Sorted set of a benchmark's cases."""
    return _key("review:benchmark", benchmark)


def review_gap(job_id: str, gap: str) -> str:
    """Sorted set of a gap's cases."""
    return _key("review:gap", job_id, gap)


def review_session(digest: str) -> str:
    """Who is signed in: a string that expires."""
    return _key("review:session", digest)


def rollout_claim(digest: str) -> str:
    """Who is asking for a rollout right now: a string that expires."""
    return _key("rollout:claim", digest)


def _key(kind: str, *names: str) -> str:
    # Names come from users: an unescaped colon would let (a:b, c) and (a, b:c) share a key.
    escaped = (name.replace("%", "%25").replace(":", "%3A") for name in names)
    return ":".join(("benchfill", kind, *escaped))
