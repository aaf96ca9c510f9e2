"""Coverage of a question's aspects by the grounded claims of an answer (ICAT)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from data.errors import NotFoundError
from data.records import Json

if TYPE_CHECKING:
    from judges.metrics.coverage.sources import Source
    from judges.metrics.registry import Metric


def build(
    name: str, *, runner: object | None, options: Mapping[str, Json], source: Source | None = None
) -> Metric:
    """Build `coverage-icat-m`, `-s` or `-a`; without a runner, the embedded version.

    With a source, claims are grounded in what it finds, else in each item's own passages.

    Raises:
        NotFoundError: The name is none of theirs.
        SpecError: An option is unknown or out of bounds, or the runner is none.
    """
    from judges.metrics.coverage.metric import Variant, assemble  # noqa: PLC0415 - as in the other families: measures load without it
    from judges.metrics.guard import GuardedMetric  # noqa: PLC0415 - as above

    if name not in list(Variant):
        variants = ", ".join(variant.value for variant in Variant)
        raise NotFoundError(f"There is no coverage metric {name!r}.", advice=f"Known: {variants}.")
    metric = assemble(Variant(name), runner=runner, options=options, source=source)
    return GuardedMetric(metric, relater=metric.relater) if runner is None else metric
