"""What the context of an answer covers, and what the answer covers of it (CRUX)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from data.errors import NotFoundError, SpecError
from data.records import Json

if TYPE_CHECKING:
    from judges.metrics.registry import Metric


def build(name: str, *, runner: object | None, options: Mapping[str, Json]) -> Metric:
    """Build `context-crux` or `answer-crux`; without a runner, the embedded version.

    Raises:
        NotFoundError: The name is neither.
        SpecError: An option is unknown or out of bounds, or the runner is none.
    """
    from judges.llm.tasks import TaskRunner  # noqa: PLC0415 - as above
    from judges.metrics.context.metric import METRICS, AnswerCrux, Oracle  # noqa: PLC0415 - measures and reports load without it
    from judges.metrics.context.settings import ContextSettings  # noqa: PLC0415 - as above
    from judges.metrics.guard import GuardedMetric  # noqa: PLC0415 - as above
    from judges.metrics.options import read_options  # noqa: PLC0415 - as above

    if name not in METRICS:
        raise NotFoundError(f"There is no context metric {name!r}.", advice=f"Known: {', '.join(METRICS)}.")
    if runner is not None and not isinstance(runner, TaskRunner):
        message = f"The context metrics cannot ask through a {type(runner).__name__}."
        raise SpecError(message, advice="Give them a TaskRunner.")
    metric = METRICS[name](Oracle(runner, read_options(ContextSettings, name, options)))
    return GuardedMetric(metric, of_form=isinstance(metric, AnswerCrux)) if runner is None else metric
