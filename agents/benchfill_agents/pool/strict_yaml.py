"""Reading YAML that somebody wrote by hand: safely, and strict about what is surely a mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from benchfill.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

MAX_FILE_BYTES = 1_000_000


def load_yaml(path: Path) -> object:
    """Read a YAML file of at most 1 MB. Raises InputError that names the file and the line."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise InputError("is larger than 1 MB; this is no pool file.", source=str(path))
        text = path.read_text(encoding="utf-8-sig")
        return yaml.load(text, Loader=_StrictLoader)  # noqa: S506 - a subclass of SafeLoader
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror}).", source=str(path)) from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte {error.start} is not UTF-8; a pool file is YAML text.", source=str(path)
        ) from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise InputError(
            f"is not valid YAML ({error.problem}).", source=str(path), line=line
        ) from None
    except (yaml.YAMLError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"is not valid YAML ({reason}).", source=str(path)) from None
    except RecursionError:
        raise InputError("is nested too deeply.", source=str(path)) from None


class _StrictLoader(yaml.SafeLoader):
    """YAML's safe loader without aliases (which can blow up) and without repeated keys."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.MarkedYAMLError(
                problem="aliases are not supported; write the values out",
                problem_mark=self.peek_event().start_mark,  # type: ignore[no-untyped-call]
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"the key {key.value!r} stands twice", problem_mark=key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)
