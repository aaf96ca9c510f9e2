"""Tables of what metrics say: references beside answers (Table 6), and CRUX's coverage with its correlations.

Sources: RAG-QA Arena, section 7.1, where linguists decide completeness and citation accuracy and here words
do, as in `arena references measure`; CRUX, section 5 and its tables 2 and 3.
"""

from __future__ import annotations

from arena.services.accounts.auth import Caller
from arena.services.metrics.agreement import AgreementRequest, AgreementService
from arena.services.references.export import ReferenceExports
from arena.services.rounds.battle_table import table_of
from arena.services.rounds.models import entrants_of
from arena.services.tables.model import Shown
from data.records import Round
from data.stats import Interval
from data.store import Store
from leaderboard.export.paper import Cell, Column, Measured, PaperTable, Unit
from leaderboard.rates import win_rates
from leaderboard.stats.intervals import wilson
from leaderboard.vocabulary import OVERALL

NAMES = {"kendall": "Kendall's τ", "spearman": "Spearman's ρ", "pearson": "Pearson's r"}
COVERAGE = ("context-crux", "answer-crux")
BY_WORDS = "Words decide completeness and citation accuracy, not people: shares of texts without any lapse."


def coverage_by_system(agreement: AgreementService, set_name: str, judge: str) -> PaperTable:
    """Mean coverage of contexts and answers of each system, by the questions that all of them have."""
    found = agreement.systems(AgreementRequest(set_name=set_name, judge=judge))
    return PaperTable(
        columns=(
            Column(key="system", header="system"),
            *(
                Column(key=name, header=header, unit=Unit.SHARE, best_first=True)
                for name, header in zip(COVERAGE, ("context", "answer"), strict=True)
            ),
        ),
        rows=tuple((row["system"], row["context"], row["answer"]) for row in found["systems"]),
        notes=_notes(found["undefined"], found["questions"]),
    )


def correlations(agreement: AgreementService, set_name: str, judge: str) -> PaperTable:
    """Correlations over systems of the two coverages, with intervals by questions."""
    found = agreement.systems(AgreementRequest(set_name=set_name, judge=judge))
    rows: list[tuple[Cell, ...]] = []
    for name, header in NAMES.items():
        one = found["correlations"].get(name)
        if one is None:
            continue
        whole = one["lower"] is not None and one["upper"] is not None
        interval = Interval(one["lower"], one["upper"]) if whole else None
        rows.append((header, Measured(value=one["value"], interval=interval), len(found["systems"])))
    return PaperTable(
        columns=(
            Column(key="coefficient", header="coefficient"),
            Column(
                key="correlation",
                header="context with answer",
                unit=Unit.COEFFICIENT,
                bounds=("lower", "upper"),
            ),
            Column(key="systems", header="systems", unit=Unit.COUNT),
        ),
        rows=tuple(rows),
        notes=_notes(found["undefined"], found["questions"]),
    )


def _notes(undefined: str, questions: int) -> tuple[str, ...]:
    return (undefined,) if undefined else (f"{questions:,} questions that every system has scores of.",)


def references_and_answers(
    store: Store, exports: ReferenceExports, round_: Round, shown: Shown, caller: Caller
) -> PaperTable:
    """The reference first, then the systems of a round.

    Raises:
        ForbiddenError: Only organisers may: short answers are behind the shares.
    """
    systems = [entrant.system for entrant in entrants_of(store, round_)]
    found = exports.measure_set(round_.set_name, systems, caller=caller)
    rates = win_rates(table_of(tuple(store.verdicts.battles(round_.name))), by_domain=False)
    wins = {row.system: row for row in rates.rows if row.domain == OVERALL}
    rows: list[tuple[Cell, ...]] = []
    for name, one in found["systems"].items():
        won = wins.get(name)
        rows.append(
            (
                name,
                one["texts"],
                _share(one["complete_texts"], one["with_short_answers"]),
                _share(one["accurate_texts"], one["with_citations"]),
                None if won is None else Measured(value=won.win_rate, interval=won.win_interval),
            )
        )
    unmeasured = found["references_without_citations"]
    return PaperTable(
        columns=(
            Column(key="system", header="system"),
            Column(key="texts", header="texts", unit=Unit.COUNT),
            *(
                shown.column(name, name, best_first=True)
                for name in ("completeness", "citation accuracy", "wins")
            ),
        ),
        rows=tuple(rows),
        notes=(
            BY_WORDS,
            *((f"{unmeasured:,} references have no citations to measure.",) if unmeasured else ()),
        ),
    )


def _share(value: float | None, texts: int) -> Measured | None:
    return None if value is None else Measured(value=value, interval=wilson(value, texts))
