"""Code with tests: a program is right when it passes all tests of its item, in the sandbox.

Tests stand in the item's metadata under ``tests``: statements that raise when they fail, or inputs
with the output that a program must print. What a program prints is compared out here, where it
cannot reach; statements run beside it, so a program that goes looking for them can deceive them.
"""

from __future__ import annotations

import ast
import json
import re
import secrets
import textwrap
from typing import TYPE_CHECKING, ClassVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..pool.scoring import Extracted
from .interface import Domain
from .sandbox import Limits, Outcome, require_sandbox, run_python

if TYPE_CHECKING:
    from benchfill.items import Item, ItemDomain

    from ..pool.config import Style

TESTS, LIMITS = "tests", "limits"
MOST_TESTS = 200
LONGEST_PROGRAM = 50_000
_FENCE = re.compile(r"```[ \t]*(?P<language>[\w+-]*)[^\n]*\n(?P<program>.*?)(?:```|\Z)", re.DOTALL)
_PYTHON = {"", "py", "python", "python3"}


class InputOutput(BaseModel):
    """A test of a whole program: what it reads, and what it must print."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: str = ""
    output: str = Field(description="compared line by line, white space at line ends aside")


class _Tests(BaseModel):
    tests: tuple[str | InputOutput, ...] = Field(max_length=MOST_TESTS)
    limits: Limits = Limits()


class Code(Domain):
    """Items that ask for Python."""

    name: ClassVar[ItemDomain] = "code"
    slow: ClassVar[bool] = True
    uses: ClassVar[tuple[str, ...]] = (TESTS, LIMITS)

    def problem(self, item: Item) -> str | None:
        """See `Domain.problem`."""
        require_sandbox()
        try:
            tests = _tests(item)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            return f"The item's metadata.{place or TESTS} cannot be used: {first['msg']}."
        if not tests.tests:
            return "The item has no metadata.tests; code is scored by its tests."
        for number, test in enumerate(tests.tests, start=1):
            if isinstance(test, str) and (wrong := _syntax(test)) is not None:
                return f"Test {number} is no Python: {wrong}."
        return None

    def extract(self, text: str, *, style: Style, item: Item) -> Extracted | None:  # noqa: ARG002
        """See `Domain.extract`: the fenced blocks of Python together, else the whole reply."""
        blocks = [match for match in _FENCE.finditer(text) if match["language"].lower() in _PYTHON]
        if blocks:
            program = "\n\n".join(block["program"].rstrip() for block in blocks)
            at_end = not blocks[-1][0].endswith("```")
        else:
            program, at_end = text.rstrip(), True
        if not program.strip() or len(program) > LONGEST_PROGRAM:
            return None
        return Extracted(program, at_end=at_end)

    def is_correct(self, answer: str, item: Item) -> bool:
        """See `Domain.is_correct`. Raises NoSandboxError where there is none."""
        return _failure(answer, item) is None

    def check(self, item: Item) -> str | None:
        """See `Domain.check`: the reference passes, and programs that do nothing do not."""
        problem = self.problem(item)
        if problem is not None:
            return problem
        failed = _failure(item.answer, item)
        if failed is not None:
            return f"The reference solution fails its own tests: {failed}"
        for described, program in (("an empty", ""), ("a hollow", _hollow(item.answer))):
            if program is not None and _failure(program, item) is None:
                return f"Even {described} solution passes the tests; they test too little."
        return None

    def details(self, item: Item) -> tuple[str, ...]:
        """See `Domain.details`."""
        tests = item.metadata.get(TESTS)
        shown = [tests] if isinstance(tests, str) else tests if isinstance(tests, list) else []
        return tuple(
            f"Test: {one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)}"
            for one in shown[:MOST_TESTS]
        )


def _tests(item: Item) -> _Tests:
    """Read the tests of an item. Raises ValidationError."""
    tests = item.metadata.get(TESTS)
    return _Tests.model_validate(
        {
            TESTS: [tests] if isinstance(tests, str) else (tests if tests is not None else []),
            LIMITS: item.metadata.get(LIMITS, {}),
        }
    )


def _failure(program: str, item: Item) -> str | None:
    """Say which test a program fails, in one sentence; None when it passes all."""
    tests = _tests(item)
    statements = [test for test in tests.tests if isinstance(test, str)]
    if statements and (failed := _fails_statements(program, statements, tests.limits)):
        return failed
    for number, test in enumerate(tests.tests, start=1):
        if isinstance(test, InputOutput):
            done = run_python({"main.py": program}, stdin=test.input, limits=tests.limits)
            if not done.clean:
                return f"test {number} {_ended(done)}."
            if _lines(done.stdout) != _lines(test.output):
                return f"test {number} prints something else than it must."
    return None


def _fails_statements(program: str, statements: list[str], limits: Limits) -> str | None:
    # the word is unknown to the program until it has run, and only all tests passed print it
    word = secrets.token_hex(16)
    files = {
        "main.py": _HARNESS,
        "solution.txt": program,
        "statements.json": json.dumps(statements),
    }
    done = run_python(files, stdin=word, limits=limits)
    if done.clean and done.stdout.endswith(word):
        return None
    return f"a test {_ended(done)}."


_HARNESS = textwrap.dedent(
    """
    import json, os, sys
    def _run():
        with open('/job/solution.txt', encoding='utf-8') as file:
            program = file.read()
        names = {'__name__': 'solution', '__builtins__': __builtins__}
        with open('/dev/null') as nothing:
            word = os.dup(0)
            os.dup2(nothing.fileno(), 0)
        exec(compile(program, 'solution.py', 'exec'), names)
        with open('/job/statements.json', encoding='utf-8') as file:
            statements = json.load(file)
        for number, statement in enumerate(statements, start=1):
            exec(compile(statement, f'test {number}', 'exec'), names)
        sys.stdout.flush()
        os.write(1, os.read(word, 64))
    _run()
    """
)


def _ended(done: Outcome) -> str:
    """Say how a run went wrong, in a few words and without what the program said at length."""
    if done.ending != "exited":
        return {
            "time": "does not come to an end in time",
            "memory": "needs too much memory",
            "output": "prints too much",
            "files": "makes too many files",
        }[done.ending]
    last = done.stderr.strip().splitlines()[-1:] or [f"ends with code {done.code}"]
    return f"fails ({last[0][:160]})"


def _hollow(program: str) -> str | None:
    """Return the program with each function's body gone; None where it has no function."""
    try:
        tree = ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found = False
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [ast.Pass()]
            found = True
    return ast.unparse(tree) if found else None


def _syntax(text: str) -> str | None:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return str(error)[:160]
    return None


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]
