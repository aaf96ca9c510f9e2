"""Measures in the details of scores, and their exports."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from data.errors import FileFormatError
from data.files.zip_files import atomic_bytes, atomic_text
from data.models import Outcome, Score
from data.progress import counted
from data.store.scores import ScoredAnswer
from data.system_names import file_name_of
from data.text import escape_formula
from judges.metrics.registry import SCORE, Measure

if TYPE_CHECKING:
    from data.store.scores import ScoredAnswer


ALPHA_NDCG = "alpha_ndcg"
COUNTS = ("supported", "contradicted", "undecided")
K_FROM = "median number of claims of the scored answers"


def pooled_rankings(answers: Sequence[ScoredAnswer]) -> dict[tuple[str, str], float | None]:
    """Return α-nDCG of contexts by system and question, with one ideal per question; None for old scores."""
    from judges.metrics.context.measures import pooled_ranked_coverage

    by_question: dict[str, dict[str, Score]] = {}
    for answer in answers:
        by_question.setdefault(answer.question_id, {})[answer.system] = Score(
            id=answer.question_id,
            metric=answer.metric,
            outcome=answer.outcome,
            score=answer.score,
            details=answer.details,
        )
    return {
        (system, question): value
        for question, scores in by_question.items()
        for system, value in pooled_ranked_coverage(scores).items()
    }


def claims_at(answers: Sequence[ScoredAnswer]) -> float | None:
    """Return the K of F1@K: the median number of claims of scored answers, if counted."""
    from judges.metrics.factuality.measures import median_claims

    numbers = [
        sum(answer.details[name] for name in COUNTS)
        for answer in answers
        if answer.outcome is Outcome.JUDGED and all(isinstance(answer.details.get(n), int) for n in COUNTS)
    ]
    return median_claims(numbers) if numbers else None


def values_of(answer: ScoredAnswer, measures: Sequence[Measure], k: float | None) -> dict[str, float | None]:
    """Return the measures of an answer; None if undefined or unscored."""
    if answer.score is None:
        return dict.fromkeys((measure.name for measure in measures), None)
    values = {measure.name: _number(answer.details, measure.path) for measure in measures if measure.path}
    values[SCORE] = answer.score
    if any(not measure.path and measure.name != SCORE for measure in measures):
        values |= _at_k(answer.details, k)
    # Rankings of contexts depend on all answers to a question; see `StoredScores`.
    return {measure.name: values.get(measure.name) for measure in measures}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredScores:
    """Scores of a set by one metric and judge, sorted by system and question.

    `rankings` are α-nDCG of contexts by system and question; `quoting` is True if details may quote texts.
    """

    judge: str
    answers: tuple[ScoredAnswer, ...]
    measures: tuple[Measure, ...]
    k: float | None
    untried: int
    rankings: Mapping[tuple[str, str], float | None] = field(default_factory=dict)
    quoting: bool = True

    def values(self, answer: ScoredAnswer) -> dict[str, float | None]:
        """Return the measures of an answer."""
        values = values_of(answer, self.measures, self.k)
        if ALPHA_NDCG in values:
            values[ALPHA_NDCG] = self.rankings.get((answer.system, answer.question_id))
        return values


def posteriors_of(answer: ScoredAnswer) -> list[float] | None:
    """Return the posteriors of an answer's claims in order, if its metric has them."""
    claims = answer.details.get("claims")
    values = [claim.get("posterior") for claim in claims or () if isinstance(claim, Mapping)]
    known = [float(value) for value in values if isinstance(value, float | int)]
    return known if known and len(known) == len(values) else None


def _at_k(details: Mapping[str, Any], k: float | None) -> dict[str, float | None]:
    from judges.metrics.factuality.measures import Counts, f1_at, recall_at

    stored = {name: details.get(name) for name in COUNTS}
    numbers = {name: number for name, number in stored.items() if isinstance(number, int)}
    if k is None or len(numbers) < len(COUNTS):
        return {"recall_at_k": None, "f1_at_k": None}
    counts = Counts(**numbers)
    return {"recall_at_k": recall_at(counts, k), "f1_at_k": f1_at(counts, k)}


def _number(details: Mapping[str, Any], path: Sequence[str]) -> float | None:
    value: Any = details
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


TEXTS = ("system", "question_id", "domain", "metric", "judge", "outcome", "reason")
SUFFIXES = ".csv, .json, .parquet (text also .gz) or .trec"


