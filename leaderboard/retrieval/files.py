"""Boards of rankings as files: rows for tables, and what `trec_eval -q` prints."""

from __future__ import annotations

from collections.abc import Iterator

from data.files.trec_runs import run_field
from data.intervals import bounds_json
from leaderboard.export.tables import Cell
from leaderboard.retrieval.board import RetrievalLine, RetrievalTable

ALL = "all"


def board_rows(table: RetrievalTable) -> list[dict[str, Cell]]:
    """A row a measure, domain and system, best first."""
    return [
        {"measure": measure.name, "domain": domain, **line_fields(line)}
        for measure in table.measures
        for domain in table.places
        for line in table.lines(measure.name, domain)
    ]


def line_fields(line: RetrievalLine) -> dict[str, Cell]:
    """A line by the names of its columns."""
    return {
        "system": line.system,
        "mean": line.mean,
        **bounds_json(line.interval),
        "rank": line.rank,
        "rank_lower": line.rank_lower,
        "rank_upper": line.rank_upper,
        "letters": line.letters,
        "questions": line.questions,
        "missing": line.missing,
        "undefined": line.undefined,
    }


def question_rows(table: RetrievalTable) -> list[dict[str, Cell]]:
    """A row a question and system, with a column a measure."""
    return [
        {
            "question_id": question,
            "domain": domain,
            "system": system,
            "missing": bool(table.missing[at, place]),
            **{measure.name: table.value(measure.name, system, question) for measure in table.measures},
        }
        for at, system in enumerate(table.systems)
        for place, (question, domain) in enumerate(zip(table.questions, table.domains, strict=True))
    ]


def trec_eval_lines(table: RetrievalTable, system: str) -> Iterator[str]:
    """What `trec_eval -q -c` prints of a system: its values by question, then their means.

    Questions that it retrieved nothing for have 0, as under `-c`; what does not exist has no line.

    Raises:
        NotFoundError: The board does not have the system.
    """
    at = table.place_of(system)
    means = {measure.name: table.lines(measure.name) for measure in table.measures}
    for question in table.questions:
        for measure in table.measures:
            value = table.value(measure.name, system, question)
            if value is not None:
                yield _line(measure.trec_name, run_field(question), f"{value:6.4f}")
    yield _line("runid", ALL, run_field(system))
    yield _line("num_q", ALL, str(len(table.questions)))
    for measure in table.measures:
        mean = next(line.mean for line in means[measure.name] if line.system == table.systems[at])
        if mean is not None:
            yield _line(measure.trec_name, ALL, f"{mean:6.4f}")


def _line(name: str, question: str, value: str) -> str:
    return f"{name:<22}\t{question}\t{value}"
