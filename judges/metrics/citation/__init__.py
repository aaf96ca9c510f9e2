"""Whether the citations of an answer support its sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from data.errors import NotFoundError
from data.records import Json

if TYPE_CHECKING:
    from judges.metrics.registry import Metric


def build(name: str, *, runner: object | None, options: Mapping[str, Json]) -> Metric:
    """Build `citation-support`; without a runner, the embedded version.

    Raises:
        NotFoundError: The name is another.
        SpecError: An option is unknown, or the runner is none.
    """
    from judges.metrics.citation.metric import NAME, assemble  # noqa: PLC0415 - as in the other families
    from judges.metrics.guard import GuardedMetric  # noqa: PLC0415 - as above

    if name != NAME:
        raise NotFoundError(f"There is no citation metric {name!r}.", advice=f"Known: {NAME}.")
    metric = assemble(runner, options)
    return GuardedMetric(metric, of_form=False) if runner is None else metric
