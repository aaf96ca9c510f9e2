"""Tables of stored rounds: the kinds that the RAG-QA Arena paper prints, and how attacks fared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from arena.services.accounts.auth import OPERATOR, Caller
from arena.services.judging.human_labels import AgainstPeople, held_against_people
from arena.services.rounds.battle_table import table_of
from arena.services.rounds.canaries import canary_results
from arena.services.rounds.models import entrants_of
from arena.services.rounds.table_kinds import TableKind
from arena.services.rounds.visibility import RoundAccess
from data.errors import InputError
from data.records import BattleRecord, Round
from data.records.plain import to_json
from data.store import Store
from leaderboard.rates import RateTable, win_rates
from leaderboard.ratings import rate
from leaderboard.standings.head_to_head import head_to_head
from leaderboard.vocabulary import OVERALL

Cell = str | int | float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundTable:
    """A table: shares are 0–1; what is undefined is None. `notes` say what is not in it."""

    kind: TableKind
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """The object that `arena rounds table --json` prints."""
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return to_json(self, rows=rows)


class RoundTableService:
    """Tables of one round or several."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def table(
        self, names: Sequence[str], kind: TableKind, labels: Path | None = None, *, caller: Caller = OPERATOR
    ) -> RoundTable:
        """Make a table of stored rounds; nothing is asked.

        Only `ratings` and `judges` take several rounds. Labels are for `judges`, which needs them, and
        `pairs`.

        Raises:
            NotFoundError: There is no such round that the caller may see.
            InputError: The kind needs labels, or takes one round only.
        """
        rounds = [self._store.rounds.get(name) for name in names]
        for round_ in rounds:
            RoundAccess(self._store, caller, round_)
        if kind is TableKind.RATINGS:
            return self._ratings(rounds)
        if kind is TableKind.JUDGES:
            if labels is None:
                raise InputError("A table of judges needs people's labels.", advice="Give --labels FILE.")
            return self._judges(rounds, labels)
        if len(rounds) != 1:
            raise InputError(f"A table of {kind} is of one round.", advice="Name one round.")
        if kind is TableKind.PAIRS:
            return self._pairs(rounds[0], labels)
        makers: Mapping[TableKind, Callable[[Round], RoundTable]] = {
            TableKind.WIN_RATES: self._win_rates,
            TableKind.NO_ANSWER: self._no_answer,
            TableKind.PASSAGES: self._passages,
            TableKind.ATTACKS: self._attacks,
        }
        return makers[kind](rounds[0])

    def _win_rates(self, round_: Round) -> RoundTable:
        rates = self._rates(round_)
        domains = _domains(rates)
        judged = dict.fromkeys(row.system for row in rates.rows)
        unjudged = self._unjudged(round_)
        return RoundTable(
            kind=TableKind.WIN_RATES,
            columns=("system", *_headers(domains)),
            rows=tuple((system, *_cells(rates, system, domains)) for system in (*judged, *unjudged)),
            notes=_unjudged_notes(round_, unjudged),
        )

    def _passages(self, round_: Round) -> RoundTable:
        rates = self._rates(round_)
        domains = _domains(rates)
        cards = {entrant.system: entrant.card for entrant in entrants_of(self._store, round_)}
        named = [system for system in dict.fromkeys(row.system for row in rates.rows) if system in cards]
        rows = [
            (cards[system].model, cards[system].passages, system, *_cells(rates, system, domains))
            for system in sorted(
                named, key=lambda name: (cards[name].model, _number(cards[name].passages), name)
            )
            if cards[system].passages
        ]
        silent = len(named) - len(rows)
        return RoundTable(
            kind=TableKind.PASSAGES,
            columns=("model", "passages", "system", *_headers(domains)),
            rows=tuple(rows),
            notes=(f"{silent} systems are left out: their cards do not say how many passages.",)
            if silent
            else (),
        )

    def _ratings(self, rounds: Sequence[Round]) -> RoundTable:
        tables = [rate(table_of(self._battles(round_)), seed=round_.seed) for round_ in rounds]
        unjudged = [self._unjudged(round_) for round_ in rounds]
        rated = (rating.system for table in tables for rating in table.ratings)
        systems = dict.fromkeys((*rated, *(system for part in unjudged for system in part)))
        by_round = [{rating.system: rating for rating in table.ratings} for table in tables]
        rows: list[tuple[Cell, ...]] = []
        for system in systems:
            row: list[Cell] = [system]
            for ratings in by_round:
                rating = ratings.get(system)
                row += (
                    [None] * 4
                    if rating is None
                    else [rating.rating, rating.lower, rating.upper, rating.battles]
                )
            rows.append(tuple(row))
        several = len(rounds) > 1
        return RoundTable(
            kind=TableKind.RATINGS,
            columns=(
                "system",
                *(
                    f"{round_.name}: {column}" if several else column
                    for round_ in rounds
                    for column in ("rating", "lower", "upper", "battles")
                ),
            ),
            rows=tuple(rows),
            notes=tuple(
                note
                for round_, part in zip(rounds, unjudged, strict=True)
                for note in _unjudged_notes(round_, part)
            ),
        )

    def _no_answer(self, round_: Round) -> RoundTable:
        domains = tuple(self._store.sets.summary(round_.set_name).domains)
        rows: list[tuple[Cell, ...]] = []
        for entrant in entrants_of(self._store, round_):
            counts = self._store.submissions.domain_counts(entrant.id)
            total = sum(count for count, _ in counts.values())
            silent = sum(none for _, none in counts.values())
            shares = [
                counts[domain][1] / counts[domain][0] if domain in counts else None for domain in domains
            ]
            rows.append((entrant.system, silent / total if total else None, *shares))
        return RoundTable(kind=TableKind.NO_ANSWER, columns=("system", OVERALL, *domains), rows=tuple(rows))

    def _attacks(self, round_: Round) -> RoundTable:
        report = canary_results(self._store.canaries.of_round(round_.name)).report
        rows = [
            (family, judged, won, won / judged) for family, (judged, won) in sorted(report.by_family.items())
        ]
        return RoundTable(
            kind=TableKind.ATTACKS,
            columns=("family", "judged", "succeeded", "success rate"),
            rows=(*rows, ("all", report.judged, report.succeeded, report.rate)),
            notes=(f"{report.unjudged} canaries without a verdict",) if report.unjudged else (),
        )

    def _pairs(self, round_: Round, labels: Path | None) -> RoundTable:
        table = table_of(self._battles(round_))
        record = head_to_head(table, table.systems)
        against_people = None if labels is None else held_against_people(self._store, round_, labels)
        rows: list[tuple[Cell, ...]] = []
        for first, second in combinations(range(len(record.systems)), 2):
            total = float(record.battles[first, second])
            if not total:
                continue
            name = f"{record.systems[first]} vs {record.systems[second]}"
            counts = (record.wins[first, second], record.ties[first, second], record.wins[second, first])
            shares = [float(count) / total for count in counts]
            rows.append(
                (
                    name,
                    int(total),
                    *shares,
                    *(() if against_people is None else _people_cells(against_people, name)),
                )
            )
        more = ("people: win", "people: tie", "people: loss", "labelled", "pearson", "kappa")
        return RoundTable(
            kind=TableKind.PAIRS,
            columns=("pair", "battles", "win", "tie", "loss", *(() if against_people is None else more)),
            rows=tuple(rows),
            notes=() if against_people is None else against_people.notes,
        )

    def _judges(self, rounds: Sequence[Round], labels: Path) -> RoundTable:
        comparisons = [held_against_people(self._store, round_, labels) for round_ in rounds]
        pairs = sorted({name for comparison in comparisons for name in comparison.agreement})
        rows = [
            (
                round_.name,
                round_.judge_name,
                *(
                    comparison.agreement[name].pearson.value if name in comparison.agreement else None
                    for name in pairs
                ),
            )
            for round_, comparison in zip(rounds, comparisons, strict=True)
        ]
        return RoundTable(
            kind=TableKind.JUDGES,
            columns=("round", "judge", *pairs),
            rows=tuple(rows),
            notes=tuple(
                note
                for round_, comparison in zip(rounds, comparisons, strict=True)
                for note in (*comparison.notes, *_uncorrelated(round_.name, comparison))
            ),
        )

    def _rates(self, round_: Round) -> RateTable:
        table = table_of(self._battles(round_))
        reference = self._store.sets.summary(round_.set_name).reference_name
        return win_rates(table, reference=reference if reference in table.systems else None)

    def _unjudged(self, round_: Round) -> tuple[str, ...]:
        """The systems of a round of which no battle was judged."""
        judged = {
            side
            for battle in self._battles(round_)
            if battle.preference
            for side in (battle.system_a, battle.system_b)
        }
        return tuple(
            entrant.system for entrant in entrants_of(self._store, round_) if entrant.system not in judged
        )

    def _battles(self, round_: Round) -> tuple[BattleRecord, ...]:
        return tuple(self._store.verdicts.battles(round_.name))


