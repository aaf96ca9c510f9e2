"""TREC runs: question, `Q0`, passage, rank, score and the run's name on each line."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from unicodedata import normalize

from data.errors import InvalidFileError
from data.files.text_files import ReadLimits, decode, read_lines
from data.models import ProblemList

FIELDS = 6
STEP = 2.0**-22
"""Two steps of single precision, relative to a score."""
MIN_SCALE = 1e-6
ADVICE = "Give six fields: question, Q0, passage, rank, score and the run's name."


@dataclass(frozen=True, slots=True)
class RunLine:
    """One retrieved passage."""

    question: str
    passage: str
    score: float


def read_run(path: Path, limits: ReadLimits | None = None) -> dict[str, tuple[RunLine, ...]]:
    """Read a run, plain or gzipped: the passages of each question by falling scores, then by falling ids.

    Raises:
        FileFormatError: The file cannot be read.
        InvalidFileError: Lines are no run lines, or name a passage twice; all of them are listed.
    """
    problems = ProblemList()
    lines: dict[str, dict[str, RunLine]] = {}
    for number, content in read_lines(path, limits or ReadLimits()):
        fields = decode(content, number).split()
        score = _score(fields[4]) if len(fields) == FIELDS else math.nan
        if not math.isfinite(score):
            message = f"This is no line of a run: {' '.join(fields)[:80]!r}."
            problems.add(number, "bad-run-line", message, advice=ADVICE)
            continue
        own = lines.setdefault(fields[0], {})
        if fields[2] in own:
            message = f"The question {fields[0]} has the passage {fields[2]} twice."
            problems.add(number, "duplicate-passage", message, advice="Rank each passage once.")
        own[fields[2]] = RunLine(fields[0], fields[2], score)
    if not lines and not problems.errors:
        problems.add(0, "empty-file", f"{path.name} holds no run.", advice=ADVICE)
    if problems.errors:
        message = f"{path.name} has {problems.errors} {'problem' if problems.errors == 1 else 'problems'}."
        raise InvalidFileError(message, problems.result(), advice=ADVICE)
    return {
        question: tuple(
            sorted(own.values(), key=lambda line: (_single(line.score), line.passage), reverse=True)
        )
        for question, own in lines.items()
    }


def _score(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _place(line: RunLine) -> tuple[float, str]:
    return _single(line.score), line.passage


def _single(score: float) -> float:
    """Round to single precision, as trec_eval does before it orders passages."""
    try:
        value: float = struct.unpack("f", struct.pack("f", score))[0]
    except OverflowError:
        return math.copysign(math.inf, score)
    return value


def run_lines(rankings: Mapping[str, Sequence[RunLine]], name: str) -> Iterator[str]:
    """Yield the lines of a run named `name`.

    `trec_eval` orders by scores at single precision and not by ranks, so that a score which does not fall
    is written a little below the one before it.
    """
    for question, ranking in rankings.items():
        score = math.inf
        for rank, line in enumerate(ranking, start=1):
            score = min(line.score, score - max(abs(score), MIN_SCALE) * STEP) if rank > 1 else line.score
            named = f"{run_field(question)} Q0 {run_field(line.passage)}"
            yield f"{named} {rank} {score:.8g} {run_field(name)}"


def write_run(path: Path, lines: Iterable[str]) -> None:
    """Write the lines of a run."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)


_SHIFTING = re.compile(r"\s|%(?=[0-9A-F]{2})")


def run_field(text: str) -> str:
    """Write a name as one field: white space becomes `%20` and so on, so that no two names have one field."""
    return _SHIFTING.sub(lambda sign: "".join(f"%{byte:02X}" for byte in sign[0].encode()), text) or "%"


def ids_by_field(ids: Iterable[str]) -> dict[str, str]:
    """Map fields of a run or of qrels to ids: each id as it is, as `run_field` writes it, and decomposed."""
    known = tuple(ids)
    forms = {run_field(normalize(form, name)): name for name in known for form in ("NFC", "NFD")}
    return forms | {run_field(name): name for name in known} | {name: name for name in known}