def write_scores(stored: StoredScores, set_name: str, metric: str, destination: Path) -> tuple[Path, ...]:
    """Write a row per answer; the suffix decides the format.

    `*.csv`, `*.json` (with details unless they quote hidden texts) and `*.parquet` have the same columns;
    `*.trec` has trec_eval's lines `measure<TAB>query<TAB>value`, with the query `all` for means, in one file
    per system (`NAME.SYSTEM.trec`).
    """
    whole = destination.name.lower()
    name = whole.removesuffix(".gz")
    if whole.endswith(".trec"):
        return _trec(stored, metric, destination)
    if name.endswith(".csv"):
        _csv(stored, destination)
    elif name.endswith(".json"):
        _json(stored, set_name, metric, destination)
    elif whole.endswith(".parquet"):
        _parquet(stored, destination)
    else:
        message = f"{destination.name} has an unknown suffix; use {SUFFIXES}."
        raise FileFormatError(message, advice="Choose a suffix for the format.")
    return (destination,)


def rows_of(stored: StoredScores) -> Iterator[dict[str, Any]]:
    """Yield a row per answer with outcome, score, measures and posteriors."""
    for answer in counted(stored.answers, "writing scores", len(stored.answers)):
        yield {
            "system": answer.system,
            "question_id": answer.question_id,
            "domain": answer.domain,
            "metric": answer.metric,
            "judge": answer.judge or "embedded",
            "outcome": answer.outcome.value,
            "reason": str(answer.details.get("reason", "")) if answer.score is None else "",
            **stored.values(answer),
            "k": stored.k,
            "posteriors": posteriors_of(answer),
        }


def _csv(stored: StoredScores, destination: Path) -> None:
    with atomic_text(destination) as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([*TEXTS, *(measure.name for measure in stored.measures), "k", "posteriors"])
        for row in rows_of(stored):
            row["posteriors"] = None if row["posteriors"] is None else json.dumps(row["posteriors"])
            writer.writerow([escape_formula(cell) for cell in row.values()])


def _json(stored: StoredScores, set_name: str, metric: str, destination: Path) -> None:
    """Write an object with one score per line, to keep only one in memory."""
    head: Mapping[str, object] = {
        "set": set_name,
        "metric": metric,
        "judge": stored.judge or "embedded",
        "k": stored.k,
        "untried": stored.untried,
        "measures": {measure.name: measure.symbol for measure in stored.measures},
    }
    with atomic_text(destination) as text:
        text.write(json.dumps(head, ensure_ascii=False, allow_nan=False)[:-1] + ', "scores": [')
        for number, (row, answer) in enumerate(zip(rows_of(stored), stored.answers, strict=True)):
            line = {**row, "details": dict(answer.details) if stored.quoting else {}}
            comma = "," if number else ""
            text.write(f"{comma}\n{json.dumps(line, ensure_ascii=False, allow_nan=False)}")
        text.write("\n]}\n")


def _parquet(stored: StoredScores, destination: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {name: pa.string() for name in TEXTS}
    kinds |= {measure.name: pa.float64() for measure in stored.measures}
    kinds |= {"k": pa.float64(), "posteriors": pa.list_(pa.float64())}
    table = pa.Table.from_pylist(list(rows_of(stored)), schema=pa.schema(list(kinds.items())))
    with atomic_bytes(destination) as raw:
        pq.write_table(table, raw)


def _trec(stored: StoredScores, metric: str, destination: Path) -> tuple[Path, ...]:
    by_system: dict[str, list[ScoredAnswer]] = {}
    for answer in stored.answers:
        by_system.setdefault(answer.system, []).append(answer)
    paths = []
    for system, answers in by_system.items():
        path = destination if len(by_system) == 1 else _path_of_system(destination, system)
        with atomic_text(path) as text:
            for line in _trec_lines(stored, metric, system, answers):
                text.write(line)
        paths.append(path)
    return tuple(paths)


def _trec_lines(stored: StoredScores, metric: str, system: str, answers: list[ScoredAnswer]) -> Iterator[str]:
    """Yield lines as `trec_eval -q`: by query, then means; undefined values have no line."""
    sums: dict[str, list[float]] = {}
    for answer in counted(answers, f"writing scores of {system}", len(answers)):
        for name, value in stored.values(answer).items():
            if value is not None:
                measure = (metric if name == SCORE else f"{metric}.{name}").replace("-", "_")
                sums.setdefault(measure, []).append(value)
                yield f"{measure:<22}\t{answer.question_id}\t{value:.4f}\n"
    yield f"{'runid':<22}\tall\t{_word(system)}\n"
    yield f"{'num_q':<22}\tall\t{len(answers)}\n"
    for measure, values in sums.items():
        yield f"{measure:<22}\tall\t{sum(values) / len(values):.4f}\n"


def _word(text: str) -> str:
    return "_".join(text.split())


def _path_of_system(destination: Path, system: str) -> Path:
    return destination.with_name(f"{destination.name.removesuffix('.trec')}.{file_name_of(system)}.trec")
