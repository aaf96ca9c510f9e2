"""Stored scores as tables: by system, domain or question, with what each paper reports beside its score."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from statistics import fmean, stdev

from arena.models import results as shapes
from arena.services.accounts.auth import OPERATOR, Caller
from arena.services.accounts.set_access import SetAccess
from arena.services.metrics.measures import ALPHA_NDCG, K_FROM, StoredScores, claims_at, pooled_rankings
from arena.services.metrics.scoring import entrants_of, notes_of, readable_by
from data.errors import NotFoundError
from data.models import ENGINE, Outcome, Submission
from data.models.words import to_json
from data.progress import counted
from data.store import Store
from data.store.scores import ScoredAnswer
from judges.metrics.registry import Measure, metric_info, metrics
from judges.metrics.relations.model import scorer_of

EMBEDDED = "embedded"
ALL = "all"


class By(StrEnum):
    """Grouping of a table's rows."""

    SYSTEM = "system"
    DOMAIN = "domain"
    QUESTION = "question"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRequest:
    """Request for scores.

    Attributes:
        judge: Under what name they are stored (`JUDGE@MODEL …`), or what it begins with; `embedded` for the
            version without an LLM; empty: the embedded ones where there are any, else those that there are.
        systems: Only of these; empty: of all but the reference.
    """

    set_name: str
    metric: str
    judge: str = ""
    systems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """A measure over answers.

    Attributes:
        answers: Answers of which it is defined.
        mean: Of these.
        sd: Standard deviation over answers, the ± of the papers; None for one answer.
        lower: Of the 95 % BCa interval of the mean over questions, as boards have it; None where there is
            one question alone. `upper` likewise.
    """

    answers: int
    mean: float | None
    sd: float | None
    lower: float | None
    upper: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRow:
    """A line of a table.

    Attributes:
        name: Of the system, domain or question; `all` for the last line.
        answers: Answers that were tried.
        unscored: Those without a score, by outcome.
        values: By measure.
    """

    name: str
    answers: int
    unscored: Mapping[str, int]
    values: Mapping[str, Spread]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreTable:
    """Scores of a set by one metric.

    Attributes:
        judge: Under what name they are stored.
        untried: Answers of the set's newest submissions that were never tried.
        k: Of F1@K, from the data; None for metrics without.
        notes: What must be known of the scores: who told that claims are supported or contradicted, and how
            often that is right; of how many answers passages were cut, or nothing is cited.
    """

    set: str
    metric: str
    judge: str
    by: By
    untried: int
    k: float | None
    measures: tuple[Measure, ...]
    rows: tuple[ScoreRow, ...]
    notes: tuple[str, ...]

    def shown(self) -> shapes.ScoreTable:
        """Return the JSON of routes and commands; each row has its name under the table's grouping."""
        return shapes.ScoreTable.of(
            self,
            k_from=K_FROM if self.k is not None else None,
            measures={measure.name: measure.symbol for measure in self.measures},
            rows=[
                {
                    self.by.value: row.name,
                    "answers": row.answers,
                    "unscored": dict(row.unscored),
                    **{name: to_json(spread) for name, spread in row.values.items()},
                }
                for row in self.rows
            ],
        )


