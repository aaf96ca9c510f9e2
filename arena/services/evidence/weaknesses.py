"""Weaknesses of a system: missed facts, doubtful claims, losses."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from arena.services.accounts.auth import PUBLIC, Caller
from arena.services.boards.metric_columns import BoardMetric, board_metrics
from arena.services.evidence import highlights
from arena.services.rounds.models import entrants_of
from arena.services.rounds.visibility import RoundAccess
from data.models import Round, written_by_people
from data.store import Store
from data.store.scores import EMBEDDED, ScoredAnswer
from judges.metrics.comprehensiveness import COMPREHENSIVENESS
from judges.metrics.context import ANSWER, CONTEXT
from judges.metrics.context.diagnosis import Losses, losses_of, total
from judges.metrics.factuality import FACTUALITY
from judges.metrics.factuality.measures import EVEN, UNDECIDED
from judges.metrics.factuality.report import FactualitySummary, summarise
from judges.metrics.reference import REFERENCE_COVERAGE
from judges.metrics.reference.facts import states_fact
from judges.metrics.relations.model import Scorer, Verdict

MAX_SHOWN = 12
OVERALL = "overall"
LISTED = frozenset({highlights.Standing.BASIS, highlights.Standing.CONTRADICTED})
STATED = frozenset({highlights.Standing.COVERED, highlights.Standing.PARTLY})


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedFact:
    """Fact of the reference or statement of the passages that the system's answer misses or contradicts.

    `covered_by` and `missed_by` count the other answers.
    """

    question: str
    domain: str
    text: str
    passages: tuple[str, ...]
    contradicted: bool
    covered_by: int
    missed_by: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedShare:
    """Share of a domain's statements that a system misses; `others` is the pooled share of other systems."""

    missed: int
    statements: int
    others: float | None

    @property
    def share(self) -> float | None:
        """Missed share, 0–1; None without statements."""
        return self.missed / self.statements if self.statements else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """Facts that a system misses, sorted by the number of systems that cover them.

    `in_all` counts implied statements too; `contradictions` describes the accuracy of the scorer that found
    contradicted facts; `of_reference` is True if the facts come from references, not from passages.
    """

    facts: tuple[MissedFact, ...] = ()
    in_all: int = 0
    by_domain: Mapping[str, MissedShare] = field(default_factory=dict)
    contradictions: str = ""
    of_reference: bool = False


def missed_facts(system: str, scores: Mapping[str, Iterable[ScoredAnswer]]) -> Missed:
    """Find the facts that a system misses.

    They are sorted by the number of other systems that cover them, of passages that state them, and of other
    systems that miss them. Only the basis, which implies other missing statements, is listed. `scores` are
    detailed scores of one metric by system.
    """
    facts: Counter[tuple[str, str, bool]] = Counter()
    domains: Counter[tuple[bool, str, bool]] = Counter()
    own: dict[tuple[str, str], tuple[ScoredAnswer, highlights.StatementView]] = {}
    for name, scored in scores.items():
        for score in scored:
            statements = highlights.read_statements(score.details)
            for statement in statements:
                fact, covered = (score.question_id, statement.text), statement.standing in STATED
                domains.update((name == system, domain, covered) for domain in (score.domain, OVERALL))
                if name != system:
                    facts[*fact, covered] += 1
                # List the single statement of a reference even if it is only a name.
                elif statement.standing in LISTED and (len(statements) == 1 or states_fact(statement.text)):
                    own[fact] = (score, statement)
    missed = [
        MissedFact(
            question=score.question_id,
            domain=score.domain,
            text=statement.text,
            passages=statement.passages,
            contradicted=statement.standing is highlights.Standing.CONTRADICTED,
            covered_by=facts[*fact, True],
            missed_by=facts[*fact, False],
        )
        for fact, (score, statement) in own.items()
    ]
    top = sorted(missed, key=lambda row: (-row.covered_by, -len(row.passages), row.missed_by))[:MAX_SHOWN]
    contradicting = [own[row.question, row.text][0] for row in top if row.contradicted]
    return Missed(
        facts=tuple(top),
        contradictions=highlights.source_of(contradicting[0]).sentence if contradicting else "",
        in_all=domains[True, OVERALL, False],
        by_domain={domain: _share(domains, domain) for is_own, domain, _ in domains if is_own},
    )


def _share(domains: Mapping[tuple[bool, str, bool], int], domain: str) -> MissedShare:
    missed, others = domains[True, domain, False], domains[False, domain, False]
    whole = others + domains[False, domain, True]
    return MissedShare(
        missed=missed,
        statements=missed + domains[True, domain, True],
        others=others / whole if whole else None,
    )


