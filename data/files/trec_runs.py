"""TREC runs: which passages were retrieved for each question, in what order.

Source: `trec_eval`'s format, a line each: question, `Q0`, passage, rank, score, run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from data.errors import InvalidFileError
from data.files.text_files import ReadLimits, decode, read_lines
from data.records import ProblemList

FIELDS = 6
STEP = 2.0**-22
"""Two steps of single precision, relative to a score."""
LEAST_SCALE = 1e-6
ADVICE = "Give six fields: question, Q0, passage, rank, score and the run's name."


@dataclass(frozen=True, slots=True)
class RunLine:
    """One retrieved passage."""

    question: str
    passage: str
    score: float


def read_run(path: Path, limits: ReadLimits | None = None) -> dict[str, tuple[RunLine, ...]]:
    """Read a run, plain or gzipped: the passages of each question, highest score first.

    As trec_eval does, the order comes from the scores; equal ones keep the file's order.

    Raises:
        FileFormatError: The file cannot be read.
        InvalidFileError: Lines are no run lines, or name a passage twice; all of them are listed.
    """
    problems = ProblemList()
    lines: dict[str, dict[str, RunLine]] = {}
    for number, content in read_lines(path, limits or ReadLimits()):
        line = _line(number, decode(content, number), problems)
        if line is None:
            continue
        if line.passage in lines.setdefault(line.question, {}):
            message = f"The question {line.question} has the passage {line.passage} twice."
            problems.add(number, "duplicate-id", message)
            continue
        lines[line.question][line.passage] = line
    if not lines and not problems.errors:
        problems.add(0, "empty-file", f"{path.name} holds no run.", advice=ADVICE)
    if problems.errors:
        message = f"{path.name} has {problems.errors} {'problem' if problems.errors == 1 else 'problems'}."
        raise InvalidFileError(message, problems.result(), advice=ADVICE)
    return {
        question: tuple(sorted(passages.values(), key=lambda line: -line.score))
        for question, passages in lines.items()
    }


def _line(number: int, text: str, problems: ProblemList) -> RunLine | None:
    fields = text.split()
    if len(fields) != FIELDS:
        problems.add(number, "bad-row", f"This line has {len(fields)} fields.", advice=ADVICE)
        return None
    try:
        score = float(fields[4])
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        problems.add(number, "bad-row", f"The score {fields[4]!r} is no number.", advice=ADVICE)
        return None
    return RunLine(fields[0], fields[2], score)


def run_lines(rankings: Mapping[str, Sequence[RunLine]], name: str) -> Iterator[str]:
    """The lines of a run; `name` is what made it.

    `trec_eval` orders by scores at single precision and not by ranks, so that a score which does not fall
    is written a little below the one before it.
    """
    for question, ranking in rankings.items():
        score = math.inf
        for rank, line in enumerate(ranking, start=1):
            score = min(line.score, score - max(abs(score), LEAST_SCALE) * STEP) if rank > 1 else line.score
            named = f"{run_field(question)} Q0 {run_field(line.passage)}"
            yield f"{named} {rank} {score:.8g} {run_field(name)}"


def write_run(path: Path, lines: Iterable[str]) -> None:
    """Write the lines of a run."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)


def run_field(text: str) -> str:
    """A name as a run's lines hold it: white space would shift the fields of a line."""
    return "_".join(text.split()) or "_"
