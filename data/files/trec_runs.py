"""TREC runs: which passages were retrieved for each question, in what order.

Source: `trec_eval`'s format, a line each: question, `Q0`, passage, rank, score, run.
"""

from __future__ import annotations

import math
import re
import struct
import unicodedata
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

    As trec_eval does, the order comes from the scores in single precision, that of equal ones from falling
    passage ids.

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
        question: tuple(
            sorted(
                sorted(passages.values(), key=lambda line: line.passage, reverse=True),
                key=lambda line: -single(line.score),
            )
        )
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


def single(score: float) -> float:
    """A score in single precision, as trec_eval keeps it; infinite where that has no place for it."""
    try:
        value: float = struct.unpack("f", struct.pack("f", score))[0]
    except OverflowError:
        return math.copysign(math.inf, score)
    return value


_SHIFTING = re.compile(r"\s|%(?=[0-9A-F]{2})")


def run_field(text: str) -> str:
    """A name as a run's lines hold it: white space, which would shift a line's fields, is `%20` and so on.

    No two names have one field: a per cent sign that looks like such a code becomes one itself.
    """
    return _SHIFTING.sub(lambda sign: "".join(f"%{byte:02X}" for byte in sign[0].encode()), text) or "%"


class FieldNames:
    """Finds which of some ids a field of a run or of qrels means.

    It is the id itself, else as `run_field` writes it, else the one id that differs only in its Unicode form,
    or in having white space where the field has `_`.
    """

    def __init__(self, ids: Iterable[str]) -> None:
        known = tuple(ids)
        self._sure = {run_field(name): name for name in known} | {name: name for name in known}
        self._likely: dict[str, set[str]] = {}
        for name in known:
            for form in {_composed(name), _composed("_".join(name.split()))}:
                self._likely.setdefault(form, set()).add(name)

    def get(self, field: str) -> str | None:
        """The id; None where there is none, or several are as likely."""
        sure = self._sure.get(field)
        if sure is not None:
            return sure
        likely = self._likely.get(_composed(field), set())
        return next(iter(likely)) if len(likely) == 1 else None


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)