MAX_ANSWERS = 3_000
"""Maximum number of answers per system whose details are read, since these are large."""
NO_SHARED = "No answer of this system has both a context score and an answer score."


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtfulClaim:
    """Claim of the system with a probability of being true below 0.5."""

    question: str
    domain: str
    text: str
    posterior: float
    verdict: Verdict
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Weaknesses:
    """Weaknesses on a system's page.

    Attributes:
        doubtful: Its least credible claims, least credible first.
        verdicts: Counts of its claims by verdict.
        source: Scorer of its claims with its accuracy, if any.
        factuality: Precision, recall@K and F1@K of its answers, if scored.
        losses: Sub-questions lost in retrieval or writing, by domain and overall.
        no_losses: Reason for missing `losses`.
    """

    metrics: tuple[BoardMetric, ...]
    missed: Missed
    doubtful: tuple[DoubtfulClaim, ...]
    verdicts: Mapping[Verdict, int]
    source: Scorer | None
    factuality: FactualitySummary | None
    losses: Mapping[str, Losses]
    no_losses: str
    answers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claims:
    """Checked claims of a system."""

    doubtful: tuple[DoubtfulClaim, ...]
    verdicts: Mapping[Verdict, int]
    source: Scorer | None
    answers: int


class WeaknessService:
    """Weaknesses for teams that want to improve."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of(self, round_name: str, system: str, *, caller: Caller = PUBLIC) -> Weaknesses:
        """Return the weaknesses of a system in a round as the caller may see them."""
        round_ = self._store.rounds.get(round_name)
        access = RoundAccess(self._store, caller, round_)
        numbers = self._submission_ids(round_)
        submission_id = numbers.get(system) if access.scores_of(system) else None
        metrics = board_metrics(self._store, round_.set_name)
        # Missed facts quote the reference.
        hidden = submission_id is None or access.hides_references
        missed = Missed() if hidden else self._missed(round_, system, numbers)
        claims = self._claims(submission_id)
        losses = self._losses(submission_id)
        reasons = [
            f"The metric {metric.info.name} is not computed: {metric.missing}."
            for metric in metrics
            if metric.missing
        ]
        about = [reason for reason in reasons if CONTEXT in reason or ANSWER in reason]
        return Weaknesses(
            metrics=metrics,
            missed=missed,
            doubtful=claims.doubtful if access.answers_of(system) else (),
            verdicts=claims.verdicts,
            source=claims.source,
            factuality=None if submission_id is None else self._factuality(system, numbers),
            losses=losses,
            no_losses="" if losses else (about[0] if about else self._why_no_losses(submission_id)),
            answers=claims.answers,
        )

    def _claims(self, submission_id: int | None) -> _Claims:
        verdicts: Counter[Verdict] = Counter()
        doubtful: list[DoubtfulClaim] = []
        scorer: Scorer | None = None
        answers = 0
        for score in self._details(submission_id, FACTUALITY):
            answers += 1
            for claim in highlights.read_claims(score.details):
                scorer = scorer or highlights.source_of(score)
                verdicts[claim.verdict] += 1
                if claim.posterior < UNDECIDED - EVEN and states_fact(claim.text):
                    doubtful.append(
                        DoubtfulClaim(
                            question=score.question_id,
                            domain=score.domain,
                            text=claim.text,
                            posterior=claim.posterior,
                            verdict=claim.verdict,
                            reason=claim.reason,
                        )
                    )
        least = sorted(doubtful, key=lambda claim: claim.posterior)[:MAX_SHOWN]
        counts = {verdict: verdicts[verdict] for verdict in Verdict}
        return _Claims(doubtful=tuple(least), verdicts=counts, source=scorer, answers=answers)

    def _missed(self, round_: Round, system: str, numbers: Mapping[str, int]) -> Missed:
        """Find the missed facts of human-written references, else of passages."""
        questions = {question for _, question in self._store.battles.questions(round_.id)}

        def scored(metric: str) -> dict[str, list[ScoredAnswer]]:
            return {
                name: [row for row in self._details(number, metric) if row.question_id in questions]
                for name, number in numbers.items()
            }

        if written_by_people(self._store.sets.summary(round_.set_name).reference_by):
            details = scored(REFERENCE_COVERAGE)
            if details.get(system):
                return replace(missed_facts(system, details), of_reference=True)
        return missed_facts(system, scored(COMPREHENSIVENESS))

    def _factuality(self, system: str, numbers: Mapping[str, int]) -> FactualitySummary | None:
        scores = {
            name: [scored.as_score() for scored in self._details(number, FACTUALITY)]
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
            losses = None if context is None else losses_of(context.as_score(), score.as_score())
            if losses is not None:
                by_domain[OVERALL].append(losses)
                by_domain[score.domain].append(losses)
        return {domain: total(several) for domain, several in by_domain.items()}

    def _why_no_losses(self, submission_id: int | None) -> str:
        """Return the reason that the context scores give, if any."""
        for score in self._details(submission_id, CONTEXT):
            if score.details.get("reason"):
                return str(score.details["reason"])
        return NO_SHARED

    def _details(self, number: int | None, metric: str) -> Iterable[ScoredAnswer]:
        if number is None:
            return
        stored = self._store.scores.detailed([number], metric=metric, judge=EMBEDDED)
        for at, score in enumerate(stored):
            if at >= MAX_ANSWERS:
                return
            yield score

    def _submission_ids(self, round_: Round) -> Mapping[str, int]:
        reference = self._store.submissions.reference(round_.set_name)
        return {
            submission.system: submission.id for submission in (*entrants_of(self._store, round_), reference)
        }
