"""Tables of systems: ratings, "no answer", attacks, their question set, and what metrics say of them.

Sources: RAG-QA Arena, tables 5, 9, 2 and 6, in which linguists decide completeness and citation accuracy, and
here words do, as in `arena references measure`; CRUX, section 5 and its tables 2 and 3.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena.services.accounts.auth import Caller
from arena.services.metrics.agreement import AgreementRequest, AgreementService
from arena.services.question_sets.statistics import StatisticsService
from arena.services.references.export import ReferenceExports
from arena.services.rounds.battle_table import table_of
from arena.services.rounds.canaries import canary_results
from arena.services.rounds.models import entrants_of
from arena.services.tables.model import Shown
from data.intervals import Interval, wilson
from data.records import BattleRecord, Round
from data.store import Store
from judges.metrics.context import ANSWER, CONTEXT
from leaderboard.export.paper import Cell, Column, Measured, PaperTable, Unit
from leaderboard.rates import win_rates
from leaderboard.ratings import Settings
from leaderboard.standings.answer_stats import too_few_answers
from leaderboard.standings.build import board_ratings
from leaderboard.vocabulary import OVERALL

SEPARATED = (
    "Letters: systems that share one are not told apart (paired differences, all pairs at once, 5 %); "
    "a system without a rating has none."
)
SYSTEM = Column(key="system", header="system")
NAMES = {"kendall": "Kendall's τ", "spearman": "Spearman's ρ", "pearson": "Pearson's r"}
BY_WORDS = "Words decide completeness and citation accuracy, not people: shares of texts without any lapse."


def ratings(store: Store, round_: Round, shown: Shown) -> PaperTable:
    """Ratings with intervals; systems without one come last, with the reason."""
    battles = tuple(store.verdicts.battles(round_.name))
    unjudged = unjudged_systems(store, round_, battles)
    reference = store.sets.summary(round_.set_name).reference_name
    table = table_of(battles)
    rated = board_ratings(table, reference, Settings(seed=round_.seed))
    few = too_few_answers(table, {}, reference=reference)
    rows: list[tuple[Cell, ...]] = [
        (
            rating.system,
            Measured(
                value=rating.rating,
                interval=None
                if rating.lower is None or rating.upper is None
                else Interval(rating.lower, rating.upper),
                mark=rating.letters or "",
            ),
            rating.battles,
        )
        for rating in (rated.ratings if rated else ())
    ]
    placed = {*(row[0] for row in rows), *unjudged}
    rows += [(system, None, None) for system in table.systems if system not in placed]
    rating_column = Column(
        key="rating",
        header="rating",
        unit=Unit.POINTS,
        best_first=True,
        bounds=("lower", "upper"),
        mark="letters" if shown.marks else None,
    )
    return PaperTable(
        columns=(SYSTEM, rating_column, Column(key="battles", header="battles", unit=Unit.COUNT)),
        rows=(*rows, *((system, None, None) for system in unjudged)),
        notes=(
            *unjudged_notes(round_, unjudged),
            *(f"{system}: {reason}" for system, reason in few.items()),
            *(() if rated else (f"{round_.name}: its battles rank nobody.",)),
            *((SEPARATED,) if shown.marks else ()),
        ),
    )


def no_answers(store: Store, round_: Round, shown: Shown) -> PaperTable:
    """Shares of "no answer" replies of each system, overall and by domain."""
    domains = tuple(store.sets.summary(round_.set_name).domains)
    rows: list[tuple[Cell, ...]] = []
    for entrant in entrants_of(store, round_):
        counts = store.submissions.domain_counts(entrant.id)
        total = sum(count for count, _ in counts.values())
        silent = sum(none for _, none in counts.values())
        shares = [_share(*reversed(counts[domain])) if domain in counts else None for domain in domains]
        rows.append((entrant.system, _share(silent, total), *shares))
    return PaperTable(
        columns=(SYSTEM, *(shown.column(domain, domain) for domain in (OVERALL, *domains))), rows=tuple(rows)
    )


def attacks(store: Store, round_: Round, shown: Shown) -> PaperTable:
    """Canaries by family of attack, and all of them."""
    report = canary_results(store.canaries.of_round(round_.name)).report
    rows = [
        (family, judged, won, _share(won, judged))
        for family, (judged, won) in sorted(report.by_family.items())
    ]
    return PaperTable(
        columns=(
            Column(key="family", header="family"),
            Column(key="judged", header="judged", unit=Unit.COUNT),
            Column(key="succeeded", header="succeeded", unit=Unit.COUNT),
            shown.column("success rate", "success rate"),
        ),
        rows=(*rows, ("all", report.judged, report.succeeded, _share(report.succeeded, report.judged))),
        notes=(f"{report.unjudged} canaries without a verdict",) if report.unjudged else (),
    )


def question_set(store: Store, set_name: str) -> PaperTable:
    """What a set is made of, by domain, its own domains first.

    Source: RAG-QA Arena, tables 2 and 7; documents and passages are those of the questions, where the paper
    counts those of the corpus.
    """
    whole, *parts = StatisticsService(store).of(set_name)

    def number(key: str, header: str, group: str) -> Column:
        return Column(key=key, header=header, group=group, unit=Unit.POINTS)

    return PaperTable(
        columns=(
            Column(key="domain", header="domain"),
            Column(key="questions", header="questions", unit=Unit.COUNT),
            number("short answers", "A/Q", "short answers"),
            number("words a short answer", "W/A", "short answers"),
            Column(key="references", header="answers", group="references", unit=Unit.COUNT),
            number("words a reference", "W/A", "references"),
            number("documents", "documents", "references"),
            number("passages", "P/Q", "passages"),
            number("words a passage", "W/P", "passages"),
        ),
        rows=tuple(
            (
                row.domain,
                row.questions,
                row.short_answers,
                row.short_answer_words,
                row.references,
                row.words_a_question,
                row.documents,
                row.passages,
                row.passage_words,
            )
            for row in (*parts, whole)
        ),
        notes=("Means a question; what no question has is undefined. The corpus is not counted.",),
    )


def unjudged_systems(store: Store, round_: Round, battles: Sequence[BattleRecord]) -> tuple[str, ...]:
    """The systems of a round of which no battle was judged."""
    judged = {side for battle in battles if battle.preference for side in (battle.system_a, battle.system_b)}
    return tuple(entrant.system for entrant in entrants_of(store, round_) if entrant.system not in judged)


def unjudged_notes(round_: Round, systems: Sequence[str]) -> tuple[str, ...]:
    """Those systems in a sentence, where there are some."""
    return (f"{round_.name}: no judged battle of {', '.join(systems)}.",) if systems else ()


def coverage_by_system(agreement: AgreementService, set_name: str, judge: str) -> PaperTable:
    """Mean coverage of contexts and answers of each system, by the questions that all of them have."""
    found = agreement.systems(AgreementRequest(set_name=set_name, judge=judge))
    return PaperTable(
        columns=(
            Column(key="system", header="system"),
            *(
                Column(key=name, header=header, unit=Unit.SHARE, best_first=True)
                for name, header in zip((CONTEXT, ANSWER), ("context", "answer"), strict=True)
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
                _measured(one["complete_texts"], one["with_short_answers"]),
                _measured(one["accurate_texts"], one["with_citations"]),
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


def _share(count: int, total: int) -> Measured | None:
    return _measured(count / total, total) if total else None


def _measured(value: float | None, texts: int) -> Measured | None:
    return None if value is None else Measured(value=value, interval=wilson(value, texts))
