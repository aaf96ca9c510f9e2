"""Fixtures for all tests: the scripted LLM endpoint and the databases."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from httpx._config import DEFAULT_TIMEOUT_CONFIG
from hypothesis import settings

from data.store import Store
from tests.databases import ENDING, new_sqlite, postgres
from tests.scripted_llm import Script, ScriptedLLM

# Benchmarks measure time; tests must pass on a busy machine. Examples are the same in every run, so that
# results are reproducible.
settings.register_profile("quick", deadline=None, derandomize=True, max_examples=20)
settings.register_profile("full", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("quick")
# A busy machine may need more than httpx's 5 seconds for a response.
DEFAULT_TIMEOUT_CONFIG.read = 60


def pytest_sessionfinish() -> None:
    """End the servers, databases and browsers that tests share."""
    ENDING.close()


@pytest.fixture(scope="module", autouse=True)
def _clean_process() -> Iterator[None]:
    """Undo changes of modules: log settings, and `__main__`, which tested pages replace.

    Freezing existing objects saves garbage collection after each call of a command or page.
    """
    gc.collect()
    gc.freeze()
    before, main = structlog.get_config(), sys.modules["__main__"]
    yield
    structlog.configure(**before)
    sys.modules["__main__"] = main


@pytest.fixture
def scripted_llm() -> Iterator[Callable[..., ScriptedLLM]]:
    """Start scripted endpoints: `scripted_llm(latency=0.1, faults={"rate_limit": 0.2})`.

    Takes the fields of `Script`, returns a running `ScriptedLLM` (`.url`, `.script`, `.log`, `.handlers`),
    and stops it at the end of the test.
    """
    with contextlib.ExitStack() as stack:

        def serve(**fields: Any) -> ScriptedLLM:  # noqa: ANN401 - the fields of `Script`
            return stack.enter_context(ScriptedLLM(Script(**fields)).running())

        yield serve


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """URL of an empty database on each engine, without a schema for tests marked `blank`."""
    blank = request.node.get_closest_marker("blank") is not None
    path = tmp_path / "arena.sqlite"
    if request.param == "sqlite":
        yield f"sqlite:///{path}" if blank else new_sqlite(path)
        return
    with postgres().lending() as lend:
        yield lend(blank=blank)


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    """Empty store, on each engine in turn."""
    opened = Store.open(database_url)
    yield opened
    opened.close()
