"""Annotation: pairs of answers that people label blindly, how they agree, and their labels as a file.

Source: Han et al. (2024), RAG-QA Arena, section 4 and appendix A.6: five grades, three people a pair.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from arena.services.accounts.auth import OPERATOR, Caller, require
from arena.services.accounts.redaction import redacted_question
from data.errors import ForbiddenError, InputError, NotFoundError
from data.records import (
    LARGEST_GRADE,
    Action,
    AnnotationTask,
    BlindPair,
    NewPair,
    PairLabel,
    Submission,
    TokenScope,
    UserAccount,
    require_name,
)
from data.store import Store
from leaderboard.agreement.coefficients import Scale, krippendorff_alpha
from leaderboard.formats.rows import Place
from leaderboard.people import Votes
from leaderboard.sampling.questions import evenly

PAIR = 2
MOST_PAIRS = 5_000
LONGEST_COMMENT = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRequest:
    """What a task is to be: one pair of systems on each of some questions, each labelled `overlap` times."""

    name: str
    set_name: str
    systems: tuple[str, ...]
    questions: int
    overlap: int
    annotators: tuple[str, ...]
    seed: int = 0

    def __post_init__(self) -> None:
        require_name(self.name, "Task name")
        if len(set(self.systems)) < PAIR:
            raise InputError("A pair needs two systems.", advice="Choose two or more.")
        if not 1 <= self.questions <= MOST_PAIRS:
            raise InputError(f"{self.questions} pairs cannot be made.", advice=f"Use 1 to {MOST_PAIRS}.")
        if not 1 <= self.overlap <= len(set(self.annotators)):
            raise InputError(
                f"{len(set(self.annotators))} annotators cannot label each pair {self.overlap} times.",
                advice="Choose more annotators, or a smaller overlap.",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskAgreement:
    """How annotators agree; None where too little is labelled.

    Attributes:
        labelled: Labels by annotator, with how many they have in all.
        complete: Pairs that everybody asked has labelled.
        unanimous: Share of pairs with several labels on which all say a, tie or b alike.
        alpha: Krippendorff's alpha (nominal) of a, tie, b.
        alpha_grades: The same (ordinal) of the five grades.
    """

    labelled: Mapping[str, tuple[int, int]]
    complete: int
    unanimous: float | None
    alpha: float | None
    alpha_grades: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelFile:
    """Labels as JSON lines; `left_out` counts labels of pairs whose texts are gone."""

    content: bytes
    labels: int
    left_out: int


class AnnotationService:
    """Use cases around annotation; organisers make tasks, annotators label theirs."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def open(self, request: TaskRequest, *, caller: Caller) -> AnnotationTask:
        """Make a task: questions spread evenly over domains, pairs of systems in turn, balanced loads.

        Raises:
            NotFoundError: There is no such set, system or account.
            InputError: No question has both answers, or the set hides the reference that is to be shown.
            ConflictError: A task has this name.
        """
        require(caller, TokenScope.ORGANISE)
        summary = self._store.sets.summary(request.set_name)
        sides = self._sides(request)
        accounts = {one.name: one for one in self._store.teams.accounts()}
        unknown = [name for name in request.annotators if name not in accounts]
        if unknown:
            raise NotFoundError(
                f"There is no account {', '.join(unknown)}.", advice="Add it on the People page."
            )
        answered = {side.id: self._store.submissions.answered(side.id) for side in sides}
        questions = tuple(self._store.sets.numbered(summary.id))
        common = frozenset.intersection(*answered.values())
        asked = evenly([one for one in questions if one[0] in common], request.questions, request.seed)
        if not asked:
            raise InputError("No question is answered by all of them.", advice="Choose other systems.")
        people = [accounts[name] for name in dict.fromkeys(request.annotators)]
        pairs = lay_out([number for number, _ in asked], sides, people, request)
        with self._store.audit.audited() as notes:
            self._store.annotations.create(
                request.name, set_id=summary.id, overlap=request.overlap, seed=request.seed, pairs=pairs
            )
            notes.take(caller.note(Action.ANNOTATION_OPENED, f"annotation {request.name}", pairs=len(pairs)))
        return self._store.annotations.task(request.name)

    def close(self, name: str, *, caller: Caller) -> None:
        """Take no more labels of a task.

        Raises:
            NotFoundError: There is no such task.
        """
        require(caller, TokenScope.ORGANISE)
        with self._store.audit.audited() as notes:
            self._store.annotations.close(self._store.annotations.task(name).name)
            notes.take(caller.note(Action.ANNOTATION_CLOSED, f"annotation {name}"))

    def tasks(self, *, caller: Caller) -> tuple[AnnotationTask, ...]:
        """The tasks in which the caller labels; organisers get all of them."""
        require(caller, TokenScope.READ)
        if caller.organiser:
            return self._store.annotations.tasks()
        return () if caller.account is None else self._store.annotations.tasks(account=caller.account)

    def open_to(self, caller: Caller) -> tuple[AnnotationTask, ...]:
        """The tasks that take the caller's own labels, newest first; none for whoever has no account."""
        if caller.account is None:
            return ()
        return tuple(one for one in self._store.annotations.tasks(account=caller.account) if not one.closed)

    def next(self, name: str, *, caller: Caller) -> BlindPair | None:
        """The next pair that the caller has to label; None where there is none left."""
        account = _account(caller)
        task = self._store.annotations.task(name)
        return None if task.closed else self._store.annotations.next_of(task.id, account)

    def label(self, pair: int, shown_grade: int, *, comment: str = "", caller: Caller) -> None:
        """Keep the caller's label.

        `shown_grade` is −2…2, negative where the first shown answer is better.

        Raises:
            NotFoundError: The pair is not theirs.
            ConflictError: The task is closed.
        """
        if abs(shown_grade) > LARGEST_GRADE or len(comment) > LONGEST_COMMENT:
            raise InputError(
                "This label cannot be kept.", advice=f"Use at most {LONGEST_COMMENT} characters."
            )
        account = _account(caller)
        self._store.annotations.label(pair, account, shown_grade=shown_grade, comment=comment)

    def agreement(self, name: str, *, caller: Caller) -> TaskAgreement:
        """How far a task is, and how its annotators agree.

        Raises:
            NotFoundError: There is no such task.
        """
        require(caller, TokenScope.ORGANISE)
        return agreement_of(self._store.annotations.labels(self._store.annotations.task(name).id))

    def export(self, name: str, *, caller: Caller) -> LabelFile:
        """The labels as a file of human labels (docs/design.md, section 4), hidden references left out.

        Raises:
            NotFoundError: There is no such task.
        """
        require(caller, TokenScope.ORGANISE)
        task = self._store.annotations.task(name)
        hidden = self._store.policies.get(task.set_name).hidden_references
        given = [one for one in self._store.annotations.labels(task.id) if one.grade is not None]
        kept = [one for one in given if one.answer_a is not None and one.answer_b is not None]
        lines = [json.dumps(_line(caller, name, one, hidden=hidden), ensure_ascii=False) for one in kept]
        content = "".join(f"{line}\n" for line in lines).encode()
        return LabelFile(content=content, labels=len(kept), left_out=len(given) - len(kept))

    def votes(self, name: str, *, caller: Caller = OPERATOR) -> Votes:
        """The labels of a task as votes, which correct a board: one a person and pair, in the task's order.

        Five grades count as their side. Votes name a battle by its question and systems; `chance` is the
        pair's chance of having been put to people, as the draw kept it.

        Raises:
            NotFoundError: There is no such task.
        """
        require(caller, TokenScope.ORGANISE)
        given = [
            label
            for label in self._store.annotations.labels(self._store.annotations.task(name).id)
            if label.grade is not None
        ]
        return Votes.from_columns(
            [label.question.id for label in given],
            [label.system_a for label in given],
            [label.system_b for label in given],
            [_winner(label.grade or 0) for label in given],
            annotator=[label.account for label in given],
            place=Place(file=f"task {name}", first_row=1),
        )

    def _sides(self, request: TaskRequest) -> list[Submission]:
        reference = self._store.submissions.reference(request.set_name)
        known = {
            one.system: one for one in self._store.submissions.find(set_name=request.set_name, newest=True)
        }
        known[reference.system] = reference
        unknown = [name for name in request.systems if name not in known]
        if unknown:
            raise NotFoundError(
                f"{', '.join(unknown)} has no answers.", advice=f"There are: {', '.join(known)}."
            )
        if (
            reference.system in request.systems
            and self._store.policies.get(request.set_name).hidden_references
        ):
            raise InputError("The set hides its references.", advice="Choose systems without the reference.")
        return [known[name] for name in dict.fromkeys(request.systems)]


