"""Which names and symbols a question uses, and which of them it never introduces.

Code is read with Python's own parser (and never run); formulas and prose by rules of thumb that
err towards silence: the Verifier reads every question as well.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
import textwrap
from dataclasses import dataclass, field

_BLOCK = re.compile(
    r"(?:```|~~~)[ \t]*(?P<language>\w*)[^\n`]{0,100}\n(?P<code>.*?)(?:```|~~~)", re.DOTALL
)
_INLINE = re.compile(r"`([^`\n]+)`")
_LATEX = re.compile(
    r"\$\$(.+?)\$\$|(?<![\w\\])\$([^$\n]+)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL
)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_PROGRAMS = {"", "python", "py", "python3", "pycon"}
_BUILT_IN = frozenset(dir(builtins)) | frozenset(keyword.kwlist) | {"self", "cls", "__name__"}
_MODULES = frozenset(
    {
        "numpy", "np", "math", "statistics", "pandas", "pd", "matplotlib", "pyplot", "plt",
        "scipy", "sympy", "random", "os", "sys", "re", "glob", "itertools", "functools",
        "collections", "json", "csv", "time", "datetime", "pathlib", "string", "operator",
        "copy",
    }
)  # fmt: skip
_SYMBOL = r"[A-Za-zα-ωΑ-Ω](?:_?\d{1,3}|_\{?\w{1,12}\}?|')?"
_OPERATOR = r"[-+*/^=<>≤≥≈×·÷−|]"
_IN_FORMULA = re.compile(
    rf"(?<![\w`$\\.'’])(?:(?P<before>{_SYMBOL})(?=\s?(?:\*\*|{_OPERATOR})\s?[\w(\-−])"
    rf"|(?:(?<=[\w)]\s{_OPERATOR}\s)|(?<=[\w)]{_OPERATOR})|(?<=[\w)]\*\*))(?P<after>{_SYMBOL})(?![\w]))(?!\w)"
)
# Words before a symbol that use it; other words before it introduce it: "dose d", "for x".
_ONLY_USE = frozenset(
    {
        "a", "an", "the", "as", "by", "to", "equals", "equal", "gives", "than", "plus",
        "minus", "times", "over", "is", "are", "was", "were", "grows", "falls", "compute",
        "computes", "evaluate", "evaluates", "calculate", "yields", "and", "or", "from",
        "per", "at", "exceeds", "follows", "becomes", "reaches",
    }
)  # fmt: skip


_Position = tuple[int, int, int]  # block, line, column
_ALWAYS: _Position = (-1, 0, 0)
_LATER: _Position = (1_000_000, 0, 0)
_NEVER: _Position = (2_000_000, 0, 0)


@dataclass
class _Names:
    """Names that code uses and binds, and where; what is in a function is used later."""

    used: list[tuple[str, _Position]] = field(default_factory=list)
    bound: dict[str, _Position] = field(default_factory=dict)

    def bind(self, name: str, at: _Position) -> None:
        """Note where a name is bound; the first place counts."""
        self.bound[name] = min(at, self.bound.get(name, _NEVER))

    def missing(self) -> list[str]:
        """Return the names that are used before they are bound, or never bound."""
        return [
            name
            for name, at in self.used
            if name not in _BUILT_IN | _MODULES and self.bound.get(name, _NEVER) > at
        ]


def undefined_symbols(stem: str) -> tuple[str, ...]:
    """Return the names and symbols that a stem uses without saying what they are, in order."""
    names = _names_in_code(stem)
    prose = _prose(stem)
    missing = [name for name in dict.fromkeys(names.missing()) if not _introduced(name, stem)]
    missing += [
        symbol
        for symbol in dict.fromkeys([*_formula_symbols(prose), *_latex_symbols(stem)])
        if symbol not in names.bound and not _symbol_introduced(symbol, stem)
    ]
    return tuple(dict.fromkeys(missing))


def names_missing_in(stem: str, option: str) -> tuple[str, ...]:
    """Return the names in an option's code that the stem does not have."""
    used = _Names()
    for code in _INLINE.findall(option):
        _read(code, used)
    known = set(_IDENTIFIER.findall(stem))
    return tuple(name for name in dict.fromkeys(used.missing()) if name not in known)


def mentions(stem: str, symbol: str) -> bool:
    """Whether a symbol stands in a text as a word of its own, or with a factor, as in 3n."""
    return re.search(rf"(?<![A-Za-z_]){re.escape(symbol)}(?![A-Za-z0-9_])", stem) is not None


def _names_in_code(text: str) -> _Names:
    names = _Names()
    for number, match in enumerate(_BLOCK.finditer(text)):
        if match["language"].lower() in _PROGRAMS:
            code = re.sub(r"^(?:>>>|\.\.\.) ?", "", match["code"], flags=re.MULTILINE)
            _read(code, names, number)
    for code in _INLINE.findall(_BLOCK.sub(" ", text)):
        _read(code, names)
    return names


