"""Build the factuality metrics."""

from collections.abc import Mapping

from data.errors import SpecError
from data.models import Json
from judges.llm.tasks import TaskRunner
from judges.metrics.coverage.sources import Source
from judges.metrics.factuality.baselines import BaselineAssessor, LexicalVerifier, LlmVerifier, RivalAssessor
from judges.metrics.factuality.embedded import LexicalRelations
from judges.metrics.factuality.evidence import EvidenceSource, steps_of
from judges.metrics.factuality.reasoner import FactReasoner, Version
from judges.metrics.factuality.tasks import FactualitySettings, LlmRelations
from judges.metrics.registry import read_options
from judges.metrics.relations.model import RelationModel
from judges.metrics.relations.nli import open_nli
from judges.metrics.shortening import engine_with

PREFIX = "factuality-"


def build(
    name: str, *, runner: TaskRunner | None, options: Mapping[str, Json], source: Source | None = None
) -> FactReasoner | RivalAssessor:
    """Build a factuality metric; without a runner, the embedded version.

    A source replaces each item's own passages.
    """
    assessor = name.removeprefix(PREFIX)
    settings = read_options(FactualitySettings, name, options)
    if runner is None and (settings.write_queries or settings.summarise):
        message = "The options write_queries and summarise need an LLM."
        raise SpecError(message, advice="Choose an LLM judge, or leave out these options.")
    evidence = EvidenceSource(steps_of(runner), settings, runner=runner, source=source)
    relater = open_nli(settings.nli).name if settings.nli else ""
    engine = "" if runner is not None else engine_with(relater)
    if assessor in list(Version):
        relations, version = _relations(runner, settings), Version(assessor)
        return FactReasoner(version, evidence=evidence, relations=relations, settings=settings, engine=engine)
    baseline = BaselineAssessor(assessor)
    verifier: LlmVerifier | LexicalVerifier = (
        LexicalVerifier(baseline, _relations(None, settings))
        if runner is None or settings.nli
        else LlmVerifier(baseline, runner)
    )
    return RivalAssessor(baseline, evidence=evidence, verifier=verifier, settings=settings, engine=engine)


def _relations(runner: TaskRunner | None, settings: FactualitySettings) -> RelationModel:
    if settings.nli:
        return open_nli(settings.nli)
    if runner is None:
        return LexicalRelations()
    return LlmRelations(runner, default=settings.default_probability)