class ScoreTableService:
    """Reads stored scores. Nothing is scored.

    Somebody sees the scores of the answers that they may read, and details where these quote no hidden text.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def scored(self, set_name: str, *, caller: Caller = OPERATOR) -> Mapping[str, tuple[str, ...]]:
        """Return the sources of scores by metric; `embedded` is the version without an LLM."""
        numbers = [entrant.id for entrant in self._entrants(set_name, (), caller)]
        known = {info.name: self._store.scores.judges(numbers, metric=info.name) for info in metrics()}
        return {metric: tuple(name or EMBEDDED for name in names) for metric, names in known.items() if names}

    def table(self, request: ScoreRequest, by: By, *, caller: Caller = OPERATOR) -> ScoreTable:
        """Return a table of means over answers, a last line being over all of them."""
        stored = self.stored(request, caller=caller)
        name_of = _KEYS[by]
        grouped: dict[str, list[ScoredAnswer]] = defaultdict(list)
        for answer in stored.answers:
            grouped[name_of(answer)].append(answer)
        rows = [_row(name, answers, stored) for name, answers in grouped.items()]
        return ScoreTable(
            set=request.set_name,
            metric=request.metric,
            judge=stored.judge or EMBEDDED,
            by=by,
            untried=stored.untried,
            k=stored.k,
            measures=stored.measures,
            rows=(*rows, _row(ALL, stored.answers, stored)),
            notes=_notes(request.metric, stored.answers),
        )

    def export(
        self, request: ScoreRequest, destination: Path, *, caller: Caller = OPERATOR
    ) -> tuple[int, tuple[Path, ...]]:
        """Write a row an answer: scores, measures and posteriors; see `write_scores` for the formats.

        Returns:
            How many answers were written, and the files.
        """
        from arena.services.metrics.measures import write_scores

        stored = self.stored(request, caller=caller)
        return len(stored.answers), write_scores(stored, request.set_name, request.metric, destination)

    def stored(self, request: ScoreRequest, *, caller: Caller = OPERATOR) -> StoredScores:
        """Return the scores that are asked for."""
        measures = metric_info(request.metric).all_measures
        numbers = [one.id for one in self._entrants(request.set_name, request.systems, caller)]
        judge = self._judge(numbers, request)
        found = self._store.scores.detailed(numbers, metric=request.metric, judge=judge)
        answers = tuple(counted(found, f"reading scores by {request.metric}"))
        k = claims_at(answers) if any(measure.name == "f1_at_k" for measure in measures) else None
        ranked = any(measure.name == ALPHA_NDCG for measure in measures)
        untried = len(self._store.scores.answers_of(numbers)) - len(answers)
        return StoredScores(
            judge=judge,
            answers=answers,
            measures=measures,
            k=k,
            untried=untried,
            rankings=pooled_rankings(answers) if ranked else {},
            quoting=not SetAccess(self._store, caller, request.set_name).hides_references,
        )

    def _entrants(self, set_name: str, systems: Sequence[str], caller: Caller) -> tuple[Submission, ...]:
        return entrants_of(self._store, set_name, systems, seen=readable_by(self._store, set_name, caller))

    def _judge(self, numbers: Sequence[int], request: ScoreRequest) -> str:
        known = self._store.scores.judges(numbers, metric=request.metric)
        shown = ", ".join(name or EMBEDDED for name in known)
        if not known:
            message = f"No answer of {request.set_name} has a score by {request.metric}."
            advice = f"Run `arena metrics run --set {request.set_name} --metric {request.metric}` first."
            raise NotFoundError(message, advice=advice)
        if not request.judge and ("" in known or len(known) == 1):
            return "" if "" in known else known[0]
        wanted = "" if request.judge == EMBEDDED else request.judge
        fitting = [name for name in known if name == wanted] or [
            name for name in known if wanted and name.startswith(wanted)
        ]
        if len(fitting) != 1:
            what = f"begin with {request.judge!r}" if request.judge else "could be meant"
            message = f"{len(fitting) or 'No'} scores by {request.metric} {what}."
            raise NotFoundError(message, advice=f"Name one with --judge: {shown}.")
        return fitting[0]


_KEYS: Mapping[By, Callable[[ScoredAnswer], str]] = {
    By.SYSTEM: lambda answer: answer.system,
    By.DOMAIN: lambda answer: answer.domain,
    By.QUESTION: lambda answer: answer.question_id,
}


def _notes(metric: str, answers: Sequence[ScoredAnswer]) -> tuple[str, ...]:
    scored = [answer for answer in answers if answer.score is not None]
    told: dict[str, None] = {}
    if metric_info(metric).rates_claims:
        for answer in scored:
            told[scorer_of(answer.judge, str(answer.details.get(ENGINE) or "")).sentence] = None
    counts = Counter(note for answer in scored for note in notes_of(answer))
    return (*told, *(f"{count:,} of {len(scored):,} answers: {note}" for note, count in counts.most_common()))


def _row(name: str, answers: Sequence[ScoredAnswer], stored: StoredScores) -> ScoreRow:
    outcomes = Counter(answer.outcome.value for answer in answers if answer.outcome is not Outcome.JUDGED)
    by_measure: dict[str, list[tuple[str, float]]] = {measure.name: [] for measure in stored.measures}
    for answer in answers:
        for measure, value in stored.values(answer).items():
            if value is not None:
                by_measure[measure].append((answer.question_id, value))
    spreads = {measure: _spread(values) for measure, values in by_measure.items()}
    return ScoreRow(name=name, answers=len(answers), unscored=dict(outcomes), values=spreads)


def _spread(values: Sequence[tuple[str, float]]) -> Spread:
    import numpy as np

    from leaderboard.stats import bca_mean

    if not values:
        return Spread(answers=0, mean=None, sd=None, lower=None, upper=None)
    sums: dict[str, float] = defaultdict(float)
    for question, value in values:
        sums[question] += value
    counts = Counter(question for question, _ in values)
    interval = bca_mean(np.fromiter(sums.values(), float), np.array([counts[name] for name in sums], float))
    return Spread(
        answers=len(values),
        mean=fmean(value for _, value in values),
        sd=stdev(value for _, value in values) if len(values) > 1 else None,
        lower=None if interval is None else interval.lower,
        upper=None if interval is None else interval.upper,
    )
