"""Scores as files: CSV, JSON, Parquet, or trec_eval's lines a query."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.services.metrics.measures import StoredScores, posteriors_of
from data.errors import FileFormatError
from data.files.zip_files import atomic_bytes, atomic_text
from data.progress import counted
from data.system_names import file_name_of
from data.text import escape_formula
from judges.metrics.registry import SCORE

if TYPE_CHECKING:
    from data.store.scores import ScoredAnswer

TEXTS = ("system", "question_id", "domain", "metric", "judge", "outcome", "reason")
NAMED = ".csv, .json, .parquet (text also .gz) and .trec"


def write_scores(stored: StoredScores, set_name: str, metric: str, destination: Path) -> tuple[Path, ...]:
    """Write a row an answer; the name's ending chooses the format.

    `*.csv`, `*.json` (with details, where these quote nothing hidden) and `*.parquet` have the same columns;
    `*.trec` has trec_eval's lines `measure<TAB>query<TAB>value`, those of means having the query `all`, in
    one file a system, `NAME.SYSTEM.trec` where there are several.

    Returns:
        The files.

    Raises:
        FileFormatError: Another ending, or a file cannot be written.
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
        message = f"{destination.name} ends in none of {NAMED}."
        raise FileFormatError(message, advice="Name the file by the format that you want.")
    return (destination,)


def rows_of(stored: StoredScores) -> Iterator[dict[str, Any]]:
    """A row an answer: who and what, outcome and reason, score and measures, posteriors of its claims."""
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
    """An object whose `scores` are written one a line, so that no more than one is held as text."""
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
    import pyarrow as pa  # noqa: PLC0415 - heavy, and used by this format alone
    import pyarrow.parquet as pq  # noqa: PLC0415 - as above

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
        path = destination if len(by_system) == 1 else _beside(destination, system)
        with atomic_text(path) as text:
            for line in _trec_lines(stored, metric, system, answers):
                text.write(line)
        paths.append(path)
    return tuple(paths)


def _trec_lines(stored: StoredScores, metric: str, system: str, answers: list[ScoredAnswer]) -> Iterator[str]:
    """As `trec_eval -q` prints them: a query's lines, then those of all; what is undefined has no line."""
    sums: dict[str, list[float]] = {}
    for answer in counted(answers, f"writing scores of {system}", len(answers)):
        for name, value in stored.values(answer).items():
            if value is not None:
                measure = _measure_name(metric, name)
                sums.setdefault(measure, []).append(value)
                yield f"{measure:<22}\t{answer.question_id}\t{value:.4f}\n"
    yield f"{'runid':<22}\tall\t{_word(system)}\n"
    yield f"{'num_q':<22}\tall\t{len(answers)}\n"
    for measure, values in sums.items():
        yield f"{measure:<22}\tall\t{sum(values) / len(values):.4f}\n"


def _measure_name(metric: str, name: str) -> str:
    return (metric if name == SCORE else f"{metric}.{name}").replace("-", "_")


def _word(text: str) -> str:
    return "_".join(text.split())


def _beside(destination: Path, system: str) -> Path:
    return destination.with_name(f"{destination.name.removesuffix('.trec')}.{file_name_of(system)}.trec")
