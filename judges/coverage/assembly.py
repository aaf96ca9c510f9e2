"""Put each variant together, with an LLM or without."""

from __future__ import annotations

from collections.abc import Mapping

from data.errors import SpecError
from data.records import Json
from judges.coverage.alignment import Aligner, EmbeddedAligner, JudgedAligner, LlmAligner
from judges.coverage.aspects import AspectSource, GivenAspects, LeadingStatements, LlmAspects
from judges.coverage.grounding import LexicalSupport, LlmSupport, Support
from judges.coverage.metric import Icat, Steps, Variant
from judges.coverage.settings import CoverageSettings, read_settings
from judges.coverage.sources import Source
from judges.factuality.claims import steps_of
from judges.factuality.relations import LlmRelations
from judges.llm.tasks import TaskRunner


def assemble(
    variant: Variant,
    *,
    runner: object | None,
    options: Mapping[str, Json],
    source: Source | None = None,
) -> Icat:
    """Build a variant.

    Args:
        variant: Which.
        runner: A `TaskRunner`; without one, the embedded version is built.
        options: As in `CoverageSettings`.
        source: Searched in place of each item's own passages: a corpus or the web.

    Raises:
        SpecError: An option is unknown or out of bounds, or the runner is none.
    """
    settings = read_settings(variant.value, options)
    if runner is not None and not isinstance(runner, TaskRunner):
        message = f"The coverage metrics cannot ask through a {type(runner).__name__}."
        raise SpecError(message, advice="Give them a TaskRunner.")
    if settings.judgments and variant is not Variant.M:
        message = f"The metric {variant.value} aligns claims by itself; it takes no judgments."
        raise SpecError(message, advice=f"Leave them out, or choose {Variant.M.value}.")
    support: Support = LexicalSupport() if runner is None else LlmSupport(LlmRelations(runner))
    judgments = settings.aspect_judgments if variant is Variant.M else None
    aligner: Aligner
    if judgments is not None:
        aligner = JudgedAligner(judgments)
    else:
        aligner = EmbeddedAligner() if runner is None else LlmAligner(runner)
    return Icat(
        variant,
        Steps(
            claims=steps_of(runner),
            support=support,
            aspects=_aspects(variant, runner, settings),
            aligner=aligner,
            source=source,
            judgments=judgments,
        ),
        settings,
    )


def _aspects(variant: Variant, runner: TaskRunner | None, settings: CoverageSettings) -> AspectSource:
    if variant is not Variant.A:
        return GivenAspects()
    if runner is None:
        return LeadingStatements(most=settings.aspects)
    return LlmAspects(runner, most=settings.aspects)
