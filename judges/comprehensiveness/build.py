"""Make the metrics of this family by name."""

from __future__ import annotations

from collections.abc import Mapping

from data.errors import NotFoundError, SpecError
from data.records import Json, MetricItem
from judges.comprehensiveness.claims import Steps
from judges.comprehensiveness.embedded import NAME, LexicalSteps
from judges.comprehensiveness.end_to_end import EndToEndReader, LexicalEndToEndReader
from judges.comprehensiveness.llm_steps import LlmSteps
from judges.comprehensiveness.metric import ComprehensivenessMetric, Reader
from judges.comprehensiveness.nli import NliReader
from judges.comprehensiveness.qa import QaReader
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
    reader = _reader(name, runner, settings)
    return ComprehensivenessMetric(name, reader, summariser=_summariser(settings, runner))


def _reader(name: str, runner: TaskRunner | None, settings: ComprehensivenessSettings) -> Reader:
    match name:
        case "comprehensiveness-nli":
            return _nli(runner, settings)
        case "comprehensiveness-end-to-end":
            return LexicalEndToEndReader(settings) if runner is None else EndToEndReader(runner)
        case "comprehensiveness-qa" if runner is None:
            message = f"The metric {name} asks an LLM and has no embedded version."
            raise SpecError(message, advice="Name a judge with an LLM, or use comprehensiveness-nli.")
        case "comprehensiveness-qa" if runner is not None:
            return QaReader(runner, settings=settings)
        case _:
            message = f"There is no metric {name!r} of comprehensiveness."
            raise NotFoundError(message, advice="Choose comprehensiveness-nli, -qa or -end-to-end.")


def _nli(runner: TaskRunner | None, settings: ComprehensivenessSettings) -> NliReader:
    if runner is None:
        return NliReader(LexicalSteps, engine=NAME, settings=settings)

    def steps(item: MetricItem) -> Steps:
        return LlmSteps(runner, item)

    return NliReader(steps, engine=runner.model, settings=settings)


def _summariser(settings: ComprehensivenessSettings, runner: TaskRunner | None) -> Summariser | None:
    if not settings.summarise:
        return None
    return LexicalSummariser(settings.relevance) if runner is None else LlmSummariser(runner)
