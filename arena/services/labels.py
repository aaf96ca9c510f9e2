"""Labels: blind pairwise judgments by people."""

import csv
import hashlib
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from arena.services.accounts.auth import OPERATOR, PUBLIC, Caller, CallerKind, require
from arena.services.accounts.redaction import without_answers
from arena.services.accounts.set_access import SetAccess
from data.errors import ClosedError, ConflictError, ForbiddenError, InputError, NotFoundError
from data.files.labels import read_labels
from data.files.text_files import ReadLimits
from data.models import HumanLabel, Question, RoundState, TokenScope
from data.models.rounds import BattlePair, LabelledRound
from data.models.words import LabelValue
from data.store import Store
from data.text import escape_formula

MIN_NAME = 3
MAX_PERSON = 100
AT_ONCE = 20
WORD = re.compile(r"[^\W_]+")
NOT_OPEN = "Ask the organisers to open it: `arena labels open`."


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindPair:
    """Two anonymous answers in display order."""

    battle: int
    question: Question
    first: str
    second: str


class LabelService:
    """Service for labels."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._naming: dict[int, set[int]] = {}

    def open(
        self, name: str, people: Sequence[str] = (), *, everybody: bool = False, caller: Caller = OPERATOR
    ) -> LabelledRound:
        """Open a round for labels by every visitor, or by `people` and accounts invited before."""
        require(caller, TokenScope.ORGANISE)
        round_ = self._store.rounds.get(name)
        unknown = set(people) - {account.name for account in self._store.teams.accounts()}
        if unknown:
            message = f"Unknown account: {', '.join(sorted(unknown))}."
            raise NotFoundError(message, advice="Add it: `arena teams accounts NAME`.")
        before = [person for row in self._store.labels.rounds(name) for person in row.people]
        invited = tuple(dict.fromkeys((*before, *people)))
        if not (everybody or invited):
            raise InputError("No account is invited.", advice="Use --invite A,B or --everybody.")
        withheld = SetAccess(self._store, PUBLIC, round_.set_name).withheld
        if everybody and withheld:
            raise InputError(f"Visitors cannot label {name}: {withheld}.", advice="Invite accounts instead.")
        if everybody and round_.state is not RoundState.PUBLISHED:
            message = f"Round {name} is {round_.state}; visitors can label only published rounds."
            raise ConflictError(message, advice="Publish it first, or invite accounts.")
        return self._set_terms(name, caller, is_open=True, everybody=everybody, people=invited)

    def close(self, name: str, *, caller: Caller = OPERATOR) -> LabelledRound:
        """Close a round for labels; existing labels stay."""
        require(caller, TokenScope.ORGANISE)
        labelled = self._round(name)
        return self._set_terms(
            name, caller, is_open=False, everybody=labelled.everybody, people=labelled.people
        )

    def rounds(self, *, caller: Caller = OPERATOR) -> tuple[tuple[LabelledRound, int], ...]:
        """List rounds that are or were open for labels, newest first, with counts of labels."""
        require(caller, TokenScope.ORGANISE)
        return tuple(
            (labelled, self._store.labels.count(labelled.id)) for labelled in self._store.labels.rounds()
        )

    def open_to(self, caller: Caller) -> tuple[str, ...]:
        """List the rounds that a caller may label, newest first."""
        return tuple(
            labelled.name for labelled in self._store.labels.rounds() if self._admits(labelled, caller)
        )

    def show(self, name: str, *, caller: Caller = OPERATOR) -> dict[str, Any]:
        """Count the labels of a round by value and person, as `arena labels show --json` prints it."""
        require(caller, TokenScope.ORGANISE)
        labelled = self._round(name)
        labels = [(pair.battle, row) for pair, row in self._store.labels.given(labelled.id)]
        decided = [row for _, row in labels if row.value in "ab" and row.b_first is not None]
        first = sum((row.value is LabelValue.B) == row.b_first for row in decided)
        return {
            "round": labelled.name,
            "set": labelled.set_name,
            "open": labelled.open,
            "everybody": labelled.everybody,
            "invited": list(labelled.people),
            "battles": len(self._store.labels.battles(labelled.id)),
            "labelled_battles": len({battle for battle, row in labels if row.value is not LabelValue.SKIP}),
            "labels": {value.value: sum(row.value is value for _, row in labels) for value in LabelValue},
            "people": dict(Counter(row.person for _, row in labels)),
            "first_preferred": first / len(decided) if decided else None,
        }

    def next(self, name: str, *, caller: Caller, session: str = "") -> BlindPair | None:
        """Choose a pair with the fewest labels for an account or a visitor's session, if any is left."""
        labelled, person = self._admit(name, caller, session)
        hidden = SetAccess(self._store, PUBLIC, labelled.set_name).hidden
        naming = self._naming.setdefault(labelled.id, set())
        while pairs := self._store.labels.next_pairs(
            labelled.id, person, without=naming, references=not hidden, limit=AT_ONCE
        ):
            for pair in pairs:
                if not any(names_system(text, pair.names) for text in (pair.answer_a, pair.answer_b)):
                    return _blind(pair, person, hidden=hidden)
                naming.add(pair.battle)
        return None

    def label(self, name: str, battle: int, value: LabelValue, *, caller: Caller, session: str = "") -> None:
        """Store a label of a pair, where A is the first answer displayed."""
        labelled, person = self._admit(name, caller, session)
        if not self._store.labels.has(labelled.id, battle):
            raise NotFoundError(f"Round {name} has no battle {battle}.", advice="Reload the page.")
        b_first = shows_b_first(battle, person)
        row = {"battle_id": battle, "person": person, "b_first": b_first, "labelled_at": datetime.now(UTC)}
        if not self._store.labels.add([{**row, "value": value.flipped if b_first else value}]):
            raise ConflictError("You have already labelled this pair.", advice="Continue with the next one.")

    def export(self, name: str, *, caller: Caller = OPERATOR) -> list[dict[str, object]]:
        """Return the labels of a round as rows of a file, without skips and withdrawn answers."""
        require(caller, TokenScope.ORGANISE)
        hidden = SetAccess(self._store, PUBLIC, self._round(name).set_name).hidden
        return [
            {
                **row,
                "domain": pair.question.domain,
                "question": pair.question.question,
                "answer_a": pair.answer_a,
                "answer_b": pair.answer_b,
                "reference": None if hidden else pair.question.reference,
                "passages": [passage.text for passage in pair.question.passages],
            }
            for pair, row in _rows(self._store, name)
            if pair.answer_a and pair.answer_b
        ]

    def import_file(
        self, name: str, path: Path, *, caller: Caller = OPERATOR
    ) -> tuple[int, Mapping[str, int]]:
        """Add the labels of a file to a round; return counts of new labels and of excluded ones by reason.

        A person's existing label of a battle stays.
        """
        require(caller, TokenScope.ORGANISE)
        round_id = self._store.rounds.get(name).id
        battles = self._store.labels.battles(round_id)
        read = read_labels(path, ReadLimits(), systems={system for _, *both in battles for system in both})
        placed = [_placed(label, battles) for label in read.labels]
        new = [label for label in placed if not isinstance(label, str)]
        added = self._store.labels.add(new)
        left_out = Counter(read.left_out) + Counter(reason for reason in placed if isinstance(reason, str))
        left_out += Counter({"given before": len(new) - added})
        if not self._store.labels.rounds(name):
            self._store.labels.set_terms(round_id, is_open=False, everybody=False, people=())
        return added, left_out

    def _round(self, name: str) -> LabelledRound:
        labelled = self._store.labels.rounds(name)
        if not labelled:
            self._store.rounds.get(name)
            raise NotFoundError(f"Round {name} has no labels.", advice=NOT_OPEN)
        return labelled[0]

    def _set_terms(
        self, name: str, caller: Caller, *, is_open: bool, everybody: bool, people: Sequence[str]
    ) -> LabelledRound:
        round_id = self._store.rounds.get(name).id
        self._store.labels.set_terms(round_id, is_open=is_open, everybody=everybody, people=people)
        caller.log("labels-opened" if is_open else "labels-closed", f"round {name}", everybody=everybody)
        return self._round(name)

    def _admits(self, labelled: LabelledRound, caller: Caller) -> bool:
        if not labelled.open or labelled.state is RoundState.RETRACTED:
            return False
        if caller.kind is CallerKind.OPERATOR or caller.account in labelled.people:
            return TokenScope.READ in caller.scopes
        return labelled.everybody and not SetAccess(self._store, PUBLIC, labelled.set_name).withheld

    def _admit(self, name: str, caller: Caller, session: str) -> tuple[LabelledRound, str]:
        labelled = self._round(name)
        if not labelled.open:
            raise ClosedError(f"Round {name} is closed for labels.", advice=NOT_OPEN)
        if not self._admits(labelled, caller):
            raise ForbiddenError("You are not invited to label this round.", advice="Ask the organisers.")
        visitor = f"visitor-{hashlib.sha256(session.encode()).hexdigest()[:16]}"
        return labelled, (caller.account or caller.name) if caller.signed_in else visitor


