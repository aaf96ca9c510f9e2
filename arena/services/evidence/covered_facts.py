"""Facts that answers cover, from metrics or from a judge's reasons.

Kinds of facts: nuggets, sub-questions, statements of the passages, aspects, facts of the reference. Each kind
comes from the first scorer of its metric.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from arena.services.boards.metric_columns import HAS
from arena.services.evidence.questions import AnswerView, QuestionView
from arena.services.evidence.reasons import CONTRADICTS, COVERS, MISSES, Fact, Reasons, Side
from data.store.scores import ScoredAnswer
from judges.metrics.registry import Facts, ReadFact, metrics, own_metrics

REFERENCE = "reference"
UNSEEN = "Their details quote hidden texts."


@dataclass(frozen=True, slots=True, kw_only=True)
class FactTable:
    """Facts of one kind by answer; a cell is None without a record."""

    kind: str
    source: str
    systems: tuple[str, ...]
    rows: tuple[tuple[str, tuple[ReadFact | None, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Covered:
    """Fact, whether each of two answers covers it, and a note for each."""

    fact: Fact
    first: bool
    second: bool
    notes: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class FactDiff:
    """Facts of one kind recorded for both answers; `unknown` counts the others, `missing` says why."""

    kind: str
    source: str = ""
    facts: tuple[Covered, ...] = ()
    unknown: int = 0
    missing: str = ""

    def by(self, *, first: bool, second: bool) -> tuple[Covered, ...]:
        """Return the facts covered by these sides."""
        return tuple(fact for fact in self.facts if (fact.first, fact.second) == (first, second))


def fact_tables(view: QuestionView) -> Iterator[FactTable]:
    """Yield a table of covered facts per kind."""
    for info in reversed(metrics()):
        if info.facts is not None and (table := _table(view.answers, info.name, info.facts)) is not None:
            yield table


def _table(answers: Sequence[AnswerView], name: str, facts: Facts) -> FactTable | None:
    scorers: dict[tuple[str, str], dict[str, ScoredAnswer]] = {}
    for answer in answers:
        for score in answer.scores:
            if _has_facts(name, facts, score.metric) and score.score is not None and score.details:
                scorers.setdefault((score.judge, score.metric), {})[answer.system] = score
    if not scorers:
        return None
    judge, metric = min(scorers, key=lambda scorer: (-len(scorers[scorer]), scorer))
    scores = scorers[judge, metric]
    rows: dict[str, dict[str, ReadFact]] = {}
    for system, score in scores.items():
        try:
            for fact in facts.read(score.details):
                rows.setdefault(fact.text, {})[system] = fact
        except Exception:
            if name in own_metrics():
                raise
            return None
    return FactTable(
        kind=facts.kind,
        source=f"{metric}, {judge or 'embedded'}",
        systems=tuple(scores),
        rows=tuple((text, tuple(map(cells.get, scores))) for text, cells in rows.items()),
    )


def _has_facts(name: str, facts: Facts, metric: str) -> bool:
    return metric.startswith(facts.prefix) if facts.prefix else metric == name


def fact_diffs(view: QuestionView, first: str, second: str) -> tuple[FactDiff, ...]:
    """Compare the facts of two answers by kind, known kinds first."""
    pair = [answer for name in (first, second) for answer in view.answers if answer.system == name]
    if {answer.system for answer in pair} != {first, second}:
        return ()
    diffs = []
    for info in reversed(metrics()):
        if info.facts is not None:
            table = _table(pair, info.name, info.facts)
            if table is not None and len(table.systems) == len(pair):
                sides = [{text: cells[at] for text, cells in table.rows} for at in range(len(pair))]
                diffs.append(_compared(table.kind, table.source, *sides))
            else:
                diffs.append(_missing(view, info.name, info.facts, pair))
    return tuple(sorted(diffs, key=lambda diff: bool(diff.missing)))


def _missing(view: QuestionView, name: str, facts: Facts, pair: Sequence[AnswerView]) -> FactDiff:
    need = facts.need
    scores = [s for answer in pair for s in answer.scores if _has_facts(name, facts, s.metric)]
    if any(score.score is not None and not score.details for score in scores):
        why = UNSEEN
    elif need in HAS and not HAS[need](view.question):
        why = f"This question has no {need}."
    else:
        why = f"Not recorded for both answers: `arena metrics run --set {view.set_name} --metric {name}`."
    return FactDiff(kind=facts.kind, missing=why)


def own_facts(first: str, diffs: Mapping[str, Sequence[FactDiff]]) -> Mapping[str, frozenset[str]]:
    """Return each system's own facts, from the diffs of `first` with every other system."""
    own: dict[str, set[str]] = {first: set(), **{other: set() for other in diffs}}
    for other, compared in diffs.items():
        for diff in compared:
            own[first] |= {covered.fact.text for covered in diff.by(first=True, second=False)}
            own[other] |= {covered.fact.text for covered in diff.by(first=False, second=True)}
    return {system: frozenset(texts) for system, texts in own.items()}


def reasons_diff(reasons: Reasons) -> FactDiff:
    """Compare the facts of a judgment's reasons, which list only the first ones."""
    kind = "sentences of the reference" if reasons.ground_truth == REFERENCE else "statements of the passages"
    return _compared(
        kind, f"the judge, against the {reasons.ground_truth}", _read(reasons.a), _read(reasons.b)
    )


def _read(side: Side) -> dict[str, ReadFact | None]:
    facts: dict[str, ReadFact | None] = {}
    for sign, note in ((COVERS, ""), (MISSES, ""), (CONTRADICTS, "contradicts it")):
        for fact in side.of(sign):
            covered = sign == COVERS
            facts[fact.text] = ReadFact(text=fact.text, covered=covered, passages=fact.passages, note=note)
    return facts


def _compared(
    kind: str, source: str, first: Mapping[str, ReadFact | None], second: Mapping[str, ReadFact | None]
) -> FactDiff:
    facts = tuple(
        Covered(
            fact=Fact(text=text, passages=tuple(fact.passages)),
            first=fact.covered,
            second=other.covered,
            notes=(fact.note, other.note),
        )
        for text in first
        if (fact := first[text]) is not None and (other := second.get(text)) is not None
    )
    texts = {text for side in (first, second) for text, fact in side.items() if fact is not None}
    return FactDiff(kind=kind, source=source, facts=facts, unknown=len(texts) - len(facts))
