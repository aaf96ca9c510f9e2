"""Fixtures for every room: the scripted LLM endpoint and the data folder beside the checkout."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings

# Time is measured in benchmarks; a busy machine is no failure.
settings.register_profile("arena", deadline=None)
settings.load_profile("arena")


def _load(name: str) -> ModuleType:
    """Load a helper module of the tests by path, since tests are no package."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
        if spec is None or spec.loader is None:
            message = f"tests/{name}.py cannot be loaded"
            raise ImportError(message)
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


@pytest.fixture(scope="session")
def scripted_module() -> ModuleType:
    """The module `tests/scripted_llm.py`: `Script`, `Fault`, `ScriptedLLM`, `RULES`."""
    return _load("scripted_llm")


@pytest.fixture
def scripted_llm(scripted_module: ModuleType) -> Iterator[Callable[..., object]]:
    """Start scripted endpoints: `scripted_llm(latency=0.1, faults={"rate_limit": 0.2})`.

    Takes the fields of `Script`, gives a running `ScriptedLLM` (`.url`, `.script`, `.log`,
    `.handlers`), and stops it when the test ends.
    """
    with contextlib.ExitStack() as stack:

        def serve(**fields: object) -> object:
            server = scripted_module.ScriptedLLM(scripted_module.Script(**fields))
            return stack.enter_context(server.running())

        yield serve
