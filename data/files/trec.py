"""Readers of relevance judgments (TREC qrels with subtopics, BEIR, CRUX's ratings) and of TREC runs."""

import math
import re
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from unicodedata import normalize

from data.errors import FileFormatError
from data.files.strict_json import parse_json
from data.files.tables.values import number_of
from data.files.text_files import ReadLimits, decode, read_lines
from data.models import ProblemList

WHOLE = "0"
"""Subtopic of judgments of a whole question."""
BEIR_HEADER = "query-id"
GRADE_NAMES = (BEIR_HEADER, "score", "grade", "relevance", "rel", "label")
TREC_FIELDS, BEIR_FIELDS = 4, 3
ANSWERS_FROM = 3.0
"""CRUX's η: minimum rating of a passage that answers a sub-question."""
ADVICE = "Use TREC qrels (question, subtopic or 0, passage, grade), BEIR's, or JSONL with `ratings`."
ROUNDS = (
    "{name}: the {count:,} values of the second column are not subtopics, since no passage has two of them "
    "or some are fractions; the judgments count as grades."
)
Judged = tuple[str, str, str, float]
"""Question, subtopic, passage and grade."""


@dataclass(frozen=True, kw_only=True)
class Qrels:
    """Grades by question, subtopic and passage; `relevant_from` is the minimum grade of relevant passages.

    `note` is a note for readers of the numbers.
    """

    judgments: Mapping[str, Mapping[str, Mapping[str, float]]]
    relevant_from: float = 1.0
    note: str = ""

    @cached_property
    def has_subtopics(self) -> bool:
        """True if passages are judged for subtopics."""
        return any(set(own) != {WHOLE} for own in self.judgments.values())

    @cached_property
    def grades(self) -> Mapping[str, Mapping[str, float]]:
        """Grades of passages by question: the highest over subtopics."""
        best: dict[str, dict[str, float]] = {}
        for question, subtopics in self.judgments.items():
            own = best.setdefault(question, {})
            for passages in subtopics.values():
                for passage, grade in passages.items():
                    own[passage] = max(own.get(passage, grade), grade)
        return best

    @cached_property
    def questions(self) -> frozenset[str]:
        """Questions with a relevant passage."""
        return frozenset(
            question
            for question, own in self.grades.items()
            if any(grade >= self.relevant_from for grade in own.values())
        )


def read_qrels(path: Path, limits: ReadLimits | None = None, *, rated: bool = False) -> Qrels:
    """Read judgments, plain or gzipped; with `rated` the second field is always a sub-question."""
    problems = ProblemList()
    grades: dict[str, dict[str, dict[str, float]]] = {}
    relevant_from = 1.0
    for number, content in read_lines(path, limits or ReadLimits()):
        try:
            text = decode(content, number)
            if text.lstrip().startswith("{"):
                relevant_from, judged = _ratings(parse_json(text, number), number)
            else:
                judged = list(_fields(text, number))
        except FileFormatError as error:
            problems.add(number, error.code, error.message, advice=error.advice)
            continue
        for question, subtopic, passage, grade in judged:
            own = grades.setdefault(question, {}).setdefault(subtopic, {})
            if own.setdefault(passage, grade) != grade:
                message = f"{passage} has the grades {own[passage]:g} and {grade:g}."
                problems.add(number, "two-grades", message, advice="Keep one of them.")
    if not grades and not problems.errors:
        problems.add(0, "empty-file", f"{path.name} contains no judgments.", advice=ADVICE)
    problems.require_none(path.name, ADVICE)
    subtopics = {subtopic for own in grades.values() for subtopic in own}
    qrels = Qrels(judgments=grades, relevant_from=relevant_from)
    if len(subtopics) > 1 and (rated or _are_subtopics(subtopics, grades)):
        return qrels
    note = ROUNDS.format(name=path.name, count=len(subtopics)) if len(subtopics) > 1 else ""
    whole = {question: {WHOLE: own} for question, own in qrels.grades.items()}
    return replace(qrels, judgments=whole, note=note)


def _are_subtopics(names: Collection[str], grades: Mapping[str, Mapping[str, Mapping[str, float]]]) -> bool:
    """Return whether second fields are subtopics: integers or names, and several for a passage."""
    numbers = filter(None, map(number_of, names))
    return all(map(float.is_integer, numbers)) and any(
        len(set(chain(*own.values()))) < sum(map(len, own.values())) for own in grades.values()
    )


def _fields(text: str, number: int) -> Iterator[Judged]:
    # BEIR separates fields with tabs, since ids may contain spaces.
    tabbed = text.rstrip("\r\n").split("\t")
    fields = tabbed if len(tabbed) == BEIR_FIELDS and all(map(str.strip, tabbed)) else text.split()
    if len(fields) == BEIR_FIELDS:
        question, passage, grade = fields
        if number > 1 or not {question, grade.strip().casefold()} & set(GRADE_NAMES):
            yield question, WHOLE, passage, _grade(grade, number)
    elif len(fields) == TREC_FIELDS:
        question, subtopic, passage, grade = fields
        yield question, subtopic, passage, _grade(grade, number)
    else:
        raise _bad(number, f"This line has {len(fields)} fields, so it is not a judgment.")


