"""Why a system has its rank: facts missed, doubtful claims, sub-questions lost."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from arena.services.accounts.auth import PUBLIC, Caller
from arena.services.boards.metric_columns import BoardMetric, board_metrics
from arena.services.evidence.claims import read_claims
from arena.services.evidence.missed_facts import MOST_SHOWN, OVERALL, Missed, missed_facts
from arena.services.metrics.factory import EMBEDDED
from arena.services.rounds.models import entrants_of
from arena.services.rounds.visibility import RoundAccess
from data.records import Round, Score
from data.store import Store
from data.store.boards.scores import ScoredAnswer
from judges.metrics.context.diagnosis import Losses, losses_of, total
from judges.metrics.factuality.measures import Label
from judges.metrics.factuality.report import FactualitySummary, summarise

COMPREHENSIVENESS = "comprehensiveness-nli"
FACTUALITY = "factuality-fr3"
CONTEXT, ANSWER = "context-crux", "answer-crux"
MOST_ANSWERS = 3_000
"""Details of so many answers a system are read at most: they are large, and a page must come soon."""
NO_SHARED = "No answer of this system has both a context score and an answer score."


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtfulClaim:
    """A claim of the system with a probability of being true below 0.5, and the reason."""

    question: str
    domain: str
    text: str
    posterior: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Weaknesses:
    """What a system page shows of why.

    Attributes:
        doubtful: Its least credible claims, the least first.
        factuality: Precision, recall@K and F1@K of its answers; None where none was scored.
        losses: By domain and overall: sub-questions lost in retrieval or in writing.
        no_losses: Why there are no losses; empty where there are.
    """

    metrics: tuple[BoardMetric, ...]
    missed: Missed
    doubtful: tuple[DoubtfulClaim, ...]
    labels: Mapping[Label, int]
    factuality: FactualitySummary | None
    losses: Mapping[str, Losses]
    no_losses: str
    answers: int


class WeaknessService:
    """Use cases of teams that ask what to improve."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of(self, round_name: str, system: str, *, caller: Caller = PUBLIC) -> Weaknesses:
        """What a system's answers in a round lack, as far as the caller may see them.

        Raises:
            NotFoundError: There is no such round.
        """
        round_ = self._store.rounds.get(round_name)
        seen = RoundAccess(self._store, caller, round_)
        numbers = self._submission_ids(round_)
        submission_id = numbers.get(system) if seen.answers_of(system) else None
        metrics = board_metrics(self._store, round_.set_name)
        # What an answer misses is quoted from the reference.
        missed = Missed() if submission_id is None or seen.hides_references else self._missed(system, numbers)
        doubtful, labels, answers = self._doubtful(submission_id)
        losses = self._losses(submission_id)
        reasons = [
            f"The metric {metric.name} is not computed: {metric.missing}."
            for metric in metrics
            if metric.missing
        ]
        about = [reason for reason in reasons if CONTEXT in reason or ANSWER in reason]
        return Weaknesses(
            metrics=metrics,
            missed=missed,
            doubtful=doubtful,
            labels=labels,
            factuality=None if submission_id is None else self._factuality(system, numbers),
            losses=losses,
            no_losses="" if losses else (about[0] if about else self._why_no_losses(submission_id)),
            answers=answers,
        )

    def _doubtful(
        self, submission_id: int | None
    ) -> tuple[tuple[DoubtfulClaim, ...], Mapping[Label, int], int]:
        labels: Counter[Label] = Counter()
        doubtful: list[DoubtfulClaim] = []
        answers = 0
        for score in self._details(submission_id, FACTUALITY):
            answers += 1
            for claim in read_claims(score.details):
                labels[claim.label] += 1
                if claim.label is Label.CONTRADICTED:
                    doubtful.append(
                        DoubtfulClaim(
                            question=score.question_id,
                            domain=score.domain,
                            text=claim.text,
                            posterior=claim.posterior,
                            reason=claim.reason,
                        )
                    )
        least = sorted(doubtful, key=lambda claim: claim.posterior)[:MOST_SHOWN]
        return tuple(least), {label: labels[label] for label in Label}, answers

    def _missed(self, system: str, numbers: Mapping[str, int]) -> Missed:
        details = {name: self._details(number, COMPREHENSIVENESS) for name, number in numbers.items()}
        return missed_facts(system, details)

    def _factuality(self, system: str, numbers: Mapping[str, int]) -> FactualitySummary | None:
        """The system's answers taken together, with K the median number of claims of all answers."""
        scores = {
            name: [_score(scored) for scored in self._details(number, FACTUALITY)]
            for name, number in numbers.items()
        }
        pooled = [score for several in scores.values() for score in several]
        scores_of_system = scores.get(system, [])
        if not any(score.score is not None for score in scores_of_system):
            return None
        return summarise(scores_of_system, k=summarise(pooled).k)

    def _losses(self, submission_id: int | None) -> Mapping[str, Losses]:
        contexts = {score.question_id: score for score in self._details(submission_id, CONTEXT)}
        by_domain: dict[str, list[Losses]] = defaultdict(list)
        for score in self._details(submission_id, ANSWER) if contexts else ():
            context = contexts.get(score.question_id)
            losses = None if context is None else losses_of(_score(context), _score(score))
            if losses is not None:
                by_domain[OVERALL].append(losses)
                by_domain[score.domain].append(losses)
        return {domain: total(several) for domain, several in by_domain.items()}

    def _why_no_losses(self, submission_id: int | None) -> str:
        """The reason that the context scores give themselves, where they give one."""
        for score in self._details(submission_id, CONTEXT):
            if score.details.get("reason"):
                return str(score.details["reason"])
        return NO_SHARED

    def _details(self, number: int | None, metric: str) -> Iterable[ScoredAnswer]:
        if number is None:
            return
        stored = self._store.scores.detailed([number], metric=metric, judge=EMBEDDED, former=True)
        for at, score in enumerate(stored):
            if at >= MOST_ANSWERS:
                return
            yield score

    def _submission_ids(self, round_: Round) -> Mapping[str, int]:
        """The round's systems and the reference, by the store's numbers of their submissions."""
        reference = self._store.submissions.reference(round_.set_name)
        return {
            submission.system: submission.id for submission in (*entrants_of(self._store, round_), reference)
        }


def _score(scored: ScoredAnswer) -> Score:
    return Score(
        id=scored.question_id,
        metric=scored.metric,
        outcome=scored.outcome,
        score=scored.score,
        details=scored.details,
    )
