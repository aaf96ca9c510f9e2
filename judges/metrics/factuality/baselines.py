"""Baselines of FactReasoner, which judge each claim with its own contexts.

FactScore has the labels supported and not supported; FactVerify, VeriScore and the direct prompt also have
undecided. All use the same claims and contexts as FactReasoner.

Source: FactReasoner, section 4 and Tables 31 to 34.
"""

import asyncio
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import fsum, isclose, log

from data.models import Json, MetricItem, Outcome, Passage, Score, unscored
from judges.llm.requests import CallFailure
from judges.llm.tasks import TaskRunner
from judges.llm.templates import Input
from judges.metrics.comprehensiveness.graph import UnscoredError
from judges.metrics.factuality.contexts import Context
from judges.metrics.factuality.evidence import Claim, EvidenceSource, require
from judges.metrics.factuality.measures import Label, count
from judges.metrics.factuality.report import count_details
from judges.metrics.factuality.tasks import DIRECT, FACTSCORE, FACTVERIFY, VERISCORE, FactualitySettings
from judges.metrics.relations.model import Entailment, Pair, Related, RelationModel
from judges.metrics.shortening import cut_details, surface_of, with_engine


class Assessor(ABC):
    """Scores an answer by the share of its supported claims."""

    def __init__(self, kind: str, *, engine: str = "") -> None:
        self.name = f"factuality-{kind}"
        self._engine = engine

    async def score(self, item: MetricItem) -> Score:
        """Score one answer."""
        if not self._engine:
            return await self.score_claims(item, None)
        surface = surface_of(item)
        return surface.weigh(await self.score_claims(replace(item, answer=surface.answer), None))

    async def score_claims(self, item: MetricItem, claims: Sequence[str] | None) -> Score:
        """Score the claims of an answer, or `claims` instead."""
        try:
            details, value = await self._details(item, claims)
        except UnscoredError as stop:
            score = unscored(item, self.name, stop.outcome, stop.reason)
        else:
            score = Score(id=item.id, metric=self.name, outcome=Outcome.JUDGED, score=value, details=details)
        return with_engine(score, self._engine) if self._engine else score

    @abstractmethod
    async def _details(self, item: MetricItem, claims: Sequence[str] | None) -> tuple[dict[str, Json], float]:
        """Return details and score."""


class BaselineAssessor(StrEnum):
    """The prompt-based assessors."""

    FACTSCORE = "factscore"
    FACTVERIFY = "factverify"
    VERISCORE = "veriscore"
    DIRECT = "direct"


@dataclass(frozen=True, slots=True)
class Ruling:
    """Verdict of an assessor on a claim, with an optional reason."""

    label: Label
    reason: str = ""


class LlmVerifier:
    """Judges claims with their contexts, one request per claim."""

    def __init__(self, baseline: BaselineAssessor, runner: TaskRunner) -> None:
        self._baseline = baseline
        self._runner = runner

    async def rule(
        self, claims: Sequence[tuple[Claim, Sequence[Context]]], *, question: str
    ) -> list[Ruling | CallFailure]:
        """Ask about all claims concurrently."""
        return list(
            await asyncio.gather(*(self._ask(claim, contexts, question) for claim, contexts in claims))
        )

    async def _ask(self, claim: Claim, contexts: Sequence[Context], question: str) -> Ruling | CallFailure:
        passages: list[Passage] = [context.passage for context in contexts]
        inputs: dict[str, Input] = {"question": question, "passages": passages, "claim": claim.text}
        if self._baseline is BaselineAssessor.FACTSCORE:
            verdict = await self._runner.run(FACTSCORE, inputs)
            if isinstance(verdict, CallFailure):
                return verdict
            return Ruling(Label.SUPPORTED if verdict.answer else Label.CONTRADICTED)
        task = {
            BaselineAssessor.FACTVERIFY: FACTVERIFY,
            BaselineAssessor.VERISCORE: VERISCORE,
            BaselineAssessor.DIRECT: DIRECT,
        }[self._baseline]
        reply = await self._runner.run(task, inputs)
        if isinstance(reply, CallFailure):
            return reply
        return Ruling(Label(reply.finding.value), reply.reasons)


