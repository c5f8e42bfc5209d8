"""Whether what a model is asked stays on this machine."""

from __future__ import annotations

import pytest

from benchfill_agents.pool.config import LOCAL_MODEL, PoolModel
from benchfill_agents.pool.providers import provider_of, stays_here
from benchfill_services.rest.pool_files import PoolFiles


@pytest.mark.parametrize(
    ("model", "api_base", "provider", "here"),
    [
        (f"openai/{LOCAL_MODEL}", "local", "local", True),
        ("openai/x", "http://127.0.0.1:8080/v1", "127.0.0.1", True),
        ("openai/x", "http://127.9.9.9/v1", "127.9.9.9", True),
        ("openai/x", "http://[::1]:8080/v1", "::1", True),
        ("openai/x", "http://LOCALHOST:8080", "localhost", True),
        ("openai/x", "http://127.evil.example/v1", "127.evil.example", False),
        ("openai/x", "http://localhost.evil.example/v1", "localhost.evil.example", False),
        ("openai/x", "http://local/v1", "local", False),
        ("openai/x", "http://127.0.0.1@evil.example/v1", "evil.example", False),
        ("openai/x", "http://0.0.0.0/v1", "0.0.0.0", False),
        ("openai/x", "http://10.0.0.1/v1", "10.0.0.1", False),
        ("openai/gpt-4o", None, "openai", False),
        ("gpt-4o", None, "openai", False),
        ("anthropic/claude", None, "anthropic", False),
        ("bedrock/eu/claude", None, "bedrock", False),
    ],
)
def test_only_loopback_stays_here(model, api_base, provider, here) -> None:
    one = PoolModel(name="m", model=model, api_base=api_base)
    assert (provider_of(one), stays_here(one)) == (provider, here)


def test_a_completion_model_has_the_same_provider() -> None:
    one = PoolModel(name="m", model="openai/x", style="completion", parameters={"max_tokens": 8})
    assert provider_of(one) == "openai"


def test_names_of_files_lead_nowhere_else(tmp_path) -> None:
    folder = tmp_path / "pools"
    folder.mkdir()
    good = "models:\n  - {name: m, model: openai/x}\n"
    (tmp_path / "outside.yaml").write_text(good)
    (folder / "here.yaml").write_text(good)
    (folder / ".hidden.yaml").write_text(good)
    (folder / "folder.yaml").mkdir()
    pools = PoolFiles(folder)
    assert pools.ids() == ["here"]
    for name in ("../outside", "folder", ".hidden", "here.yaml", "", "none", "a/b", "here\n"):
        assert pools.read(name) is None
    assert pools.read("here").models[0].name == "m"
    assert PoolFiles(None).ids() == PoolFiles(tmp_path / "none").ids() == []


def test_a_changed_file_counts_at_once(tmp_path) -> None:
    path = tmp_path / "p.yaml"
    pools = PoolFiles(tmp_path)
    for name in ("a", "b", "ccc"):
        path.write_text(f"models:\n  - {{name: {name}, model: openai/x}}\n")
        assert pools.read("p").models[0].name == name
        assert pools.read("p") is pools.read("p")
    path.unlink()
    assert pools.read("p") is None
