"""Reports to teams: where a judged submission loses, what it misses, and what to read first."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from arena.services.accounts.auth import Caller
from arena.services.accounts.redaction import submission_visibility
from arena.services.accounts.visibility import Kind, Visibility
from arena.services.evidence.citations import CitationReport, citation_report
from arena.services.evidence.fixes import Fixes, FixService
from arena.services.evidence.missed_facts import MissedFact
from arena.services.evidence.systems import ProfileService
from arena.services.evidence.versions import judged_round
from arena.services.evidence.weaknesses import DoubtfulClaim, WeaknessService
from arena.services.rounds.models import entrants_of
from arena.services.rounds.visibility import RoundAccess
from arena.services.submissions.eligibility import no_submission
from arena.services.submissions.status import StatusReader
from data.errors import ConflictError
from data.percent import percent
from data.records import Outcome, Round, Submission, SubmissionState
from data.store import Store
from data.store.rounds.question_stats import QuestionRecord
from judges.pairwise.cleaning import clean

MOST_LISTED = 5
LONGEST = 2_000


def readable(rationale: str, *, side: str) -> str:
    """The reasons in words, at most 2,000 characters.

    `side` is the reader's own answer, `a` or `b`.
    """
    try:
        reasons = json.loads(rationale)
        ours, theirs = reasons[side], reasons["b" if side == "a" else "a"]
        text = "\n".join(_sentences(str(reasons["yardstick"]), ours, theirs))
    except (ValueError, KeyError, TypeError, AttributeError):
        text = rationale
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _sentences(
    ground_truth: str, ours: Mapping[str, Any] | str, theirs: Mapping[str, Any] | str
) -> Iterator[str]:
    if isinstance(ours, str):
        yield f"Your answer: {ours}"
        return
    other = (
        ""
        if isinstance(theirs, str)
        else f", the other answer {percent(float(theirs['coverage']), decimals=0)}"
    )
    covers = f"your answer covers {percent(float(ours['coverage']), decimals=0)} of the facts"
    yield f"Held against the {ground_truth}, {covers}{other}."
    for title, sign, kind in (("It misses", "–", "missed"), ("It contradicts", "✗", "contradicted")):
        count = int(ours["counts"][kind])
        if count:
            listed = ours[kind][:MOST_LISTED]
            yield f"{title} {count}" + (", among them:" if count > len(listed) else ":")
            yield from (f"{sign} {fact['text']}" for fact in listed)


WORST = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainRecord:
    """How a submission's battles in one domain ended, and its answers there.

    `no_answers` of its answers say that none was found; `field_words` is the median over the other systems'
    medians, None where there are none.
    """

    domain: str
    label: str
    wins: int
    ties: int
    losses: int
    undecided: int
    answers: int
    no_answers: int
    median_words: float | None
    field_words: float | None

    @property
    def win_rate(self) -> float | None:
        """Wins over decided battles, 0–1; None without any."""
        decided = self.wins + self.ties + self.losses
        return self.wins / decided if decided else None

    @property
    def loss_rate(self) -> float | None:
        """Losses over decided battles, 0–1; None without any."""
        decided = self.wins + self.ties + self.losses
        return self.losses / decided if decided else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LostBattle:
    """A lost battle with what the judge wrote."""

    opponent: str
    rationale: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstQuestion:
    """A question on which more was lost than won."""

    record: QuestionRecord
    lost: tuple[LostBattle, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a team reads of one submission in one round.

    Attributes:
        domains: The worst first.
        fixes: What to fix first, by the points that it would gain.
        doubtful: Its least credible claims, the least first.
        source: Who scored the claims, and how often that is right, in a sentence; empty where nobody did.
        contradictions: The same of the facts that it contradicts.
        citations: What its citations support; None where they were not scored.
    """

    submission: Submission
    round_name: str
    attempt: int | None
    attempts: int
    domains: tuple[DomainRecord, ...]
    fixes: Fixes
    worst: tuple[WorstQuestion, ...]
    missed: tuple[MissedFact, ...]
    missed_in_all: int
    doubtful: tuple[DoubtfulClaim, ...]
    source: str
    contradictions: str
    citations: CitationReport | None

    @property
    def no_answer_share(self) -> float | None:
        """Share of its answers that say that none was found, 0–1; None without answers."""
        answers = sum(domain.answers for domain in self.domains)
        return sum(domain.no_answers for domain in self.domains) / answers if answers else None


