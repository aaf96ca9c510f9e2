"""Commands over the arena that a test of rounds filled."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.cli import main


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Any]:
    """Run a command with `--json` against the arena of `make_arena`, and return what it printed."""

    def run(*words: object, endpoint: str = "http://127.0.0.1:9/v1") -> Any:  # noqa: ANN401
        monkeypatch.setenv("ARENA_HOME", str(tmp_path / "home"))
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint)
        monkeypatch.setattr(sys, "argv", ["arena", *map(str, words), "--json"])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code in {0, None}, capsys.readouterr().err
        return json.loads(capsys.readouterr().out)

    return run
