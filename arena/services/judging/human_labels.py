"""Verdicts of stored rounds beside people's labels of the same pairs of answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from arena.services.judging.calibration import by_systems, calibration_pair
from arena.services.judging.labelled_pairs import LabelledPair, labelled_pairs
from data.records import BattleRecord, Preference, Question, Round
from data.store import Store
from leaderboard.agreement.pairs import Agreement, majority

_PLACE: Mapping[Preference, int] = MappingProxyType({Preference.A: 0, Preference.TIE: 1, Preference.B: 2})


@dataclass(frozen=True, slots=True, kw_only=True)
class AgainstPeople:
    """A round's verdicts against people's, by pair of systems (`one vs other`, in alphabetical order).

    `people` are shares of the pairs on which most people prefer the first system, no side, and the second.
    """

    agreement: Mapping[str, Agreement]
    people: Mapping[str, tuple[float, float, float]]
    notes: tuple[str, ...]


def held_against_people(store: Store, round_: Round, labels: Path) -> AgainstPeople:
    """Hold a round's stored verdicts against a file of labels.

    A labelled pair is found by its question's text, and by the systems that the file names or else by the
    texts of the two answers.

    Raises:
        InvalidFileError: The file has problems.
    """
    battles = store.verdicts.battles(round_.name)
    verdicts = {(battle.question_id, battle.system_a, battle.system_b): battle for battle in battles}
    known = _Known(store, round_)
    pairs, held, unmatched = [], [], 0
    for pair in labelled_pairs(labels):
        named = known.named(pair)
        match = None if named is None else _verdict(verdicts, *named)
        if named is None or match is None:
            unmatched += 1
            continue
        pairs.append(named[1])
        held.append(calibration_pair(named[1], *match))
    missed = f"{round_.name}: {unmatched} labelled pairs are not among its battles."
    return AgainstPeople(
        agreement=by_systems(pairs, held), people=_people(pairs), notes=(missed,) if unmatched else ()
    )


class _Known:
    """Finds whose answers a labelled pair holds: by the names it gives, else by its texts."""

    def __init__(self, store: Store, round_: Round) -> None:
        self._store, self._set = store, round_.set_name
        summary = store.sets.summary(round_.set_name)
        self._questions: dict[str, Question] = {
            question.question.strip(): question for _, question in store.sets.numbered(summary.id)
        }
        reference = store.submissions.reference(round_.set_name)
        sides = (reference, *store.submissions.find(set_name=round_.set_name))
        self._systems = {side.id: side.system for side in sides}

    def named(self, pair: LabelledPair) -> tuple[str, LabelledPair] | None:
        """The question's id and the pair with its systems named; None where it is not of this set."""
        question = self._questions.get(pair.first.question.strip())
        if question is None:
            return None
        if pair.systems:
            return question.id, pair
        texts = {
            answer.answer.strip(): self._systems[number]
            for number, answer in self._store.submissions.to_question(self._set, question.id).items()
            if number in self._systems
        }
        a, b = (texts.get(text.strip()) for text in (pair.first.answer_a, pair.first.answer_b))
        if a is None or b is None or a == b:
            return None
        return question.id, replace(pair, first=replace(pair.first, system_a=a, system_b=b))


def _verdict(
    verdicts: Mapping[tuple[str, str, str], BattleRecord], question: str, pair: LabelledPair
) -> tuple[Preference | None, float | None] | None:
    """The stored verdict of a labelled pair, seen from its side a; None where it was not battled."""
    a, b = pair.first.system_a, pair.first.system_b
    straight, turned = verdicts.get((question, a, b)), verdicts.get((question, b, a))
    if straight is not None:
        return straight.preference, None if straight.score is None else 1 - 2 * straight.score
    if turned is not None:
        preference = turned.preference and turned.preference.flipped
        return preference, None if turned.score is None else 2 * turned.score - 1
    return None


def _people(pairs: Sequence[LabelledPair]) -> Mapping[str, tuple[float, float, float]]:
    """Shares of pairs on which most people prefer the first system by name, no side, and the second."""
    counts: dict[str, list[int]] = {}
    for pair in pairs:
        said = majority(pair.labels)
        seen = said if pair.first.system_a < pair.first.system_b else said.flipped
        counts.setdefault(pair.systems, [0, 0, 0])[_PLACE[seen]] += 1
    return {
        name: (won / sum(found), tied / sum(found), lost / sum(found))
        for name, found in counts.items()
        for won, tied, lost in (found,)
    }
