"""Tables of stored scores by system, domain or question, with each paper's measures."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from arena.models.results import ScoreTable
from arena.services.accounts.auth import OPERATOR, Caller
from arena.services.accounts.set_access import SetAccess
from arena.services.metrics.measures import ALPHA_NDCG, K_FROM, StoredScores, claims_at, pooled_rankings
from arena.services.metrics.scoring import entrants_of, notes_of, readable_by
from data.errors import NotFoundError
from data.models import ENGINE, Outcome, Submission
from data.progress import counted
from data.store import Store
from data.store.scores import ScoredAnswer
from judges.metrics.registry import metric_info, metrics
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
        judge: Name in the store (`JUDGE@MODEL …`) or its prefix; `embedded` for the version without an LLM;
            empty for the embedded scores, or without them for the only other scores.
        systems: Systems; empty for all without the reference.
    """

    set_name: str
    metric: str
    judge: str = ""
    systems: tuple[str, ...] = ()


class ScoreTableService:
    """Reader of stored scores; callers see scores of answers that they may read."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def scored(self, set_name: str, *, caller: Caller = OPERATOR) -> Mapping[str, tuple[str, ...]]:
        """Return the sources of scores by metric; `embedded` is the version without an LLM."""
        numbers = [entrant.id for entrant in self._entrants(set_name, (), caller)]
        known = {info.name: self._store.scores.judges(numbers, metric=info.name) for info in metrics()}
        return {metric: tuple(name or EMBEDDED for name in names) for metric, names in known.items() if names}

    def table(self, request: ScoreRequest, by: By, *, caller: Caller = OPERATOR) -> ScoreTable:
        """Return a table of means over answers; the last line is over all answers."""
        stored = self.stored(request, caller=caller)
        name_of = _KEYS[by]
        grouped: dict[str, list[ScoredAnswer]] = defaultdict(list)
        for answer in stored.answers:
            grouped[name_of(answer)].append(answer)
        rows = [{by.value: name, **_row(answers, stored)} for name, answers in grouped.items()]
        return ScoreTable(
            set=request.set_name,
            metric=request.metric,
            judge=stored.judge or EMBEDDED,
            by=by.value,
            untried=stored.untried,
            k=stored.k,
            k_from=None if stored.k is None else K_FROM,
            measures={measure.name: measure.symbol for measure in stored.measures},
            rows=[*rows, {by.value: ALL, **_row(stored.answers, stored)}],
            notes=list(_notes(request.metric, stored.answers)),
        )

    def export(
        self, request: ScoreRequest, destination: Path, *, caller: Caller = OPERATOR
    ) -> tuple[int, tuple[Path, ...]]:
        """Write a row per answer; see `write_scores` for the formats."""
        from arena.services.metrics.measures import write_scores

        stored = self.stored(request, caller=caller)
        return len(stored.answers), write_scores(stored, request.set_name, request.metric, destination)

    def stored(self, request: ScoreRequest, *, caller: Caller = OPERATOR) -> StoredScores:
        """Return the requested scores."""
        measures = metric_info(request.metric).all_measures
        numbers = [row.id for row in self._entrants(request.set_name, request.systems, caller)]
        judge = self._judge(numbers, request)
        details = self._store.scores.detailed(numbers, metric=request.metric, judge=judge)
        answers = tuple(counted(details, f"reading scores by {request.metric}"))
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
        names = ", ".join(name or EMBEDDED for name in known)
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
            what = f"begin with {request.judge!r}" if request.judge else "match"
            message = f"{len(fitting) or 'No'} scores by {request.metric} {what}."
            raise NotFoundError(message, advice=f"Choose one with --judge: {names}.")
        return fitting[0]


_KEYS: Mapping[By, Callable[[ScoredAnswer], str]] = {
    By.SYSTEM: lambda answer: answer.system,
    By.DOMAIN: lambda answer: answer.domain,
    By.QUESTION: lambda answer: answer.question_id,
}


def _notes(metric: str, answers: Sequence[ScoredAnswer]) -> tuple[str, ...]:
    scored = [answer for answer in answers if answer.score is not None]
    sources: dict[str, None] = {}
    if metric_info(metric).rates_claims:
        for answer in scored:
            sources[scorer_of(answer.judge, str(answer.details.get(ENGINE) or "")).sentence] = None
    counts = Counter(note for answer in scored for note in notes_of(answer))
    return (
        *sources,
        *(f"{count:,} of {len(scored):,} answers: {note}" for note, count in counts.most_common()),
    )


def _row(answers: Sequence[ScoredAnswer], stored: StoredScores) -> dict[str, Any]:
    outcomes = Counter(answer.outcome.value for answer in answers if answer.outcome is not Outcome.JUDGED)
    by_measure: dict[str, list[tuple[str, float]]] = {measure.name: [] for measure in stored.measures}
    for answer in answers:
        for measure, value in stored.values(answer).items():
            if value is not None:
                by_measure[measure].append((answer.question_id, value))
    spreads = {measure: _spread(values) for measure, values in by_measure.items()}
    return {"answers": len(answers), "unscored": dict(outcomes), **spreads}


def _spread(values: Sequence[tuple[str, float]]) -> dict[str, float | None]:
    """Return mean and standard deviation over answers, and the BCa interval over questions, as on boards."""
    import numpy as np

    from leaderboard.stats import bca_means

    if not values:
        return {"answers": 0, "mean": None, "sd": None, "lower": None, "upper": None}
    sums: dict[str, float] = defaultdict(float)
    for question, value in values:
        sums[question] += value
    counts = Counter(question for question, _ in values)
    answered = np.array([counts[name] for name in sums], float)
    (interval,) = bca_means([(np.fromiter(sums.values(), float), answered)])
    return {
        "answers": len(values),
        "mean": fmean(value for _, value in values),
        "sd": stdev(value for _, value in values) if len(values) > 1 else None,
        "lower": None if interval is None else interval.lower,
        "upper": None if interval is None else interval.upper,
    }