def _unjudged_notes(round_: Round, systems: Sequence[str]) -> tuple[str, ...]:
    return (f"{round_.name}: no judged battle of {', '.join(systems)}.",) if systems else ()


def _uncorrelated(name: str, against_people: AgainstPeople) -> tuple[str, ...]:
    """The pairs of systems whose labels and verdicts have no correlation, in a sentence."""
    pairs = [pair for pair, agreement in against_people.agreement.items() if agreement.pearson.value is None]
    why = "labels or verdicts are too few or never vary"
    return (f"{name}: no correlation for {', '.join(pairs)}, since {why}.",) if pairs else ()


def _people_cells(against_people: AgainstPeople, name: str) -> tuple[Cell, ...]:
    shares = against_people.people.get(name, (None, None, None))
    agreement = against_people.agreement.get(name)
    if agreement is None:
        return (*shares, None, None, None)
    return (*shares, agreement.pairs, agreement.pearson.value, agreement.kappa.value)


def _domains(rates: RateTable) -> tuple[str, ...]:
    rest = sorted({row.domain for row in rates.rows} - {OVERALL})
    return (OVERALL, *rest)


def _headers(domains: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{domain} {rate}" for domain in domains for rate in ("W", "W+T"))


def _cells(rates: RateTable, system: str, domains: Sequence[str]) -> tuple[Cell, ...]:
    rows = {row.domain: row for row in rates.rows if row.system == system}
    return tuple(
        value
        for domain in domains
        for value in ((rows[domain].win_rate, rows[domain].win_tie_rate) if domain in rows else (None, None))
    )


def _number(text: str) -> float:
    return float(text) if text.isdecimal() else float("inf")