class ReportService:
    """Use cases of teams that want to know what to improve."""

    def __init__(
        self, store: Store, profiles: ProfileService, weaknesses: WeaknessService, fixes: FixService
    ) -> None:
        self._store = store
        self._profiles = profiles
        self._fixes = fixes
        self._weaknesses = weaknesses

    def of(self, number: int, *, round_name: str | None = None, caller: Caller) -> Report:
        """The report of a submission in the newest judged round that has it, or in a named one.

        A team reads of published rounds; organisers of any that was judged.

        Raises:
            NotFoundError: No submission has this number, or its report is not for the caller.
            ConflictError: It is withdrawn, or not judged in a round that the caller may see.
            RetractedError: The boards that it is on were retracted, and the caller is no organiser.
        """
        submission = self._store.submissions.get(number)
        statuses = StatusReader(self._store, submission.set_name)
        published = statuses.published(submission)
        if (
            submission_visibility(caller, submission, published=published, kind=Kind.REPORT)
            is not Visibility.FULL
        ):
            raise no_submission(number)
        if submission.state is SubmissionState.WITHDRAWN:
            raise ConflictError(f"Submission {number} is withdrawn.", advice="Its texts are not shown.")
        round_ = judged_round(self._store, submission, round_name, caller)
        seen = RoundAccess(self._store, caller, round_)
        profile = self._profiles.of(round_.name, submission.system, caller=caller)
        weak = self._weaknesses.of(round_.name, submission.system, caller=caller)
        status = statuses.of(submission)
        return Report(
            submission=submission,
            round_name=round_.name,
            attempt=status.attempt,
            attempts=status.attempts,
            domains=self._domains(submission, round_, profile.records),
            fixes=self._fixes.of(round_.name, submission.system, caller=caller),
            worst=tuple(
                self._worst(round_, submission.system, record, seen) for record in profile.worst[:WORST]
            ),
            missed=weak.missed.facts,
            missed_in_all=weak.missed.in_all,
            doubtful=weak.doubtful,
            source="" if weak.source is None else weak.source.sentence,
            contradictions=weak.missed.contradictions,
            citations=citation_report(self._store, submission),
        )

    def _domains(
        self, submission: Submission, round_: Round, records: tuple[QuestionRecord, ...]
    ) -> tuple[DomainRecord, ...]:
        summary = self._store.sets.summary(submission.set_name)
        counts = self._store.submissions.domain_counts(submission.id)
        words = self._words(submission.id)
        others = [
            self._words(other.id)
            for other in entrants_of(self._store, round_)
            if other.id != submission.id and other.state is SubmissionState.ACCEPTED
        ]
        domains = []
        for domain, label in summary.domains.items():
            in_domain = [record for record in records if record.domain == domain]
            answers, silent = counts.get(domain, (0, 0))
            peers = [medians[domain] for medians in others if domain in medians]
            domains.append(
                DomainRecord(
                    domain=domain,
                    label=label,
                    wins=sum(record.wins for record in in_domain),
                    ties=sum(record.ties for record in in_domain),
                    losses=sum(record.losses for record in in_domain),
                    undecided=sum(record.undecided for record in in_domain),
                    answers=answers,
                    no_answers=silent,
                    median_words=words.get(domain),
                    field_words=median(peers) if peers else None,
                )
            )
        return tuple(sorted(domains, key=lambda row: -(row.loss_rate or 0.0)))

    def _words(self, number: int) -> Mapping[str, float]:
        """Median length of a submission's answers by domain, in words after cleaning."""
        lengths: dict[str, list[int]] = defaultdict(list)
        for fact in self._store.submissions.facts(number):
            lengths[fact.domain].append(len(clean(fact.text).split()))
        return {domain: float(median(values)) for domain, values in lengths.items()}

    def _worst(self, round_: Round, system: str, record: QuestionRecord, seen: RoundAccess) -> WorstQuestion:
        lost = []
        for evidence in map(seen.evidence, self._store.verdicts.of_question(round_.name, record.id)):
            battle = evidence.battle
            sides = {battle.system_a: "a", battle.system_b: "b"}
            if system not in sides or battle.preference is None or battle.preference == "tie":
                continue
            if battle.preference != sides[system]:
                reasons = [
                    judgment.rationale
                    for judgment in evidence.judgments
                    if judgment.outcome is Outcome.JUDGED
                ]
                opponent = battle.system_b if battle.system_a == system else battle.system_a
                text = readable(reasons[0], side=sides[system]) if reasons else ""
                lost.append(LostBattle(opponent=opponent, rationale=text))
        return WorstQuestion(record=record, lost=tuple(lost))