def votes_of_round(store: Store, name: str) -> list[dict[str, str]]:
    """Return the labels of a round as rows of a votes file, without skips."""
    return [row for _, row in _rows(store, name)]


def file_of(rows: Sequence[Mapping[str, Any]], *, as_csv: bool) -> str:
    """Write rows as CSV or JSON."""
    if not as_csv:
        return json.dumps(rows, ensure_ascii=False, indent=2) + "\n"
    text = io.StringIO()
    writer = csv.DictWriter(text, tuple(rows[0]) if rows else ("question_id",), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        cells = {**row, "passages": json.dumps(row["passages"], ensure_ascii=False)}
        writer.writerow({name: escape_formula(cell) for name, cell in cells.items()})
    return text.getvalue()


def names_system(text: str, names: Iterable[str]) -> bool:
    """Return whether a text contains a name as whole words, ignoring case."""
    words = [word.casefold() for word in WORD.findall(text)]
    joined = f" {' '.join(words)} "
    parts = (" ".join(word.casefold() for word in WORD.findall(name)) for name in names)
    return any(len(part) >= MIN_NAME and f" {part} " in joined for part in parts)


def shows_b_first(battle: int, person: str) -> bool:
    """Return whether a person sees side B of a battle first."""
    return hashlib.sha256(f"{battle}\x1f{person}".encode()).digest()[0] % 2 == 1


def _blind(pair: BattlePair, person: str, *, hidden: bool) -> BlindPair:
    texts = (pair.answer_a, pair.answer_b)
    first, second = reversed(texts) if shows_b_first(pair.battle, person) else texts
    # The reference would reveal which answer is the reference.
    question = without_answers(pair.question) if hidden or pair.has_reference else pair.question
    return BlindPair(battle=pair.battle, question=question, first=first, second=second)


def _rows(store: Store, name: str) -> Iterator[tuple[BattlePair, dict[str, str]]]:
    for pair, label in (
        label for labelled in store.labels.rounds(name) for label in store.labels.given(labelled.id)
    ):
        if label.value is not LabelValue.SKIP:
            yield (
                pair,
                {
                    "question_id": pair.question.id,
                    "model_a": pair.system_a,
                    "model_b": pair.system_b,
                    "winner": label.value.winner,
                    "annotator": label.person,
                    "shown_first": {None: "", False: "a", True: "b"}[label.b_first],
                    "labelled_at": label.labelled_at.isoformat(),
                },
            )


def _placed(label: HumanLabel, battles: Mapping[tuple[str, str, str], int]) -> Mapping[str, Any] | str:
    """Return the row of a label, swapped if its pair is reversed, or the reason for excluding it."""
    person = label.annotator.strip()
    if not person.isprintable() or not 0 < len(person) <= MAX_PERSON:
        return "without a usable annotator"
    value = LabelValue.A if label.label < 0 else LabelValue.B if label.label > 0 else LabelValue.TIE
    value = LabelValue.BOTH_BAD if label.both_bad else value
    b_first = {"a": False, "b": True}.get(label.shown_first)
    battle = battles.get((label.question_id, label.system_a, label.system_b))
    if battle is None:
        battle = battles.get((label.question_id, label.system_b, label.system_a))
        value, b_first = value.flipped, None if b_first is None else not b_first
    if battle is None:
        return "on no battle of the round"
    try:
        at = datetime.fromisoformat(label.labelled_at)
    except ValueError:
        at = datetime.now(UTC)
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return {"battle_id": battle, "person": person, "b_first": b_first, "value": value, "labelled_at": at}
