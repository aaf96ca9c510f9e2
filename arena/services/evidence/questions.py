"""All that is known of one question: answers, battles, the reasons of verdicts."""

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
    """One answer on a question page; `wins`, `ties` and `losses` are over the round's battles on it."""

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
    """Everything a question page shows of one round; `notice` says which texts are left out, and why."""

    set_name: str
    domain_label: str
    question: Question
    answers: tuple[AnswerView, ...]
    battles: tuple[StoredEvidence, ...]
    notice: str = ""


class EvidenceService:
    """Use cases of readers who trace a number to its evidence.

    Raises, for every caller who is not an organiser:
        NotFoundError: There is no such round that the caller may see, or no such question in its set.
        RetractedError: The board of the round was retracted.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def notice(self, round_name: str, *, caller: Caller = PUBLIC) -> str:
        """Return the notice on a round's hidden texts; empty where none are."""
        return RoundAccess(self._store, caller, self._store.rounds.get(round_name)).texts.notice

    def question(self, round_name: str, question_id: str, *, caller: Caller = PUBLIC) -> QuestionView:
        """Everything about a question in a round that the caller may see; best answer first."""
        store, round_ = self._store, self._store.rounds.get(round_name)
        seen, reference = RoundAccess(store, caller, round_), store.submissions.reference(round_.set_name)
        sides = {side.id: side for side in (*seen.entrants.values(), reference)}
        question = store.sets.question(round_.set_name, question_id)
        battles = tuple(map(seen.evidence, store.verdicts.of_question(round_.name, question_id)))
        scores = tuple(map(seen.score, store.scores.of_question(round_.set_name, question_id)))
        answers = []
        for number, answer in store.submissions.to_question(round_.set_name, question_id).items():
            side = sides.get(number)
            if side is None or not seen.answers_of(side.system, question):
                continue
            results = Counter(_result(battle, side.system) for battle in battles)
            is_reference = number == reference.id
            view = AnswerView(
                system=side.system,
                submission=side if is_reference else seen.submission(side.system) or side,
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
            domain_label=seen.texts.domains[question.domain],
            question=seen.question(question),
            answers=tuple(sorted(answers, key=lambda view: (view.losses - view.wins, view.system))),
            battles=battles,
            notice=seen.texts.notice,
        )

    def evidence(self, round_name: str, question_id: str, *, caller: Caller = PUBLIC) -> QuestionEvidence:
        """Return the same as what routes, commands and tools give."""
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
            battles=[BattleEvidence.of(one.battle, judgments=one.judgments) for one in view.battles],
        )


def _result(evidence: StoredEvidence, system: str) -> Preference | None:
    """Return the verdict as if `system` were side a; None where it did not meet or was not judged."""
    battle = evidence.battle
    if battle.preference is None or system not in {battle.system_a, battle.system_b}:
        return None
    return battle.preference if system == battle.system_a else battle.preference.flipped


def lead_of(evidence: StoredEvidence) -> float | None:
    """Return the lead of one answer, 0 (even) to 1: the mean over final readings, which may cancel out.

    A reading without a margin counts as 1 for its side, a tie as 0; None where no reading has a verdict.
    """
    readings = [
        judgment.margin if judgment.margin is not None else SIGNS[judgment.preference]
        for judgment in final_readings(evidence)
        if judgment.preference is not None
    ]
    return abs(fmean(readings)) if readings else None


def final_readings(evidence: StoredEvidence) -> tuple[Judgment, ...]:
    """Return the last verdict of each judge in each order: a battle that was tried again was read before."""
    decided = [judgment for judgment in evidence.judgments if judgment.preference is not None]
    return tuple({(judgment.judge, judgment.presentation): judgment for judgment in decided}.values())


def closest_first(battles: Iterable[StoredEvidence]) -> tuple[StoredEvidence, ...]:
    """Battles by how close they were, undecided ones last; equally close ones stay in their order."""

    def order(evidence: StoredEvidence) -> tuple[bool, float]:
        lead = lead_of(evidence)
        return evidence.battle.preference is None, 1.0 if lead is None else lead

    return tuple(sorted(battles, key=order))


def beside(view: QuestionView, battle: BattleRecord | None, wanted: str = "") -> tuple[AnswerView, ...]:
    """Return the best answer and the one to read beside it: `wanted`, else of the battle's sides.

    The best answer alone where there is no other.
    """
    if not view.answers:
        return ()
    best, *others = view.answers
    sides = () if battle is None else (battle.system_a, battle.system_b)
    chosen = [answer for answer in others if answer.system == wanted]
    chosen += [answer for answer in others if answer.system in sides]
    return (best, *(chosen or others)[:1])


@dataclass(frozen=True, slots=True)
class Record:
    """Record of an answer on a question: battles won, judged battles, and wins less losses."""

    wins: int
    met: int
    ahead: int


def best_of(battles: Sequence[StoredEvidence]) -> Mapping[str, Record]:
    """Return the answers with the largest lead of wins over losses, the reference included.

    Answers that are not shown count as well. Empty where nothing was judged.
    """
    results: dict[str, Counter[Preference]] = defaultdict(Counter)
    for battle in (evidence.battle for evidence in battles):
        if battle.preference is not None:
            results[battle.system_a][battle.preference] += 1
            results[battle.system_b][battle.preference.flipped] += 1
    records = {
        system: Record(found[Preference.A], found.total(), found[Preference.A] - found[Preference.B])
        for system, found in sorted(results.items())
    }
    most = max((record.ahead for record in records.values()), default=0)
    return {system: record for system, record in records.items() if record.ahead == most}
