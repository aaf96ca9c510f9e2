"""Metric columns of a board, and the reasons for missing ones."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import astuple, dataclass, replace

from data.models import Question, written_by_people
from data.store import Store
from judges.metrics.registry import MetricInfo, Need, metrics
from leaderboard.standings.columns import BoardColumn, Surface, Unit, columns_on

HAS: dict[Need, Callable[[Question], bool]] = {
    Need.PASSAGES: lambda question: bool(question.passages),
    Need.REFERENCES: lambda question: bool(question.reference),
    Need.GROUND_TRUTH: lambda question: bool(question.passages or question.reference),
    Need.ASPECTS: lambda question: bool(question.aspects),
    Need.SUB_QUESTIONS: lambda question: bool(question.sub_questions),
    Need.NUGGETS: lambda question: bool(question.nuggets),
}


@dataclass(frozen=True, slots=True)
class BoardMetric:
    """Metric of a board; `missing` is the reason why a set lacks it."""

    info: MetricInfo
    missing: str = ""


NO_QUESTION = "no question of the set has {need}"
NO_CONTEXTS = "no answer file contains the contexts of its system"
NO_CITATIONS = "no answer cites its contexts or passages"
OF_ANSWERS: dict[Need, str] = {Need.CONTEXTS: NO_CONTEXTS, Need.CITATIONS: NO_CITATIONS}


def column_metrics() -> Mapping[str, MetricInfo]:
    """Return the metrics with a column by name, in column order."""
    return {info.name: info for info in metrics() if info.column is not None}


AFTER_RATES = 3
"""Place of the default metrics among the columns, after the rates."""


def metric_columns(scored: Collection[str] = ()) -> tuple[BoardColumn, ...]:
    """Return the columns of metrics: known ones first, then other `scored` names."""
    columns, known = column_metrics(), {info.name for info in metrics()}
    return (
        *(_column(info) for info in columns.values()),
        *(
            _scores(
                name,
                name,
                f"Mean score of its answers by the metric {name}, which a plugin provides",
                Unit.NUMBER,
            )
            for name in sorted({name for name in scored if " " not in name} - known)
        ),
    )


def column_meanings() -> Mapping[str, str]:
    """Return the meaning of each column of a board's page; metrics describe their own."""
    columns = (*columns_on(Surface.PAGES), *metric_columns())
    return {column.title: column.explained for column in columns}


def _column(info: MetricInfo) -> BoardColumn:
    heading, meaning, usual = ("", "", False) if info.column is None else astuple(info.column)[:3]
    column = _scores(info.name, heading, meaning.rstrip("."), Unit.SHARE if info.is_share else Unit.NUMBER)
    return replace(
        column, usual=usual, place=AFTER_RATES if usual else 0, help="A missing answer counts as 0."
    )


def _scores(name: str, heading: str, meaning: str, unit: Unit) -> BoardColumn:
    return BoardColumn(
        name=name,
        heading=heading,
        meaning=meaning,
        read=lambda line: (line["scores"].get(name) or {}).get("mean"),
        unit=unit,
        ends=(f"{name}_lower", f"{name}_upper"),
        surfaces=frozenset({Surface.PAGES}),
    )


def usual_metrics(reference_by: str, scored: Collection[str]) -> tuple[MetricInfo, ...]:
    """Return the metrics that a board shows by default.

    With scores against references written by people, the metric on references replaces the one on passages.
    """
    usual = [info for info in column_metrics().values() if info.column and info.column.usual]
    against_people = [info for info in usual if info.column and info.column.of_people]
    of_people = written_by_people(reference_by) and any(info.name in scored for info in against_people)
    return tuple(info for info in usual if info.column and info.column.of_people in {None, of_people})


def score_titles(scores: Collection[str], reference_by: str) -> Mapping[str, str]:
    """Return the titles of scores by name: comprehensiveness by an LLM, then default metrics, then others."""
    infos = {info.name: info for info in metrics()}
    usual = [info for info in usual_metrics(reference_by, scores) if info.column and info.column.covers]
    first = [info.filling(scores) for info in usual]
    by_llm = sorted(name for name in scores if name.startswith("comprehensiveness") and " " in name)
    titles = {}
    for name in dict.fromkeys((*by_llm, *filter(None, first), *sorted(scores))):
        info = infos.get(name.partition(" ")[0])
        column = None if info is None else info.column
        fills = info is not None and info.filling(scores) == name
        titles[name] = column.heading if column and fills else _title(info, name)
    return titles


def _title(info: MetricInfo | None, name: str) -> str:
    return name if info is None else " ".join([info.lexical_label or info.called, *name.split(" ")[1:]])


def board_metrics(store: Store, set_name: str) -> tuple[BoardMetric, ...]:
    """Return the metrics of a set's boards, with the reason for missing ones."""
    summary = store.sets.summary(set_name)
    has = dict.fromkeys(HAS, False)
    for _, question in store.sets.numbered(summary.id):
        has = {need: known or HAS[need](question) for need, known in has.items()}
        if all(has.values()):
            break
    live = store.submissions.find(set_name=set_name, newest=True)
    numbers = [entrant.id for entrant in live]
    has[Need.CONTEXTS] = store.scores.with_contexts(numbers)
    has[Need.CITATIONS] = store.scores.with_citations(numbers)
    return tuple(BoardMetric(info, why_missing(info.inputs, has)) for info in column_metrics().values())


def why_missing(needs: Sequence[Need], has: Mapping[Need, bool]) -> str:
    """Return the reason why a metric cannot be computed, as a clause; empty if it can."""
    lacking = [need for need in needs if not has[need]]
    return "; ".join(OF_ANSWERS.get(need, NO_QUESTION.format(need=need)) for need in lacking)
