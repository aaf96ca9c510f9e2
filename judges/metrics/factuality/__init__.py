"""Factuality: how much of an answer the passages support, even where the passages disagree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from data.errors import NotFoundError
from data.records import Json

if TYPE_CHECKING:
    from judges.metrics.coverage.sources import Source
    from judges.metrics.registry import Metric

PREFIX = "factuality-"


def build(
    name: str, *, runner: object | None, options: Mapping[str, Json], source: Source | None = None
) -> Metric:
    """Build one of the factuality metrics; without a runner, its embedded lexical version.

    With a source, contexts are what it finds, else they come from each item's own passages.

    Raises:
        NotFoundError: The name is none of theirs.
        SpecError: An option is unknown or out of bounds, or the metric needs an LLM.
    """
    from judges.metrics.factuality.assembly import ASSESSORS, assemble  # noqa: PLC0415 - graphs and engines load without it

    short = name.removeprefix(PREFIX)
    if not name.startswith(PREFIX) or short not in ASSESSORS:
        names = ", ".join(f"{PREFIX}{assessor}" for assessor in ASSESSORS)
        raise NotFoundError(f"There is no factuality metric {name!r}.", advice=f"Choose one of: {names}.")
    return assemble(short, runner=runner, options=options, source=source)
