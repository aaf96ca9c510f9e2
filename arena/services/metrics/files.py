"""Analyses of files: fact graphs and rated contexts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from data.errors import FileFormatError
from data.files.strict_json import parse_json
from data.files.text_files import ReadLimits, read_text
from data.models import Json
from judges.metrics.comprehensiveness.graph import analyse, coverage_json, read_graphs
from judges.metrics.context.measures import context_report
from judges.metrics.factuality.graph import FactorTables, Inference, load_graph
from judges.metrics.factuality.inference.marginals import marginals


def coverage_of(path: Path) -> dict[str, Json] | list[dict[str, Json]]:
    """Return the coverage of a fact graph; a file of several graphs gives a list."""
    value = _json(path)
    reports = [coverage_json(analyse(graph)) for graph in read_graphs(value, where=path.name)]
    several = isinstance(value, list) or (isinstance(value, Mapping) and "graphs" in value)
    return reports if several else reports[0]


def marginals_of(path: Path, *, factors: FactorTables, inference: Inference) -> dict[str, Any]:
    """Return the posterior of every node of a fact graph.

    Raises:
        StatisticsError: Certain relations and priors contradict each other.
    """
    graph = load_graph(path)
    return marginals(graph, factors=factors, inference=inference).as_json()


def context_of(path: Path) -> dict[str, Any]:
    """Return how well a context answers sub-questions, from the ratings of its passages."""
    return dict(context_report(_json(path)))


def _json(path: Path) -> object:
    try:
        parsed: object = parse_json(read_text(path, ReadLimits()), 0)
    except FileFormatError as error:
        raise FileFormatError(f"{path}: {error.message}", advice=error.advice, code=error.code) from error
    return parsed
