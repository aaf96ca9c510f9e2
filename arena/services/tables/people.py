"""Rounds beside people: every pair of systems (Table 4), and judges by their correlation (Table 8)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from arena.services.judging.human_labels import AgainstPeople, held_against_people
from arena.services.rounds.battle_table import table_of
from arena.services.tables.model import Shown
from data.records import Round
from data.store import Store
from leaderboard.agreement.coefficients import Estimate
from leaderboard.export.paper import Cell, Column, Measured, PaperTable, Unit
from leaderboard.standings.head_to_head import head_to_head, read_head_to_head
from leaderboard.stats.intervals import wilson

MARK = "*"
DECIDED = "* of a win: the sign test of wins and losses stands at 5 % for all pairs at once (Holm)."
CORRELATED = "* of a coefficient: its 95 % interval, by questions, leaves out 0."


def every_pair(store: Store, round_: Round, labels: Path | None, shown: Shown) -> PaperTable:
    """Wins, ties and losses of every pair that met; with labels also people, and how the judge agrees."""
    table = table_of(tuple(store.verdicts.battles(round_.name)))
    record = head_to_head(table, table.systems)
    tests = read_head_to_head(record.as_json())
    against_people = None if labels is None else held_against_people(store, round_, labels)
    rows: list[tuple[Cell, ...]] = []
    for first, second in combinations(range(len(record.systems)), 2):
        total = float(record.battles[first, second])
        if not total:
            continue
        name = f"{record.systems[first]} vs {record.systems[second]}"
        counts = (record.wins[first, second], record.ties[first, second], record.wins[second, first])
        test = tests.of(record.systems[first], record.systems[second])
        marks = (MARK if test is not None and test.apart else "", "", "")
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