class LexicalVerifier:
    """Decides by a relation model with the strictness of each baseline's prompt.

    FactScore: any support is enough. FactVerify: the stronger side. VeriScore: one side without the other.
    Direct: all passages of both sides, weighed by their probabilities.
    """

    def __init__(self, baseline: BaselineAssessor, relations: RelationModel) -> None:
        self._baseline = baseline
        self._relations = relations

    async def rule(
        self, claims: Sequence[tuple[Claim, Sequence[Context]]], *, question: str
    ) -> list[Ruling | CallFailure]:
        """Rule on every claim."""
        pairs = [Pair(context.passage.text, claim.text) for claim, contexts in claims for context in contexts]
        related = iter(await self._relations.relate(pairs, question=question))
        return [self._ruling([(context, next(related)) for context in contexts]) for _, contexts in claims]

    def _ruling(self, related: Sequence[tuple[Context, Related | CallFailure]]) -> Ruling:
        best: Mapping[Entailment, tuple[float, Context]] = {
            stance: max(
                (
                    (relation.probability, context)
                    for context, relation in related
                    if isinstance(relation, Related) and relation.stance is stance
                ),
                key=lambda scored: scored[0],
            )
            for stance in {relation.stance for _, relation in related if isinstance(relation, Related)}
        }
        support, conflict = best.get(Entailment.ENTAILMENT), best.get(Entailment.CONTRADICTION)
        reason = "; ".join(
            f"{verb} {side[1].passage.id} ({side[0]:.2f})"
            for verb, side in (("supported by", support), ("contradicted by", conflict))
            if side is not None
        )
        if self._baseline is BaselineAssessor.DIRECT:
            return Ruling(_weighed([relation for _, relation in related]), reason)
        return Ruling(self._label(support and support[0], conflict and conflict[0]), reason)

    def _label(self, support: float | None, conflict: float | None) -> Label:
        if self._baseline is BaselineAssessor.FACTSCORE:
            return Label.SUPPORTED if support is not None else Label.CONTRADICTED
        if support is None or conflict is None:
            label = Label.SUPPORTED if support is not None else Label.CONTRADICTED
            return Label.UNDECIDED if support is conflict else label
        if self._baseline is BaselineAssessor.VERISCORE or support == conflict:
            return Label.UNDECIDED
        return Label.SUPPORTED if support > conflict else Label.CONTRADICTED


def _weighed(relations: Sequence[Related | CallFailure]) -> Label:
    """Combine passages as independent evidence by the sum of their log-odds."""
    signs = {Entailment.ENTAILMENT: 1.0, Entailment.CONTRADICTION: -1.0}
    odds = fsum(
        signs[relation.stance] * log(relation.probability / (1 - relation.probability))
        for relation in relations
        if isinstance(relation, Related) and relation.stance in signs
    )
    if isclose(odds, 0.0, abs_tol=1e-9):
        return Label.UNDECIDED
    return Label.SUPPORTED if odds > 0 else Label.CONTRADICTED


class RivalAssessor(Assessor):
    """Scores an answer by the share of claims that a baseline supports.

    Claims with unreadable rulings are counted and excluded.
    """

    def __init__(
        self,
        baseline: BaselineAssessor,
        *,
        evidence: EvidenceSource,
        verifier: LlmVerifier | LexicalVerifier,
        settings: FactualitySettings,
        engine: str = "",
    ) -> None:
        super().__init__(baseline, engine=engine)
        self._evidence = evidence
        self._verifier = verifier
        self._settings = settings

    async def _details(self, item: MetricItem, claims: Sequence[str] | None) -> tuple[dict[str, Json], float]:
        evidence = await self._evidence.collect(item, claims)
        claim_contexts = list(zip(evidence.claims, evidence.contexts.by_claim, strict=True))
        rulings = await self._verifier.rule(claim_contexts, question=item.question)
        for ruling in rulings:
            if isinstance(ruling, CallFailure):
                require(ruling)
        valid = [ruling for ruling in rulings if isinstance(ruling, Ruling)]
        failures = Counter(ruling.outcome.value for ruling in rulings if isinstance(ruling, CallFailure))
        if not valid:
            raise UnscoredError(
                Outcome(failures.most_common(1)[0][0]), "All rulings on claims are unreadable."
            )
        counts = count([ruling.label for ruling in valid])
        details = count_details(counts, self._settings)
        details |= {
            "claims": [
                _claim(claim, contexts, ruling)
                for (claim, contexts), ruling in zip(claim_contexts, rulings, strict=True)
            ],
            "unanswered": dict(failures),
            **cut_details(evidence.cut),
        }
        return details, counts.supported / counts.claims


def _claim(claim: Claim, contexts: Sequence[Context], ruling: Ruling | CallFailure) -> dict[str, Json]:
    label: Json = ruling.label.value if isinstance(ruling, Ruling) else None
    return {
        "id": claim.id,
        "text": claim.text,
        "label": label,
        "reason": ruling.reason if isinstance(ruling, Ruling) else ruling.detail,
        "passages": [context.passage.id for context in contexts],
    }
