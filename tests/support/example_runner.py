"""The example of docs/runners.md: a harness of your own as a member of the pool."""

import json
import sys


def solve(question: str) -> tuple[str, float]:
    """Stand for your harness: give an answer and what it cost, in US dollars."""
    a, b = question.removesuffix("=").split("+")
    return str(int(a) + int(b)), 0.001


for line in sys.stdin:
    item = json.loads(line)
    answered = {"id": item["id"], "sample": item["sample"]}
    try:
        answered["answer"], answered["cost"] = solve(item["question"])
    except ValueError as problem:
        answered["error"] = f"cannot solve it: {problem}"
    print(json.dumps(answered), flush=True)  # noqa: T201