def _ratings(row: object, number: int) -> tuple[float, list[Judged]]:
    """Parse the ratings of a question: of all its `passages` (`ratings`), or of one (`rating`)."""
    assert isinstance(row, Mapping)  # noqa: S101 - it starts with a brace
    question = next((row[name] for name in ("question_id", "example_id", "qid", "id") if name in row), None)
    passage = next((row[name] for name in ("pid", "docid", "passage_id") if name in row), None)
    names, table = (
        (row.get("passages"), row["ratings"]) if "ratings" in row else ([passage], [row.get("rating")])
    )
    if not isinstance(names, list) or not isinstance(table, list) or len(names) != len(table):
        raise _bad(number, "The ratings do not have one row per passage.")
    judged = []
    for name, ratings in zip(names, table, strict=True):
        if not all(isinstance(value, str | int) for value in (question, name)) or not isinstance(
            ratings, list
        ):
            raise _bad(number, "A question, a passage or its ratings are missing.")
        judged += [
            (str(question), str(place), str(name), _grade(rating, number))
            for place, rating in enumerate(ratings, 1)
        ]
    return _grade(row.get("threshold", ANSWERS_FROM), number), judged


def _grade(value: object, number: int) -> float:
    if (grade := number_of(value)) is None:
        raise _bad(number, f"The grade {value!r:.40} is not a number.")
    return grade


def _bad(line: int, message: str) -> FileFormatError:
    return FileFormatError(message, advice=ADVICE, code="bad-row", line=line)


FIELDS = 6
STEP = 2.0**-22
"""Two units of single precision, relative to a score."""
MIN_SCALE = 1e-6
TREC_RUNS_ADVICE = "Write six fields: question, Q0, passage, rank, score and the run's name."


@dataclass(frozen=True, slots=True)
class RunLine:
    """Retrieved passage."""

    question: str
    passage: str
    score: float


def read_run(path: Path, limits: ReadLimits | None = None) -> dict[str, tuple[RunLine, ...]]:
    """Read a run, plain or gzipped: passages by question, sorted by descending score and id."""
    problems = ProblemList()
    lines: dict[str, dict[str, RunLine]] = {}
    for number, content in read_lines(path, limits or ReadLimits()):
        fields = decode(content, number).split()
        score = number_of(fields[4]) if len(fields) == FIELDS else None
        if score is None:
            message = f"This is not a line of a TREC run: {' '.join(fields)[:80]!r}."
            problems.add(number, "bad-run-line", message, advice=TREC_RUNS_ADVICE)
            continue
        own = lines.setdefault(fields[0], {})
        if fields[2] in own:
            message = f"The question {fields[0]} lists the passage {fields[2]} twice."
            problems.add(number, "duplicate-passage", message, advice="Rank each passage once.")
        own[fields[2]] = RunLine(fields[0], fields[2], score)
    if not lines and not problems.errors:
        problems.add(0, "empty-file", f"{path.name} contains no run.", advice=TREC_RUNS_ADVICE)
    problems.require_none(path.name, TREC_RUNS_ADVICE)
    return {
        question: tuple(
            sorted(own.values(), key=lambda line: (_single(line.score), line.passage), reverse=True)
        )
        for question, own in lines.items()
    }


def _single(score: float) -> float:
    """Round to single precision, as trec_eval does before sorting."""
    try:
        value: float = struct.unpack("f", struct.pack("f", score))[0]
    except OverflowError:
        return math.copysign(math.inf, score)
    return value


def run_lines(rankings: Mapping[str, Sequence[RunLine]], name: str) -> Iterator[str]:
    """Yield the lines of a run named `name`.

    `trec_eval` sorts by scores at single precision and ignores ranks, so equal scores are written slightly
    decreasing.
    """
    for question, ranking in rankings.items():
        score = math.inf
        for rank, line in enumerate(ranking, start=1):
            score = min(line.score, score - max(abs(score), MIN_SCALE) * STEP) if rank > 1 else line.score
            fields = f"{run_field(question)} Q0 {run_field(line.passage)}"
            yield f"{fields} {rank} {score:.8g} {run_field(name)}"


def write_run(path: Path, lines: Iterable[str]) -> None:
    """Write the lines of a run."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)


_SHIFTING = re.compile(r"\s|%(?=[0-9A-F]{2})")


def run_field(text: str) -> str:
    """Escape white space in a name, uniquely, so that it is one field."""
    return _SHIFTING.sub(lambda sign: "".join(f"%{byte:02X}" for byte in sign[0].encode()), text) or "%"


def ids_by_field(ids: Iterable[str]) -> dict[str, str]:
    """Map fields of runs and qrels to ids: unchanged, as written by `run_field`, and decomposed."""
    names = tuple(ids)
    forms = {run_field(normalize(form, name)): name for name in names for form in ("NFC", "NFD")}
    return forms | {run_field(name): name for name in names} | {name: name for name in names}