def _read(code: str, names: _Names, block: int | None = None) -> None:
    """Read a block of code, or (None) a snippet, which binds from the start and uses at the end."""
    try:
        tree = ast.parse(textwrap.dedent(code).strip())
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return  # no Python: a file name, an output, another language
    inside = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.Lambda)
        for node in ast.walk(function)
    }
    ends = _ends(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            here = (block or 0, node.lineno, node.col_offset)
            loads = isinstance(node.ctx, ast.Load)
            if loads or id(node) in ends.updated:
                late = block is None or id(node) in inside
                names.used.append((node.id, _LATER if late else here))
            if not loads:
                end = ends.of.get(id(node))
                names.bind(node.id, _ALWAYS if block is None or end is None else (block, *end))
            continue
        for name in _declared(node):
            names.bind(name, _ALWAYS)


@dataclass
class _Ends:
    """Where targets of assignments get their value, and which of them are read before."""

    of: dict[int, tuple[int, int]] = field(default_factory=dict)
    updated: set[int] = field(default_factory=set)


def _ends(tree: ast.AST) -> _Ends:
    """Return the ends of plain assignments; loops, withs and comprehensions bind at once."""
    ends = _Ends()
    for statement in ast.walk(tree):
        if not isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign):
            continue
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            for node in ast.walk(target):
                ends.of[id(node)] = (statement.end_lineno or 0, statement.end_col_offset or 0)
        if isinstance(statement, ast.AugAssign):
            ends.updated.add(id(statement.target))
    return ends


def _declared(node: ast.AST) -> list[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
            return [name]
        case ast.alias(name=name, asname=asname):
            return [(asname or name).split(".")[0]]
        case ast.ExceptHandler(name=str(name)):
            return [name]
    return []


def _prose(text: str) -> str:
    return _LATEX.sub(" ", _INLINE.sub(" ", _BLOCK.sub(" ", text)))


def _introduced(name: str, stem: str) -> bool:
    """Whether words around a name say what it is."""
    quoted = re.escape(name)
    around = (
        # a word before it, as in: the array `readings`, let `x`, a variable called `x`
        rf"\b(?P<word>[A-Za-z]{{2,}}),?\s+[`$]{quoted}[`$]",
        rf"\b(?P<word>[A-Za-z]{{2,}}),?\s+{quoted}\b"
        r"(?=\s*(?:is|are|be|holds?|has|have|contains?)\b)",
    )
    for pattern in around:
        for match in re.finditer(pattern, stem):
            if match["word"].lower() not in _ONLY_USE | _VERBS:
                return True
    told = (
        rf"[`$]?\b{quoted}\b[`$]?\s+(?:is|are|be|holds?|has|have|contains?|denotes?|stands? for"
        r"|refers? to|stores?|counts?|gives?|represents?|starts? (?:as|at|with)|begins?"
        r"|takes? the)\b"
    )
    return re.search(told, stem) is not None or _symbol_introduced(name, stem)


_VERBS = frozenset(
    {
        "of", "in", "on", "does", "do", "did", "will", "would", "evaluating", "evaluates",
        "evaluate", "printing", "prints", "print", "executes", "running", "runs", "run",
        "returns", "return", "calls", "calling", "call", "what", "which", "that", "if",
        "when", "then", "after", "before", "with", "using", "into", "out",
    }
)  # fmt: skip


def _formula_symbols(prose: str) -> list[str]:
    found = [match["before"] or match["after"] for match in _IN_FORMULA.finditer(prose)]
    return [symbol for symbol in found if symbol not in {"a", "A", "I", "e", "π", "pi"}]


def _latex_symbols(stem: str) -> list[str]:
    found: list[str] = []
    for match in _LATEX.finditer(_BLOCK.sub(" ", stem)):
        formula = next(group for group in match.groups() if group is not None)
        plain = re.sub(r"\\(?:text|mathrm|operatorname)\s*\{[^{}]*\}|\\[A-Za-z]+", " ", formula)
        found += re.findall(r"(?<![A-Za-z])([A-Za-z](?:_\{?\w+\}?)?)(?![A-Za-z])", plain)
    return [symbol for symbol in found if symbol not in {"e", "d"}]


def _symbol_introduced(symbol: str, stem: str) -> bool:
    """Whether a symbol gets a value, a word that introduces it, or a word that tells what it is."""
    quoted = re.escape(symbol)
    mark = r"[`$]?"
    patterns = (
        # a value or a range: x = 5, x in {1, 2}, 0 <= x
        rf"(?<![\w.]){quoted}{mark}\s*(?:=|:=|∈|≈)\s*[-−$]?\s*[\d\[('\"{{]",
        rf"(?<![\w.]){quoted}{mark}\s+(?:is|are|be|denotes?|stands?|represents?|counts?|runs?|goes)\b",
        rf"\b(?:let|where|for|find|solve|any|every|each|some|all|with)\s+(?:[\w`$]+(?:\s*,\s*|\s+and\s+))*"
        rf"{mark}{quoted}{mark}(?!\w)",
        rf"\b(?:values?|expression|function|terms?|polynomial|formula|equation|powers?|multiples?)"
        rf"\s+(?:of|in|for)\s+{mark}{quoted}{mark}(?!\w)",
        rf"\bfrom\s+\S+\s+to\s+{mark}{quoted}{mark}(?!\w)",
        rf"(?<![\w.]){quoted}{mark}\s+from\s+\S+\s+to\b",
        rf"(?<![\w.])(?:def\s+)?[a-zA-Z]\w*\s*\(\s*(?:\w+\s*,\s*)*{quoted}\b[^)]*\)\s*=",
    )
    if any(
        re.search(pattern, stem, re.IGNORECASE if len(symbol) > 1 else 0) for pattern in patterns
    ):
        return True
    return any(
        match["word"].lower() not in _ONLY_USE | _VERBS
        for match in re.finditer(rf"\b(?P<word>[A-Za-z]{{2,}})\s+{mark}{quoted}{mark}(?!\w)", stem)
    )
