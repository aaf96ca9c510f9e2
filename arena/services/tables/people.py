"""Rounds beside people: every pair of systems (Table 4), and judges by their correlation (Table 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from types import MappingProxyType

from arena.services.judging.calibration import by_systems, calibration_pair
from arena.services.judging.labelled_pairs import LabelledPair, labelled_pairs
from arena.services.rounds.battle_table import table_of
from arena.services.tables.model import Shown
from data.intervals import wilson
from data.records import BattleRecord, Preference, Question, Round
from data.store import Store
from leaderboard.agreement.coefficients import Estimate
from leaderboard.agreement.pairs import Agreement, majority
from leaderboard.export.paper import Cell, Column, Measured, PaperTable, Unit
from leaderboard.standings.build import board_ratings
from leaderboard.standings.head_to_head import head_to_head

MARK = "*"
DECIDED = "* of a win: the ratings of all battles separate the two (all pairs at once, 5 %)."
CORRELATED = "* of a coefficient: its 95 % interval, by questions, leaves out 0."
_PLACE: Mapping[Preference, int] = MappingProxyType({Preference.A: 0, Preference.TIE: 1, Preference.B: 2})


def every_pair(store: Store, round_: Round, labels: Path | None, shown: Shown) -> PaperTable:
    """Wins, ties and losses of every pair that met; with labels also people, and how the judge agrees."""
    table = table_of(tuple(store.verdicts.battles(round_.name)))
    record = head_to_head(table, table.systems)
    reference = store.sets.summary(round_.set_name).reference_name
    rated = board_ratings(table, reference) if shown.marks else None
    ranked = set() if rated is None else set(rated.systems)
    against_people = None if labels is None else held_against_people(store, round_, labels)
    rows: list[tuple[Cell, ...]] = []
    for first, second in combinations(range(len(record.systems)), 2):
        total = float(record.battles[first, second])
        if not total:
            continue
        counts = (record.wins[first, second], record.ties[first, second], record.wins[second, first])
        names = record.systems[first], record.systems[second]
        name = " vs ".join(names)
        apart = rated is not None and ranked.issuperset(names) and rated.separates(*names)
        marks = (MARK if apart else "", "", "")
        shares = [
            Measured(value=float(count) / total, interval=wilson(float(count) / total, total), mark=mark)
            for count, mark in zip(counts, marks, strict=True)
        ]
        people = () if against_people is None else _people_cells(against_people, name)
        rows.append((name, int(total), *shares, *people))
    return PaperTable(
        columns=(*_pair_columns(shown), *(() if against_people is None else _people_columns(shown))),
        rows=tuple(rows),
        notes=(
            *(() if against_people is None else against_people.notes),
            *((DECIDED,) if shown.marks else ()),
            *((CORRELATED,) if shown.marks and against_people is not None else ()),
        ),
    )


def judges_by_correlation(store: Store, rounds: Sequence[Round], labels: Path, shown: Shown) -> PaperTable:
    """Pearson's correlation of each round's judge with people, by pair of systems."""
    comparisons = [held_against_people(store, round_, labels) for round_ in rounds]
    pairs = sorted({name for comparison in comparisons for name in comparison.agreement})
    rows: list[tuple[Cell, ...]] = [
        (
            round_.name,
            round_.judge_name,
            *(
                _coefficient(comparison.agreement[name].pearson) if name in comparison.agreement else None
                for name in pairs
            ),
        )
        for round_, comparison in zip(rounds, comparisons, strict=True)
    ]
    return PaperTable(
        columns=(
            Column(key="round", header="round"),
            Column(key="judge", header="judge"),
            *(
                shown.column(name, name, unit=Unit.COEFFICIENT, best_first=True, marked=True)
                for name in pairs
            ),
        ),
        rows=tuple(rows),
        notes=(
            *(
                note
                for round_, comparison in zip(rounds, comparisons, strict=True)
                for note in (*comparison.notes, *_uncorrelated(round_.name, comparison))
            ),
            *((CORRELATED,) if shown.marks else ()),
        ),
    )


def _pair_columns(shown: Shown) -> tuple[Column, ...]:
    return (
        Column(key="pair", header="pair"),
        Column(key="battles", header="battles", group="judge", unit=Unit.COUNT),
        shown.column("win", "win", group="judge", marked=True),
        shown.column("tie", "tie", group="judge"),
        shown.column("loss", "loss", group="judge"),
    )


def _people_columns(shown: Shown) -> tuple[Column, ...]:
    return (
        *(
            shown.column(f"people: {side}", side, group="people", bounded=False)
            for side in ("win", "tie", "loss")
        ),
        Column(key="labelled", header="labelled", group="people", unit=Unit.COUNT),
        *(
            shown.column(name, name, group="agreement", unit=Unit.COEFFICIENT, marked=True)
            for name in ("pearson", "kappa")
        ),
    )


def _people_cells(against_people: AgainstPeople, name: str) -> tuple[Cell, ...]:
    shares = against_people.people.get(name, (None, None, None))
    agreement = against_people.agreement.get(name)
    if agreement is None:
        return (*shares, None, None, None)
    return (*shares, agreement.pairs, _coefficient(agreement.pearson), _coefficient(agreement.kappa))


def _coefficient(estimate: Estimate) -> Measured:
    told = estimate.interval is not None and 0 not in estimate.interval
    return Measured(value=estimate.value, interval=estimate.interval, mark=MARK if told else "")


def _uncorrelated(name: str, against_people: AgainstPeople) -> tuple[str, ...]:
    """The pairs of systems whose labels and verdicts have no correlation, in a sentence."""
    pairs = [pair for pair, agreement in against_people.agreement.items() if agreement.pearson.value is None]
    why = "labels or verdicts are too few or never vary"
    return (f"{name}: no correlation for {', '.join(pairs)}, since {why}.",) if pairs else ()


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
