"""ICAT: grounding of an answer's claims and coverage of the question's aspects."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from data.declines import declines
from data.errors import SpecError
from data.models import Json, MetricItem, Outcome, Score, unscored
from judges.llm.tasks import TaskRunner
from judges.metrics.comprehensiveness.graph import UnscoredError, require_reply
from judges.metrics.coverage.aspects import (
    Aligner,
    Alignment,
    AspectSource,
    EmbeddedAligner,
    Grounded,
    JudgedAligner,
    LeadingStatements,
    LexicalSupport,
    LlmAligner,
    LlmAspects,
    LlmSupport,
    SetAspects,
    Support,
    ground,
)
from judges.metrics.coverage.judgments import AspectJudgments
from judges.metrics.coverage.settings import CoverageSettings, icat, share
from judges.metrics.coverage.sources import LocalSource, Source, chunk_index
from judges.metrics.factuality.evidence import Claim, ClaimSteps, claims_of, steps_of
from judges.metrics.factuality.tasks import LlmRelations
from judges.metrics.registry import Metric, read_options
from judges.metrics.relations.nli import open_nli
from judges.metrics.shortening import GuardedMetric
from judges.pairwise.cleaning import clean

NO_ASPECTS = "The question has no aspects, so there is nothing to cover."
NO_CLAIMS = "The answer makes no claim, so it covers no aspect."
NO_TEXTS = "There are no passages to ground claims in."
NO_JUDGMENTS = "This question has no judgments of passages by aspect."
MAX_EVIDENCE = 400


class Variant(StrEnum):
    """The variants of ICAT (Table 1 of the paper)."""

    M = "coverage-icat-m"
    S = "coverage-icat-s"
    A = "coverage-icat-a"


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """Steps of a variant; without a source, evidence comes from the item's own passages."""

    claims: ClaimSteps
    support: Support
    aspects: AspectSource
    aligner: Aligner
    source: Source | None = None
    judgments: AspectJudgments | None = None


class Icat:
    """One variant of ICAT."""

    def __init__(self, variant: Variant, steps: Steps, settings: CoverageSettings) -> None:
        self.name = variant.value
        self._steps = steps
        self._settings = settings

    async def score(self, item: MetricItem) -> Score:
        """Score one answer by ICAT_β; answers without a claim, such as refusals, score 0.

        Returns:
            The score, with `details`: `factuality`, `coverage`, `beta`, `claims` (`id`, `text`,
            `grounded`: true, false or null if undecided, `passage`, `evidence`, `aspects`),
            `aspects` (`text`, `covered`, `claims`, `passages`), `aspects_from`, `undecided`, `ignored`.
        """
        try:
            return await self._score(replace(item, answer=clean(item.answer)))
        except UnscoredError as stop:
            return unscored(item, self.name, stop.outcome, stop.reason)

    async def _score(self, item: MetricItem) -> Score:
        source = self._source(item)
        aspects = await self._aspects(item)
        claims = await self._claims(item)
        if not claims:
            return self._to_score(item, (), (), Alignment({}), aspects)
        grounded = require_reply(
            await ground(
                claims, source, self._steps.support, k=self._settings.retrieved, question=item.question
            )
        )
        if not any(entry.looked_at for entry in grounded):
            raise UnscoredError(Outcome.UNREADABLE, NO_TEXTS)
        decided = [entry for entry in grounded if not entry.undecided]
        if not decided:
            raise UnscoredError(Outcome.UNREADABLE, f"No claim could be decided: {grounded[0].undecided}")
        supported = [entry for entry in decided if entry.support is not None]
        alignment = Alignment({})
        if supported:
            alignment = require_reply(await self._steps.aligner.align(item, supported, aspects))
        return self._to_score(item, grounded, supported, alignment, aspects)

    def _to_score(
        self,
        item: MetricItem,
        grounded: Sequence[Grounded],
        supported: Sequence[Grounded],
        alignment: Alignment,
        aspects: Sequence[str],
    ) -> Score:
        decided = sum(not entry.undecided for entry in grounded)
        factuality, coverage = share(len(supported), decided), share(len(alignment.claims), len(aspects))
        score = icat(factuality, coverage, self._settings.beta)
        if score is None:
            raise UnscoredError(Outcome.UNREADABLE, NO_ASPECTS)
        return Score(
            id=item.id,
            metric=self.name,
            outcome=Outcome.JUDGED,
            score=score,
            details={
                "factuality": factuality,
                "coverage": coverage,
                "beta": self._settings.beta,
                "claims": _claims(grounded, supported, alignment),
                "aspects": _aspects(aspects, supported, alignment),
                "aspects_from": self._steps.aspects.origin,
                "counts": dict(Counter(_state(entry) for entry in grounded)),
                "ignored": alignment.ignored,
                **({} if grounded else {"note": NO_CLAIMS}),
            },
        )

    def _source(self, item: MetricItem) -> Source:
        if self._steps.source is not None:
            return self._steps.source
        index = chunk_index(item.passages, self._settings.chunking)
        if not index.chunks:
            raise UnscoredError(Outcome.UNREADABLE, NO_TEXTS)
        return LocalSource(index)

    async def _aspects(self, item: MetricItem) -> tuple[str, ...]:
        aspects = require_reply(await self._steps.aspects.find(item))
        if not aspects:
            raise UnscoredError(Outcome.UNREADABLE, NO_ASPECTS)
        judgments = self._steps.judgments
        if judgments is not None:
            if not judgments.known(item.id):
                raise UnscoredError(Outcome.UNREADABLE, NO_JUDGMENTS)
            unknown = judgments.unknown_aspects(item.id, aspects)
            if unknown:
                reason = f"The judgments contain an unknown aspect of the question: {unknown[0]}."
                raise UnscoredError(Outcome.UNREADABLE, reason)
        return aspects

    async def _claims(self, item: MetricItem) -> tuple[Claim, ...]:
        if declines(item.answer, item.question):
            return ()
        return await claims_of(item, self._steps.claims)


