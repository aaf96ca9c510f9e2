"""Metrics over files of their own: fact graphs, rated contexts, sets for meta-evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from data.errors import FileFormatError, SpecError
from data.files.tabular.records import read_records
from data.files.text_files import ReadLimits, decode, parse_json, read_lines, read_text
from data.records import Json
from judges.metrics.comprehensiveness.graph import analyse, coverage_json, read_graphs
from judges.metrics.comprehensiveness.meta_evaluation import evaluate_conflictbank, evaluate_wikicontradict
from judges.metrics.comprehensiveness.meta_files import (
    is_conflict_bank,
    read_conflictbank,
    read_wikicontradict,
)
from judges.metrics.context.measures import context_report
from judges.metrics.factuality.graph import load_graph
from judges.metrics.factuality.inference.marginals import marginals
from judges.metrics.factuality.meta_evaluation import ClaimAssessor, assess, compare, constants
from judges.metrics.factuality.meta_files import has_claims, read_labelled_claims
from judges.metrics.factuality.vocabulary import FactorTables, Inference
from judges.metrics.registry import Metric


def coverage_of(path: Path) -> dict[str, Json] | list[dict[str, Json]]:
    """What a fact graph covers; a file of several graphs gives a list.

    Raises:
        FileFormatError: The file cannot be read or is no fact graph.
    """
    value = _json(path)
    reports = [coverage_json(analyse(graph)) for graph in read_graphs(value, where=path.name)]
    several = isinstance(value, list) or (isinstance(value, Mapping) and "graphs" in value)
    return reports if several else reports[0]


def marginals_of(path: Path, *, factors: FactorTables, inference: Inference, seed: int) -> dict[str, Any]:
    """The posterior of every node of a fact graph.

    Raises:
        FileFormatError: The file cannot be read or is no fact graph.
        InputError: Exact inference was asked for and does not fit into memory.
        StatisticsError: Certain relations and priors contradict each other.
    """
    graph = load_graph(path)
    return marginals(graph, factors=factors, inference=inference, seed=seed).as_json()


def context_of(path: Path) -> dict[str, Any]:
    """How well a context answers sub-questions, from the ratings of its passages.

    Raises:
        FileFormatError: The file cannot be read.
        RecordError: A rating is off the scale, or a field has another shape.
    """
    return dict(context_report(_json(path)))


async def meta_evaluation_of(path: Path, metric: Metric, *, resamples: int, seed: int) -> dict[str, Any]:
    """Hold a metric's scores against the labels of a WikiContradict or ConflictBank file.

    Raises:
        FileFormatError: The file cannot be read or is neither.
    """
    lines = _rows(path)
    if has_claims(lines[0]):
        message = f"{path.name} has labelled claims, which {metric.name} does not judge."
        raise FileFormatError(message, advice="Name a metric of factuality: --metric factuality-fr3.")
    if is_conflict_bank(lines[0]):
        conflicts = read_conflictbank(lines, where=path.name)
        evaluation = await evaluate_conflictbank(metric, conflicts, resamples=resamples, seed=seed)
    else:
        labelled = read_wikicontradict(lines, where=path.name)
        evaluation = await evaluate_wikicontradict(metric, labelled, resamples=resamples, seed=seed)
    return dict(evaluation.as_json())


async def claim_evaluation_of(path: Path, metrics: Sequence[Metric]) -> dict[str, Any]:
    """Hold assessors of factuality against labelled claims, and against each other.

    Raises:
        FileFormatError: The file cannot be read or has no labelled claims.
        SpecError: A metric is no assessor of claims.
        StatisticsError: An assessor could score no answer.
    """
    rows = read_labelled_claims(_rows(path), where=path.name)
    assessments = []
    for metric in metrics:
        if not isinstance(metric, ClaimAssessor):
            message = f"{metric.name} does not judge claims one by one."
            raise SpecError(message, advice="Compare metrics whose names begin with factuality-.")
        assessments.append(await assess(metric, rows))
    return {
        "metrics": [assessment.as_json() for assessment in assessments],
        "comparisons": compare(assessments),
        "constants": constants(rows),
    }


def _rows(path: Path) -> Sequence[Mapping[str, object]]:
    """The rows of a file: JSON lines, or one JSON value: a row, a list of rows, or lists of rows by name."""
    limits = ReadLimits()
    if _begins_with_row(path, limits):
        return read_records(path, limits, lambda _line, row, _problems: row)
    try:
        value = parse_json(read_text(path, limits), 0)
    except FileFormatError as error:
        message = f"{path.name} is neither JSON lines nor one JSON value: {error.message}"
        raise FileFormatError(message, advice=error.advice, code=error.code) from error
    rows = list(_rows_in(value))
    if not rows or not all(isinstance(row, Mapping) for row in rows):
        message = f"{path.name} holds no rows."
        raise FileFormatError(message, advice="Give JSON lines, a JSON list of objects, or lists by name.")
    return rows


def _begins_with_row(path: Path, limits: ReadLimits) -> bool:
    """Whether the first line is a row of its own."""
    for line, content in read_lines(path, limits):
        try:
            value = parse_json(decode(content, line), line)
        except FileFormatError:
            return False
        return isinstance(value, Mapping) and list(_rows_in(value)) == [value]
    return False


def _rows_in(value: object) -> Iterator[Any]:
    if isinstance(value, list):
        yield from value
    elif isinstance(value, Mapping) and value and all(_is_list_of_rows(part) for part in value.values()):
        for part in value.values():
            yield from part
    else:
        yield value


def _is_list_of_rows(part: object) -> bool:
    return isinstance(part, list) and all(isinstance(row, Mapping) for row in part)


def _json(path: Path) -> object:
    try:
        parsed: object = parse_json(read_text(path, ReadLimits()), 0)
    except FileFormatError as error:
        raise FileFormatError(f"{path}: {error.message}", advice=error.advice, code=error.code) from error
    return parsed
