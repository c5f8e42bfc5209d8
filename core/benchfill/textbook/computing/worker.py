"""The process that computes: a request a line on stdin, a reply a line on stdout.

Each request may use so many seconds of CPU; who takes more is ended by the system, as is who takes
more memory. The process ends with its stdin.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from typing import Any

from .limits import CPU_SECONDS, MEMORY
from .quantities import Quantity, equal, fold, read_option
from .trace import Traced, agree, free_symbols, trace


def traced(request: dict[str, Any]) -> dict[str, Any]:
    """Compute a graph; tell of each computed node whether its value holds."""
    found = trace(request["nodes"], free_symbols(request["symbols"]))
    return {
        node_id: {
            "agrees": one.agrees,
            "problem": one.problem,
            "computed": None if one.exact is None else _shown(one.exact),
            "words": one.value is None,
        }
        for node_id, one in found.items()
    }


def options(request: dict[str, Any]) -> dict[str, Any]:
    """Compare options with the graph's answer, with each other and with what their errors give."""
    symbols = free_symbols(request["symbols"])
    unit = request["unit"]
    read = [read_option(text, symbols, unit) for text in request["texts"]]
    found = trace(request["nodes"], symbols)
    answer = _as_option(found[request["answer"]], request, symbols)
    return {
        "right": [equal(one, answer) for one in read],
        "same": [[i, j] for i in range(len(read)) for j in range(i) if equal(read[i], read[j])],
        "carried": [
            None if not steps else _carried(request, steps, one, symbols)
            for steps, one in zip(request["wrong"], read, strict=True)
        ],
    }


def _carried(
    request: dict[str, Any], steps: dict[str, str], option: Quantity, symbols: dict[str, Any]
) -> dict[str, Any]:
    found = trace(request["nodes"], symbols, wrong=steps)
    broken = next((one.problem for one in found.values() if one.problem), None)
    last = found[request["answer"]]
    if broken is not None or last.value is None:
        return {"matches": False, "computed": None, "problem": broken}
    reached = _as_option(last, request, symbols)
    matches = equal(option, reached) or _rounded_alike(option, last, request)
    return {"matches": matches, "computed": _shown(last.value), "problem": None}


def _rounded_alike(option: Quantity, last: Traced, request: dict[str, Any]) -> bool:
    """Whether an option rounds what an error leads to, where a half may go up or down."""
    decimals = _node(request)["decimals"]
    if decimals is None or option.value is None or last.exact is None:
        return False
    return option.unit in {"", request["unit"] or ""} and agree(option.value, last.exact, decimals)


def _as_option(last: Traced, request: dict[str, Any], symbols: dict[str, Any]) -> Quantity:
    if last.value is None:
        return read_option(_node(request)["value"], symbols, request["unit"])
    shown = last.value if isinstance(last.value, str) else _shown(last.value)
    return Quantity(fold(shown), last.value, request["unit"] or "")


def _node(request: dict[str, Any]) -> dict[str, Any]:
    """Return the node that is the answer."""
    node: dict[str, Any] = next(n for n in request["nodes"] if n["id"] == request["answer"])
    return node


def _shown(value: object) -> str:
    shown = repr(value) if isinstance(value, str) else str(value)
    return shown if len(shown) <= 200 else f"{shown[:200]}..."


_WORK = {"trace": traced, "options": options}


def main() -> None:
    """Answer requests until stdin ends."""
    _limit_memory()
    for line in sys.stdin:
        request = json.loads(line)
        _allow(CPU_SECONDS)
        try:
            said = json.dumps({"reply": _WORK[request["work"]](request)})
        except MemoryError:
            said = json.dumps({"gave_up": "memory"})
        except Exception as error:  # SymPy raises many kinds that nobody foresees
            said = json.dumps({"gave_up": type(error).__name__})
        sys.stdout.write(said + "\n")
        sys.stdout.flush()


def _limit_memory() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):  # no such limits on Windows
        import resource  # noqa: PLC0415

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _allow(seconds: int) -> None:
    """Let this process use so many more seconds of CPU."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415

        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + 1 + seconds, hard))


if __name__ == "__main__":
    main()
