"""What `import benchfill` promises."""

from __future__ import annotations

import inspect
import pkgutil
import subprocess
import sys
import types

import pytest

import benchfill
import benchfill.onepl


@pytest.mark.parametrize("module", [benchfill, benchfill.onepl, benchfill.formats])
def test_all_is_what_is_exported(module: types.ModuleType) -> None:
    for name in module.__all__:
        assert name in dir(module)
        getattr(module, name)  # `benchfill` imports a name when it is first asked for
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


def test_names_that_are_not_exported_are_missing() -> None:
    with pytest.raises(AttributeError, match="'benchfill' has no attribute 'nothing'"):
        _ = benchfill.nothing  # type: ignore[attr-defined]
    assert set(benchfill._HOME) == set(benchfill.__all__)
    # a module of the same name would take the name's place once it is imported
    modules = {one.name for one in pkgutil.iter_modules(benchfill.__path__)}
    assert not modules & set(benchfill.__all__)


def test_a_diagnosis_imports_no_picture_no_sampler_and_no_statistics() -> None:
    # each of them takes half a second or more
    code = (
        "import sys, benchfill_services.cli.diagnose_run as run; "
        "run.bf.diagnose, run.bf.read_responses, run.bf.parse_target; "
        "print(*{m.split('.')[0] for m in sys.modules} & "
        "{'matplotlib', 'pandas', 'pymc', 'arviz', 'nutpie', 'pytensor', 'litellm', 'redis'}, "
        "*{'scipy.stats', 'scipy.optimize'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []
