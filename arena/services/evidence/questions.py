"""Evidence on a question: answers, battles, reasons of verdicts."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from arena.models.results import BattleEvidence, QuestionEvidence, RoundAnswer
from arena.services.accounts.auth import PUBLIC, Caller
from arena.services.rounds.visibility import RoundAccess
from data.models import Answer, BattleRecord, Judgment, Preference, Question, Submission
from data.models import BattleEvidence as StoredEvidence
from data.store import Store
from data.store.scores import ScoredAnswer

SIGNS = {Preference.A: -1.0, Preference.TIE: 0.0, Preference.B: 1.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerView:
    """Answer on a question page, with its wins, ties and losses in the round."""

    system: str
    submission: Submission
    is_reference: bool
    answer: Answer
    wins: int
    ties: int
    losses: int
    scores: tuple[ScoredAnswer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionView:
    """Content of a question page; `notice` is about hidden texts."""

    set_name: str
    domain_label: str
    question: Question
    answers: tuple[AnswerView, ...]
    battles: tuple[StoredEvidence, ...]
    notice: str = ""


class EvidenceService:
    """Evidence on questions.

    Raises:
        NotFoundError: The round is unknown or hidden from the caller, or the question is unknown.
        RetractedError: The round's board is retracted; organisers still see it.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def notice(self, round_name: str, *, caller: Caller = PUBLIC) -> str:
        """Return the notice on a round's hidden texts; empty if there are none."""
        return RoundAccess(self._store, caller, self._store.rounds.get(round_name)).texts.notice

    def question(self, round_name: str, question_id: str, *, caller: Caller = PUBLIC) -> QuestionView:
        """Return a question of a round as the caller may see it, best answer first."""
        store, round_ = self._store, self._store.rounds.get(round_name)
        access, reference = RoundAccess(store, caller, round_), store.submissions.reference(round_.set_name)
        sides = {side.id: side for side in (*access.entrants.values(), reference)}
        question = store.sets.question(round_.set_name, question_id)
        battles = tuple(map(access.evidence, store.verdicts.of_question(round_.name, question_id)))
        scores = tuple(map(access.score, store.scores.of_question(round_.set_name, question_id)))
        answers = []
        for number, answer in store.submissions.to_question(round_.set_name, question_id).items():
            side = sides.get(number)
            if side is None or not access.answers_of(side.system, question):
                continue
            results = Counter(_result(battle, side.system) for battle in battles)
            is_reference = number == reference.id
            view = AnswerView(
                system=side.system,
                submission=side if is_reference else access.submission(side.system) or side,
                is_reference=is_reference,
                answer=answer,
                wins=results[Preference.A],
                ties=results[Preference.TIE],
                losses=results[Preference.B],
                scores=tuple(score for score in scores if score.submission == number),
            )
            answers.append(view)
        return QuestionView(
            set_name=round_.set_name,
            domain_label=access.texts.domains[question.domain],
            question=access.question(question),
            answers=tuple(sorted(answers, key=lambda view: (view.losses - view.wins, view.system))),
            battles=battles,
            notice=access.texts.notice,
        )

    def evidence(self, round_name: str, question_id: str, *, caller: Caller = PUBLIC) -> QuestionEvidence:
        """Return a question as JSON of routes, commands and tools."""
        view = self.question(round_name, question_id, caller=caller)
        return QuestionEvidence.of(
            view.question,
            view,
            round=round_name,
            set=view.set_name,
            answers=[
                RoundAnswer.of(
                    answer,
                    answer=answer.answer.answer,
                    context_ids=[passage.id for passage in answer.answer.contexts],
                )
                for answer in view.answers
            ],
            battles=[BattleEvidence.of(row.battle, judgments=row.judgments) for row in view.battles],
        )


def _result(evidence: StoredEvidence, system: str) -> Preference | None:
    battle = evidence.battle
    if battle.preference is None or system not in {battle.system_a, battle.system_b}:
        return None
    return battle.preference if system == battle.system_a else battle.preference.flipped


def lead_of(evidence: StoredEvidence) -> float | None:
    """Return the mean lead of one answer over final readings, 0 (even) to 1; None without a verdict.

    A win without a margin counts 1.
    """
    readings = [
        judgment.margin if judgment.margin is not None else SIGNS[judgment.preference]
        for judgment in final_readings(evidence)
        if judgment.preference is not None
    ]
    return abs(fmean(readings)) if readings else None


def final_readings(evidence: StoredEvidence) -> tuple[Judgment, ...]:
    """Return the last verdict of each judge in each order, since retries add readings."""
    decided = [judgment for judgment in evidence.judgments if judgment.preference is not None]
    return tuple({(judgment.judge, judgment.presentation): judgment for judgment in decided}.values())


def closest_first(battles: Iterable[StoredEvidence]) -> tuple[StoredEvidence, ...]:
    """Sort battles by closeness, undecided ones last; the sort is stable."""

    def order(evidence: StoredEvidence) -> tuple[bool, float]:
        lead = lead_of(evidence)
        return evidence.battle.preference is None, 1.0 if lead is None else lead

    return tuple(sorted(battles, key=order))


def side_by_side(view: QuestionView, battle: BattleRecord | None, wanted: str = "") -> tuple[AnswerView, ...]:
    """Return the best answer and another to compare it with: `wanted`, else a side of the battle."""
    if not view.answers:
        return ()
    best, *rest = view.answers
    sides = () if battle is None else (battle.system_a, battle.system_b)
    chosen = [answer for answer in rest if answer.system == wanted]
    chosen += [answer for answer in rest if answer.system in sides]
    return (best, *(chosen or rest)[:1])


@dataclass(frozen=True, slots=True)
class Record:
    """Record of an answer on a question; `ahead` is wins minus losses."""

    wins: int
    met: int
    ahead: int


def best_of(battles: Sequence[StoredEvidence]) -> Mapping[str, Record]:
    """Return the answers with the most wins minus losses, the reference included."""
    results: dict[str, Counter[Preference]] = defaultdict(Counter)
    for battle in (evidence.battle for evidence in battles):
        if battle.preference is not None:
            results[battle.system_a][battle.preference] += 1
            results[battle.system_b][battle.preference.flipped] += 1
    records = {
        system: Record(counts[Preference.A], counts.total(), counts[Preference.A] - counts[Preference.B])
        for system, counts in sorted(results.items())
    }
    maximum = max((record.ahead for record in records.values()), default=0)
    return {system: record for system, record in records.items() if record.ahead == maximum}
