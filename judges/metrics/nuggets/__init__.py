"""How many of a question's nuggets an answer states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from data.errors import NotFoundError
from data.records import Json

if TYPE_CHECKING:
    from judges.metrics.registry import Metric


def build(name: str, *, runner: object | None, options: Mapping[str, Json]) -> Metric:
    """Build `nuggets`; without a runner, the embedded version.

    Raises:
        NotFoundError: The name is another.
        SpecError: An option is unknown, or the runner is none.
    """
    from judges.metrics.guard import GuardedMetric  # noqa: PLC0415 - as in the other families
    from judges.metrics.nuggets.metric import NAME, assemble  # noqa: PLC0415 - as above

    if name != NAME:
        raise NotFoundError(f"There is no nugget metric {name!r}.", advice=f"Known: {NAME}.")
    metric = assemble(runner, options)
    return GuardedMetric(metric) if runner is None else metric
