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
from leaderboard.rates import OVERALL, RateTable, win_rates
from leaderboard.ratings import rate
from leaderboard.standings.head_to_head import head_to_head

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
        for found in rounds:
            RoundAccess(self._store, caller, found)
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

    def _win_rates(self, found: Round) -> RoundTable:
        rates = self._rates(found)
        domains = _domains(rates)
        judged = dict.fromkeys(row.system for row in rates.rows)
        unjudged = self._unjudged(found)
        return RoundTable(
            kind=TableKind.WIN_RATES,
            columns=("system", *_headers(domains)),
            rows=tuple((system, *_cells(rates, system, domains)) for system in (*judged, *unjudged)),
            notes=_unjudged_notes(found, unjudged),
        )

    def _passages(self, found: Round) -> RoundTable:
        rates = self._rates(found)
        domains = _domains(rates)
        cards = {one.system: one.card for one in entrants_of(self._store, found)}
        named = [system for system in dict.fromkeys(row.system for row in rates.rows) if system in cards]
        rows = [
            (cards[system].model, cards[system].passages, system, *_cells(rates, system, domains))
            for system in sorted(named, key=lambda one: (cards[one].model, _number(cards[one].passages), one))
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
        tables = [rate(table_of(self._battles(found)), seed=found.seed) for found in rounds]
        unjudged = [self._unjudged(one) for one in rounds]
        rated = (one.system for table in tables for one in table.ratings)
        systems = dict.fromkeys((*rated, *(system for part in unjudged for system in part)))
        found = [{one.system: one for one in table.ratings} for table in tables]
        rows: list[tuple[Cell, ...]] = []
        for system in systems:
            row: list[Cell] = [system]
            for known in found:
                one = known.get(system)
                row += [None] * 4 if one is None else [one.rating, one.lower, one.upper, one.battles]
            rows.append(tuple(row))
        several = len(rounds) > 1
        return RoundTable(
            kind=TableKind.RATINGS,
            columns=(
                "system",
                *(
                    f"{one.name}: {column}" if several else column
                    for one in rounds
                    for column in ("rating", "lower", "upper", "battles")
                ),
            ),
            rows=tuple(rows),
            notes=tuple(
                note
                for one, part in zip(rounds, unjudged, strict=True)
                for note in _unjudged_notes(one, part)
            ),
        )

    def _no_answer(self, found: Round) -> RoundTable:
        domains = tuple(self._store.sets.summary(found.set_name).domains)
        rows: list[tuple[Cell, ...]] = []
        for one in entrants_of(self._store, found):
            counts = self._store.submissions.domain_counts(one.id)
            total = sum(count for count, _ in counts.values())
            silent = sum(none for _, none in counts.values())
            shares = [
                counts[domain][1] / counts[domain][0] if domain in counts else None for domain in domains
            ]
            rows.append((one.system, silent / total if total else None, *shares))
        return RoundTable(kind=TableKind.NO_ANSWER, columns=("system", OVERALL, *domains), rows=tuple(rows))

    def _attacks(self, found: Round) -> RoundTable:
        report = canary_results(self._store.canaries.of_round(found.name)).report
        rows = [
            (family, judged, won, won / judged) for family, (judged, won) in sorted(report.by_family.items())
        ]
        return RoundTable(
            kind=TableKind.ATTACKS,
            columns=("family", "judged", "succeeded", "success rate"),
            rows=(*rows, ("all", report.judged, report.succeeded, report.rate)),
            notes=(f"{report.unjudged} canaries without a verdict",) if report.unjudged else (),
        )

    def _pairs(self, found: Round, labels: Path | None) -> RoundTable:
        table = table_of(self._battles(found))
        record = head_to_head(table, table.systems)
        held = None if labels is None else held_against_people(self._store, found, labels)
        rows: list[tuple[Cell, ...]] = []
        for first, second in combinations(range(len(record.systems)), 2):
            total = float(record.battles[first, second])
            if not total:
                continue
            name = f"{record.systems[first]} vs {record.systems[second]}"
            counts = (record.wins[first, second], record.ties[first, second], record.wins[second, first])
            shares = [float(count) / total for count in counts]
            rows.append((name, int(total), *shares, *(() if held is None else _people_cells(held, name))))
        more = ("people: win", "people: tie", "people: loss", "labelled", "pearson", "kappa")
        return RoundTable(
            kind=TableKind.PAIRS,
            columns=("pair", "battles", "win", "tie", "loss", *(() if held is None else more)),
            rows=tuple(rows),
            notes=() if held is None else held.notes,
        )

    def _judges(self, rounds: Sequence[Round], labels: Path) -> RoundTable:
        held = [held_against_people(self._store, found, labels) for found in rounds]
        pairs = sorted({name for one in held for name in one.agreement})
        rows = [
            (
                found.name,
                found.judge_name,
                *(one.agreement[name].pearson.value if name in one.agreement else None for name in pairs),
            )
            for found, one in zip(rounds, held, strict=True)
        ]
        return RoundTable(
            kind=TableKind.JUDGES,
            columns=("round", "judge", *pairs),
            rows=tuple(rows),
            notes=tuple(
                note
                for found, one in zip(rounds, held, strict=True)
                for note in (*one.notes, *_uncorrelated(found.name, one))
            ),
        )

    def _rates(self, found: Round) -> RateTable:
        table = table_of(self._battles(found))
        reference = self._store.sets.summary(found.set_name).reference_name
        return win_rates(table, reference=reference if reference in table.systems else None)

    def _unjudged(self, found: Round) -> tuple[str, ...]:
        """The systems of a round of which no battle was judged."""
        judged = {
            side for one in self._battles(found) if one.preference for side in (one.system_a, one.system_b)
        }
        return tuple(one.system for one in entrants_of(self._store, found) if one.system not in judged)

    def _battles(self, found: Round) -> tuple[BattleRecord, ...]:
        return tuple(self._store.verdicts.battles(found.name))


def _unjudged_notes(found: Round, systems: Sequence[str]) -> tuple[str, ...]:
    return (f"{found.name}: no judged battle of {', '.join(systems)}.",) if systems else ()


def _uncorrelated(name: str, held: AgainstPeople) -> tuple[str, ...]:
    """The pairs of systems whose labels and verdicts have no correlation, in a sentence."""
    pairs = [pair for pair, found in held.agreement.items() if found.pearson.value is None]
    why = "labels or verdicts are too few or never vary"
    return (f"{name}: no correlation for {', '.join(pairs)}, since {why}.",) if pairs else ()


def _people_cells(held: AgainstPeople, name: str) -> tuple[Cell, ...]:
    shares = held.people.get(name, (None, None, None))
    found = held.agreement.get(name)
    if found is None:
        return (*shares, None, None, None)
    return (*shares, found.pairs, found.pearson.value, found.kappa.value)


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
