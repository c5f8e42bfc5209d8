"""Takes secrets out of what is logged: those that are known, and what looks like one."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

HIDDEN = "***"
_SHORTEST = 6  # characters; hiding each "1" or "true" would make lines unreadable
_NAMES = re.compile(
    r"(?:^|_)(?:KEYS?|TOKENS?|SECRETS?|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)$", re.IGNORECASE
)
_FIELDS = re.compile(
    r"(?:^|[_-])(?:api[_-]?key|token|secret|password|authorization|cookie)$", re.IGNORECASE
)
_URL_PASSWORD = re.compile(r"(?<=://)[^\s/@:'\"]*:([^\s/@'\"]+)(?=@)")
_SHAPES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(://[^\s/@:'\"]*):[^\s/@'\"]+@"), rf"\1:{HIDDEN}@"),
    (re.compile(r"\b(bf_[0-9a-f]{12}_)[A-Za-z0-9_-]{20,}"), rf"\1{HIDDEN}"),
    (re.compile(r"\b(bearer\s+)[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE), rf"\1{HIDDEN}"),
    (re.compile(r"\b(authorization\W{1,4}basic\s+)[\w+/=-]+", re.IGNORECASE), rf"\1{HIDDEN}"),
    (re.compile(r"\b(sk-)[A-Za-z0-9_-]{16,}"), rf"\1{HIDDEN}"),
)


def secrets_in(environment: Mapping[str, str]) -> frozenset[str]:
    """Return the values that are secret by their variable's name, and the passwords of URLs."""
    named = {value for name, value in environment.items() if _NAMES.search(name)}
    passwords = {found for value in environment.values() for found in _URL_PASSWORD.findall(value)}
    return frozenset(value for value in named | passwords if len(value) >= _SHORTEST)


class Redactor:
    """Hides known secrets, also where they stand inside JSON, a URL or a `repr`."""

    def __init__(self, secrets: Iterable[str]) -> None:
        forms = {form for secret in secrets for form in _forms(secret)}
        # the longest first: one secret may begin with another
        longest_first = sorted(forms, key=lambda form: (-len(form), form))
        self._known = re.compile("|".join(map(re.escape, longest_first))) if forms else None

    def text(self, text: str) -> str:
        """Return a text without secrets."""
        if self._known is not None:
            text = self._known.sub(HIDDEN, text)
        for shape, instead in _SHAPES:
            text = shape.sub(instead, text)
        return text

    def value(self, value: Any) -> Any:
        """Return a value without secrets; what JSON has no form for becomes its `repr`."""
        if isinstance(value, str):
            return self.text(value)
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, dict):
            return {
                self.text(str(name)): HIDDEN if _is_secret(name, one) else self.value(one)
                for name, one in value.items()
            }
        if isinstance(value, list | tuple | set | frozenset):
            return [self.value(one) for one in value]
        return self.text(repr(value))


def _is_secret(name: object, value: object) -> bool:
    return isinstance(value, str | bytes) and _FIELDS.search(str(name)) is not None


def _forms(secret: str) -> set[str]:
    return {secret, quote(secret, safe=""), json.dumps(secret)[1:-1], repr(secret)[1:-1]}
