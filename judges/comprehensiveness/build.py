"""Make the metrics of this family by name."""

from __future__ import annotations

from collections.abc import Mapping

from data.errors import NotFoundError, SpecError
from data.records import Json, MetricItem
from judges.comprehensiveness.claims import Steps
from judges.comprehensiveness.embedded import NAME, LexicalSteps
from judges.comprehensiveness.end_to_end import EndToEndComprehensiveness
from judges.comprehensiveness.llm_steps import LlmSteps
from judges.comprehensiveness.nli import NliComprehensiveness
from judges.comprehensiveness.qa import QaComprehensiveness
from judges.comprehensiveness.settings import ComprehensivenessSettings, read_settings
from judges.comprehensiveness.summaries import LexicalSummariser, LlmSummariser, Summariser
from judges.llm.tasks import TaskRunner
from judges.metrics import NO_OPTIONS, Metric


def build(name: str, *, runner: object | None = None, options: Mapping[str, Json] = NO_OPTIONS) -> Metric:
    """Make a metric: with a runner, asking its LLM; without one, embedded.

    Raises:
        NotFoundError: The family has no such metric.
        SpecError: An option is wrong, the runner is none, or there is no embedded version.
    """
    settings = read_settings(name, options)
    if runner is not None and not isinstance(runner, TaskRunner):
        message = f"The metric {name} was given a {type(runner).__name__} to ask an LLM with."
        raise SpecError(message, advice="Give a TaskRunner.")
    summariser = _summariser(settings, runner)
    match name:
        case "comprehensiveness-nli":
            return _nli(name, runner, settings, summariser)
        case "comprehensiveness-end-to-end":
            return EndToEndComprehensiveness(name, runner=runner, settings=settings, summariser=summariser)
        case "comprehensiveness-qa" if runner is None:
            message = f"The metric {name} asks an LLM and has no embedded version."
            raise SpecError(message, advice="Name a judge with an LLM, or use comprehensiveness-nli.")
        case "comprehensiveness-qa" if runner is not None:
            return QaComprehensiveness(name, runner=runner, settings=settings, summariser=summariser)
        case _:
            message = f"There is no metric {name!r} of comprehensiveness."
            raise NotFoundError(message, advice="Choose comprehensiveness-nli, -qa or -end-to-end.")


def _nli(
    name: str, runner: TaskRunner | None, settings: ComprehensivenessSettings, summariser: Summariser | None
) -> Metric:
    if runner is None:
        return NliComprehensiveness(name, LexicalSteps, engine=NAME, settings=settings, summariser=summariser)

    def steps(item: MetricItem) -> Steps:
        return LlmSteps(runner, item)

    return NliComprehensiveness(name, steps, engine=runner.model, settings=settings, summariser=summariser)


def _summariser(settings: ComprehensivenessSettings, runner: TaskRunner | None) -> Summariser | None:
    if not settings.summarise:
        return None
    return LexicalSummariser(settings.relevance) if runner is None else LlmSummariser(runner)
