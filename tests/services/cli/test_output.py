"""What goes wrong inside is kept in a file that can be passed on."""

from __future__ import annotations

import pytest
import typer

from benchfill_services.cli.output import command_output


def test_a_bug_is_kept_with_its_traceback_and_without_secrets(
    tmp_path, monkeypatch, capsys
) -> None:
    monkeypatch.setenv("BENCHFILL_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "canary-1234")
    with (
        pytest.raises(typer.Exit) as caught,
        command_output("test", json=False, seed=None, inputs=[]),
    ):
        raise RuntimeError("wrong key canary-1234")
    assert caught.value.exit_code == 1
    (kept,) = tmp_path.glob("crash-*.log")
    assert "RuntimeError: wrong key ***" in kept.read_text()
    assert "canary" not in kept.read_text() + "".join(capsys.readouterr())
