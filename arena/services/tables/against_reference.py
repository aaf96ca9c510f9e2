"""Rates against the reference: by domain (Table 3), and by model and number of passages (Table 10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.services.rounds.battle_table import table_of
from arena.services.rounds.models import entrants_of
from arena.services.tables.model import Shown
from arena.services.tables.systems import SEPARATED, unjudged_notes, unjudged_systems
from data.records import BattleRecord, Round, SystemCard
from data.store import Store
from leaderboard.battles import BattleTable
from leaderboard.export.paper import Cell, Column, Measured, PaperTable, Unit
from leaderboard.rates import RateTable, win_rates
from leaderboard.ratings.result import RatingTable
from leaderboard.standings.build import board_ratings
from leaderboard.vocabulary import OVERALL

MORE_PASSAGES = (
    "*: told apart from the same model's system with the next fewer passages, for all pairs at once (5 %)."
)
MARK = "*"


def rates_by_domain(store: Store, round_: Round, shown: Shown) -> PaperTable:
    """Win and win+tie rates by domain, the systems without a judged battle last."""
    battles = tuple(store.verdicts.battles(round_.name))
    rates = _rates(store, round_, battles)
    domains = _domains(rates)
    judged = dict.fromkeys(row.system for row in rates.rows)
    unjudged = unjudged_systems(store, round_, battles)
    letters: Mapping[str, str] = {}
    if shown.marks and judged:
        rated = board_ratings(table_of(battles), store.sets.summary(round_.set_name).reference_name)
        letters = {rating.system: rating.letters or "" for rating in (rated.ratings if rated else ())}
    marks = {(system, OVERALL): found for system, found in letters.items()}
    return PaperTable(
        columns=(Column(key="system", header="system"), *_headers(domains, shown, marked=(OVERALL,))),
        rows=tuple((system, *_cells(rates, system, domains, marks)) for system in (*judged, *unjudged)),
        notes=(*unjudged_notes(round_, unjudged), *((SEPARATED,) if shown.marks else ())),
    )


def rates_by_passages(store: Store, rounds: Sequence[Round], shown: Shown) -> PaperTable:
    """Rates of the same models with more and more passages, of all rounds one below the other.

    A mark says that a system is told apart from the same model's with the next fewer passages in its round,
    on the questions of both.
    """
    lines: list[tuple[tuple[str, float, str], tuple[Cell, ...], tuple[Cell, ...]]] = []
    silent, tables, domains = 0, [], dict.fromkeys([OVERALL])
    for round_ in rounds:
        battles = tuple(store.verdicts.battles(round_.name))
        rates = _rates(store, round_, battles)
        domains |= dict.fromkeys(_domains(rates))
        tables.append((round_, battles, rates))
    for round_, battles, rates in tables:
        cards = {entrant.system: entrant.card for entrant in entrants_of(store, round_)}
        named = [system for system in dict.fromkeys(row.system for row in rates.rows) if system in cards]
        told = sorted(
            (name for name in named if cards[name].passages),
            key=lambda name: (cards[name].model, _number(cards[name].passages), name),
        )
        silent += len(named) - len(told)
        marks: dict[tuple[str, str], str] = {}
        if shown.marks:
            reference = store.sets.summary(round_.set_name).reference_name
            rated = _rated(table_of(battles), reference)
            for more in told:
                fewer = _with_fewer(told, cards, more)
                marks |= {} if fewer is None else _told_apart(rated, more, fewer)
        lines += [
            (
                (cards[system].model, _number(cards[system].passages), system),
                (cards[system].model, cards[system].passages, system),
                (round_.name, *_cells(rates, system, tuple(domains), marks)),
            )
            for system in told
        ]
    several = len(rounds) > 1
    return PaperTable(
        columns=(
            Column(key="model", header="model"),
            Column(key="passages", header="passages"),
            Column(key="system", header="system"),
            *((Column(key="round", header="round"),) if several else ()),
            *_headers(tuple(domains), shown, marked=tuple(domains)),
        ),
        rows=tuple(
            (*who, *(rest if several else rest[1:]))
            for _, who, rest in sorted(lines, key=lambda line: (line[0], str(line[2][0])))
        ),
        notes=(
            *(
                (f"{silent} systems are left out: their cards do not say how many passages.",)
                if silent
                else ()
            ),
            *((MORE_PASSAGES,) if shown.marks else ()),
        ),
    )


def _with_fewer(told: Sequence[str], cards: Mapping[str, SystemCard], more: str) -> str | None:
    """The same model's system with the next fewer passages; of several the one of its name."""
    card = cards[more]
    number = _number(card.passages)
    fewer = [
        name for name in told if cards[name].model == card.model and _number(cards[name].passages) < number
    ]
    most = max((_number(cards[name].passages) for name in fewer), default=0)
    nearest = [name for name in fewer if _number(cards[name].passages) == most]
    if len(nearest) == 1:
        return nearest[0]
    return next((name for name in nearest if more.replace(card.passages, cards[name].passages) == name), None)


def _rated(table: BattleTable, reference: str) -> Mapping[str, RatingTable]:
    """The ratings that tell systems apart, of all battles and of each domain's alone, where they exist."""
    parts = {domain: table.select(table.domain == code) for code, domain in enumerate(table.domains)}
    rated = {domain: board_ratings(part, reference) for domain, part in {OVERALL: table, **parts}.items()}
    return {domain: ratings for domain, ratings in rated.items() if ratings is not None}


def _told_apart(rated: Mapping[str, RatingTable], more: str, fewer: str) -> Mapping[tuple[str, str], str]:
    return {
        (more, domain): MARK
        for domain, ratings in rated.items()
        if {more, fewer} <= set(ratings.systems) and ratings.separates(more, fewer)
    }


def _rates(store: Store, round_: Round, battles: Sequence[BattleRecord]) -> RateTable:
    table = table_of(battles)
    reference = store.sets.summary(round_.set_name).reference_name
    return win_rates(table, reference=reference if reference in table.systems else None)


def _domains(rates: RateTable) -> tuple[str, ...]:
    rest = sorted({row.domain for row in rates.rows} - {OVERALL})
    return (OVERALL, *rest)


def _headers(domains: Sequence[str], shown: Shown, marked: Sequence[str]) -> tuple[Column, ...]:
    return tuple(
        shown.column(
            f"{domain} {name}",
            name,
            group=domain,
            unit=Unit.SHARE,
            best_first=True,
            marked=name == "W" and domain in marked,
        )
        for domain in domains
        for name in ("W", "W+T")
    )


def _cells(
    rates: RateTable, system: str, domains: Sequence[str], marks: Mapping[tuple[str, str], str]
) -> tuple[Measured | None, ...]:
    rows = {row.domain: row for row in rates.rows if row.system == system}
    cells: list[Measured | None] = []
    for domain in domains:
        row = rows.get(domain)
        if row is None:
            cells += [None, None]
            continue
        mark = marks.get((system, domain), "")
        cells.append(Measured(value=row.win_rate, interval=row.win_interval, mark=mark))
        cells.append(Measured(value=row.win_tie_rate, interval=row.win_tie_interval))
    return tuple(cells)


def _number(text: str) -> float:
    return float(text) if text.isdecimal() else float("inf")
