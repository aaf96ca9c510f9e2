"""Weaknesses of a system: facts that it missed, and questions that it lost."""

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

MOST_SHOWN = 12
OVERALL = "overall"
LISTED = frozenset({highlights.Standing.BASIS, highlights.Standing.CONTRADICTED})
STATED = frozenset({highlights.Standing.COVERED, highlights.Standing.PARTLY})


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedFact:
    """A fact of the reference, or a statement of the passages, that the system's answer misses.

    It is contradicted where the answer says something else instead; `covered_by` other answers to the
    question make the statement, `missed_by` do not.
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
    """Share of the statements of a domain's passages that a system misses.

    `statements` are those over its scored answers; `others` is the share, 0–1, that the other systems miss,
    all their answers together, None without any.
    """

    missed: int
    statements: int
    others: float | None

    @property
    def share(self) -> float | None:
        """The share that is missed, 0–1; None where there are no statements."""
        return self.missed / self.statements if self.statements else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """Missed facts of a system.

    `facts` are what it would have to add, those that most others have first; `in_all` counts statements that
    follow from others too. Where one of the facts is contradicted, `contradictions` says who told so, and how
    often that scorer is right. `of_reference` tells facts of the references from statements of passages.
    """

    facts: tuple[MissedFact, ...] = ()
    in_all: int = 0
    by_domain: Mapping[str, MissedShare] = field(default_factory=dict)
    contradictions: str = ""
    of_reference: bool = False


def missed_facts(system: str, scores: Mapping[str, Iterable[ScoredAnswer]]) -> Missed:
    """Find what a system misses, compared with the others.

    On one set a fact belongs to one question, so a system misses it once: what can be counted is how many
    others have it. Facts come in this order: covered by most others, made by most passages, missed by fewest
    others. Listed are those of the basis, which imply whatever else is missing; what is covered in part is
    not missed, and what states no fact is not listed. `scores` are those of one metric with details, by
    system.
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
                # A reference of one name alone still says what it says.
                elif statement.standing in LISTED and (len(statements) == 1 or states_fact(statement.text)):
                    own[fact] = (score, statement)
    found = [
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
    shown = sorted(found, key=lambda one: (-one.covered_by, -len(one.passages), one.missed_by))[:MOST_SHOWN]
    contradicting = [own[one.question, one.text][0] for one in shown if one.contradicted]
    return Missed(
        facts=tuple(shown),
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


MOST_ANSWERS = 3_000
"""Details of so many answers a system are read at most: they are large, and a page must come soon."""
NO_SHARED = "No answer of this system has both a context score and an answer score."


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtfulClaim:
    """A claim of the system with a probability of being true below 0.5, what to call it, and the reason."""

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
        doubtful: Its least credible claims, the least first.
        verdicts: How many of its claims are called what.
        source: The scorer of its claims with its accuracy; None without one.
        factuality: Precision, recall@K and F1@K of its answers; None where none was scored.
        losses: By domain and overall: sub-questions lost in retrieval or in writing.
        no_losses: Why there are no losses; empty where there are.
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
    """Use cases of teams that ask what to improve."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of(self, round_name: str, system: str, *, caller: Caller = PUBLIC) -> Weaknesses:
        """Collect the weaknesses of a system's answers in a round, as far as the caller may see them."""
        round_ = self._store.rounds.get(round_name)
        seen = RoundAccess(self._store, caller, round_)
        numbers = self._submission_ids(round_)
        submission_id = numbers.get(system) if seen.scores_of(system) else None
        metrics = board_metrics(self._store, round_.set_name)
        # What an answer misses is quoted from the reference.
        hidden = submission_id is None or seen.hides_references
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
            doubtful=claims.doubtful if seen.answers_of(system) else (),
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
        least = sorted(doubtful, key=lambda claim: claim.posterior)[:MOST_SHOWN]
        counts = {verdict: verdicts[verdict] for verdict in Verdict}
        return _Claims(doubtful=tuple(least), verdicts=counts, source=scorer, answers=answers)

    def _missed(self, round_: Round, system: str, numbers: Mapping[str, int]) -> Missed:
        """Find the missed facts of the round's questions: of human-written references, else of passages."""
        asked = {question for _, question in self._store.battles.questions(round_.id)}

        def scored(metric: str) -> dict[str, list[ScoredAnswer]]:
            return {
                name: [one for one in self._details(number, metric) if one.question_id in asked]
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
        """Return the reason that the context scores give themselves, where they give one."""
        for score in self._details(submission_id, CONTEXT):
            if score.details.get("reason"):
                return str(score.details["reason"])
        return NO_SHARED

    def _details(self, number: int | None, metric: str) -> Iterable[ScoredAnswer]:
        if number is None:
            return
        stored = self._store.scores.detailed([number], metric=metric, judge=EMBEDDED)
        for at, score in enumerate(stored):
            if at >= MOST_ANSWERS:
                return
            yield score

    def _submission_ids(self, round_: Round) -> Mapping[str, int]:
        reference = self._store.submissions.reference(round_.set_name)
        return {
            submission.system: submission.id for submission in (*entrants_of(self._store, round_), reference)
        }
