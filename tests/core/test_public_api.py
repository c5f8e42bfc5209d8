"""What `import benchfill` promises."""

from __future__ import annotations

import inspect
import types

import pytest

import benchfill
import benchfill.onepl


@pytest.mark.parametrize("module", [benchfill, benchfill.onepl, benchfill.formats])
def test_all_is_what_is_exported(module: types.ModuleType) -> None:
    public = {
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }
    assert set(module.__all__) == public - {"annotations"}
    assert list(module.__all__) == sorted(set(module.__all__))


@pytest.mark.parametrize("name", benchfill.__all__)
def test_public_names_explain_themselves(name: str) -> None:
    value = getattr(benchfill, name)
    if not callable(value):
        return
    assert value.__module__.startswith("benchfill.")
    text = inspect.getdoc(value)
    assert text
    # a dataclass without a docstring gets its signature for one
    assert text != f"{name}{inspect.signature(value)}".replace(" -> None", "")
    for member, thing in vars(value).items() if inspect.isclass(value) else ():
        documented = isinstance(thing, types.FunctionType | property | classmethod)
        if documented and not member.startswith("_"):
            assert inspect.getdoc(getattr(value, member)), f"{name}.{member}"