def _state(entry: Grounded) -> str:
    return "undecided" if entry.undecided else "grounded" if entry.support is not None else "unsupported"


def _claims(grounded: Sequence[Grounded], supported: Sequence[Grounded], alignment: Alignment) -> list[Json]:
    aspects: dict[str, list[int]] = {}
    for place, numbers in alignment.claims.items():
        for number in numbers:
            aspects.setdefault(supported[number].claim.id, []).append(place)
    return [
        {
            "id": entry.claim.id,
            "text": entry.claim.text,
            "grounded": None if entry.undecided else entry.support is not None,
            "passage": None if entry.support is None else entry.support.id,
            "evidence": None if entry.support is None else entry.support.text[:MAX_EVIDENCE],
            "aspects": aspects.get(entry.claim.id, []),
            **({"undecided": entry.undecided} if entry.undecided else {}),
        }
        for entry in grounded
    ]


def _aspects(aspects: Sequence[str], supported: Sequence[Grounded], alignment: Alignment) -> list[Json]:
    rows: list[Json] = []
    for place, text in enumerate(aspects):
        covering = [supported[number] for number in alignment.claims.get(place, ())]
        supports = [entry.support.id for entry in covering if entry.support is not None]
        rows.append(
            {
                "text": text,
                "covered": bool(covering),
                "claims": [entry.claim.id for entry in covering],
                "passages": list(dict.fromkeys(supports)),
            }
        )
    return rows


def build(
    name: str, *, runner: TaskRunner | None, options: Mapping[str, Json], source: Source | None = None
) -> Metric:
    """Build `coverage-icat-m`, `-s` or `-a`; without a runner, the embedded version."""
    variant = Variant(name)
    settings = read_options(CoverageSettings, variant.value, options)
    _ = settings.chunking  # Chunks must advance.
    if settings.judgments and variant is not Variant.M:
        message = f"The metric {variant.value} takes no judgments."
        raise SpecError(message, advice=f"Leave them out, or choose {Variant.M.value}.")
    support: Support
    if settings.nli:
        support = LlmSupport(open_nli(settings.nli))
    else:
        support = LexicalSupport() if runner is None else LlmSupport(LlmRelations(runner))
    aspects: AspectSource = SetAspects()
    if variant is Variant.A:
        maximum = settings.aspects
        aspects = (
            LeadingStatements(maximum=maximum) if runner is None else LlmAspects(runner, maximum=maximum)
        )
    judgments = AspectJudgments.of(settings.judgments) if variant is Variant.M else None
    aligner: Aligner = EmbeddedAligner() if runner is None else LlmAligner(runner)
    if judgments is not None:
        aligner = JudgedAligner(judgments)
    metric = Icat(
        variant,
        Steps(
            claims=steps_of(runner),
            support=support,
            aspects=aspects,
            aligner=aligner,
            source=source,
            judgments=judgments,
        ),
        settings,
    )
    relater = open_nli(settings.nli).name if settings.nli else ""
    return GuardedMetric(metric, relater=relater) if runner is None else metric
