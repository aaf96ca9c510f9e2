"""A connection to a Ray cluster, and the application on one of its nodes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from types import ModuleType

from arena.container import Arena, open_arena
from arena.settings import EngineKind, read_settings
from data.errors import JudgeError

UNREACHED = "Check RAY_ADDRESS and `ray status`; without that variable, a cluster is started here."
ADVICE = "Install answer-arena[ray] here and on every node."


def open_on_node() -> Arena:
    """The application as this node's environment has it, for a task, which has one processor."""
    return open_arena(replace(read_settings(), engine=EngineKind.LOCAL, processes=1))


def load_ray() -> ModuleType:
    """The library.

    Raises:
        JudgeError: It is not installed.
    """
    try:
        return import_module("ray")
    except ModuleNotFoundError as error:
        raise JudgeError("Ray is not installed.", advice=ADVICE) from error


@contextmanager
def connected(ray: ModuleType) -> Iterator[None]:
    """A connection to a cluster: the one that is there, else one of our own that ends with the block.

    Raises:
        JudgeError: There is none, and none can be started.
    """
    if ray.is_initialized():
        yield
        return
    try:
        try:
            ray.init(address="auto", log_to_driver=False, configure_logging=False)
        except ConnectionError:
            ray.init(include_dashboard=False, log_to_driver=False, configure_logging=False)
    except (OSError, RuntimeError, ValueError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise JudgeError(f"No Ray cluster can be reached or started: {reason}.", advice=UNREACHED) from error
    try:
        yield
    finally:
        ray.shutdown()