def lay_out(
    questions: Sequence[int], sides: Sequence[Submission], people: Sequence[UserAccount], request: TaskRequest
) -> list[NewPair]:
    """Pairs of systems in turn over the questions, and annotators in turn, so that loads are even.

    Which answer comes first is drawn for each person.
    """
    turns = list(combinations(sides, 2))
    made: list[NewPair] = []
    for place, question in enumerate(questions):
        one, other = turns[place % len(turns)]
        first = place * request.overlap
        chosen = [people[(first + step) % len(people)] for step in range(request.overlap)]
        made.append(
            NewPair(
                question=question,
                a=one.id,
                b=other.id,
                annotators=tuple((who.id, _b_first(request.seed, question, who.name)) for who in chosen),
            )
        )
    return made


def agreement_of(labels: Sequence[PairLabel]) -> TaskAgreement:
    """How annotators agree, from every assignment of a task."""
    people = {name: column for column, name in enumerate(dict.fromkeys(one.account for one in labels))}
    rows = {position: row for row, position in enumerate(dict.fromkeys(one.position for one in labels))}
    grades = np.full((len(rows), len(people)), np.nan)
    open_pairs: set[int] = set()
    wanted = Counter(one.account for one in labels)
    done: Counter[str] = Counter()
    sides: dict[int, list[float]] = defaultdict(list)
    for one in labels:
        if one.grade is None:
            open_pairs.add(one.position)
            continue
        done[one.account] += 1
        grades[rows[one.position], people[one.account]] = one.grade
        sides[one.position].append(float(np.sign(one.grade)))
    several = [found for found in sides.values() if len(found) > 1]
    return TaskAgreement(
        labelled={name: (done[name], wanted[name]) for name in people},
        complete=len(rows) - len(open_pairs),
        unanimous=sum(len(set(found)) == 1 for found in several) / len(several) if several else None,
        alpha=krippendorff_alpha(np.sign(grades), scale=Scale.NOMINAL).value,
        alpha_grades=krippendorff_alpha(grades, scale=Scale.ORDINAL).value,
    )


def _winner(grade: int) -> str:
    if grade == 0:
        return "tie"
    return "model_b" if grade > 0 else "model_a"


def _b_first(seed: int, question: int, account: str) -> bool:
    return hashlib.sha256(f"{seed}\x1f{question}\x1f{account}".encode()).digest()[0] % 2 == 1


def _account(caller: Caller) -> str:
    require(caller, TokenScope.READ)
    if caller.account is None:
        raise ForbiddenError("A team's token labels nothing.", advice="Sign in with a token of your account.")
    return caller.account


def _line(caller: Caller, task: str, one: PairLabel, *, hidden: bool) -> Mapping[str, object]:
    question = redacted_question(caller, one.question, hidden=hidden)
    return {
        "id": f"{task}-{one.position}",
        "domain": question.domain,
        "question": question.question,
        "reference": question.reference,
        "passages": [passage.text for passage in question.passages],
        "answer_a": one.answer_a,
        "answer_b": one.answer_b,
        "label": one.grade,
        "system_a": one.system_a,
        "system_b": one.system_b,
        "annotator": one.account,
    }
