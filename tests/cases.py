"""Test cases in data files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml


def cases(test: str, name: str) -> Any:  # noqa: ANN401 - any table
    """Return a table of the YAML file next to a test: `cases(__file__, "NAME")`."""
    return yaml.safe_load(Path(test).with_suffix(".yaml").read_text(encoding="utf-8"))[name]
