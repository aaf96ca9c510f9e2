"""Relevance judgments as files: TREC and BEIR qrels, nuggets, and the ratings of CRUX.

Sources: `trec_eval` and `ndeval`, whose second field is the subtopic of diversity qrels; BEIR (Thakur et al.,
2021), `qrels/*.tsv`; CRUX (Ju et al., 2025), whose judgments rate a passage for each sub-question.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from data.errors import FileFormatError, InvalidFileError
from data.files.tabular.values import seen
from data.files.text_files import ReadLimits, decode, parse_json, read_lines
from data.records import ProblemList
from data.records.rankings import WHOLE, QrelsKind

TREC_FIELDS, BEIR_FIELDS, RUN_FIELDS = 4, 3, 6
BEIR_HEADER = "query-id"
GRADE_NAMES = ("score", "grade", "relevance", "rel", "label")
QUESTIONS = ("question_id", "query_id", "qid", "example_id", "id")
PASSAGES = ("passage_id", "pid", "docid", "doc_id")
ANSWERS_FROM = 3.0
"""CRUX's η: from this rating on a passage answers a sub-question."""
HIGHEST_RATING = 5.0
ADVICE = (
    "Give TREC qrels (question, subtopic or 0, passage, grade), BEIR's tab-separated ones, or JSONL with "
    "`ratings`, `rating` or `nuggets`."
)


@dataclass(frozen=True, slots=True)
class Judged:
    """One judgment of a file; question and passage are named as the file names them."""

    question: str
    subtopic: str
    passage: str
    grade: float


@dataclass(frozen=True, slots=True, kw_only=True)
class QrelsFile:
    """The judgments of a file.

    Attributes:
        kind: What they judge.
        relevant_from: The grade that counts as relevant where nothing else is said.
        judgments: Grades by question, subtopic and passage.
        repeated: How many stood there once more with the same grade.
    """

    kind: QrelsKind
    relevant_from: float
    judgments: Mapping[str, Mapping[str, Mapping[str, float]]]
    repeated: int


def read_qrels(path: Path, limits: ReadLimits | None = None) -> QrelsFile:
    """Read judgments, plain or gzipped. Qrels are diversity qrels where they name two subtopics or more.

    Raises:
        FileFormatError: The file cannot be read.
        InvalidFileError: Lines are no judgments, or a passage has two grades; all of them are listed.
    """
    problems = ProblemList()
    grades: dict[str, dict[str, dict[str, float]]] = {}
    kinds: set[QrelsKind] = set()
    relevant_from, repeated = 1.0, 0
    for number, content in read_lines(path, limits or ReadLimits()):
        try:
            line = _line(decode(content, number), number)
        except FileFormatError as error:
            problems.add(number, error.code, error.message, advice=error.advice)
            continue
        kinds.add(line.kind)
        relevant_from = line.relevant_from
        for judged in line.judged:
            own = grades.setdefault(judged.question, {}).setdefault(judged.subtopic, {})
            repeated += judged.passage in own
            known = own.setdefault(judged.passage, judged.grade)
            if known != judged.grade:
                message = f"{judged.passage} has the grades {known:g} and {judged.grade:g}."
                problems.add(number, "two-grades", message, advice="Keep one of them.")
    if len(kinds) > 1:
        problems.add(0, "wrong-format", f"{path.name} mixes several formats.", advice=ADVICE)
    if not grades and not problems.errors:
        problems.add(0, "empty-file", f"{path.name} holds no judgments.", advice=ADVICE)
    if problems.errors:
        message = f"{path.name} has {problems.errors} {'problem' if problems.errors == 1 else 'problems'}."
        raise InvalidFileError(message, problems.result(), advice=ADVICE)
    kind = kinds.pop()
    if kind is QrelsKind.GRADED and len({subtopic for own in grades.values() for subtopic in own}) > 1:
        kind = QrelsKind.DIVERSITY
    if kind is QrelsKind.GRADED:
        grades = {question: {WHOLE: next(iter(own.values()))} for question, own in grades.items()}
    return QrelsFile(kind=kind, relevant_from=relevant_from, judgments=grades, repeated=repeated)


@dataclass(frozen=True, slots=True)
class _Line:
    kind: QrelsKind
    judged: Sequence[Judged] = ()
    relevant_from: float = 1.0


def _line(text: str, number: int) -> _Line:
    if text.lstrip().startswith("{"):
        row = parse_json(text, number)
        assert isinstance(row, Mapping)  # noqa: S101 - it begins with a brace
        return _json_line(row, number)
    # Tabs define BEIR's lines, whose ids may hold spaces; a header is where the third field is no grade.
    tabbed = text.rstrip("\r\n").split("\t")
    fields = tabbed if len(tabbed) == BEIR_FIELDS and all(map(str.strip, tabbed)) else text.split()
    if len(fields) == BEIR_FIELDS:
        if fields[0] == BEIR_HEADER or (number == 1 and fields[2].strip().casefold() in GRADE_NAMES):
            return _Line(QrelsKind.GRADED)
        question, passage, grade = fields
        return _Line(QrelsKind.GRADED, [Judged(question, WHOLE, passage, _grade(grade, number))])
    if len(fields) != TREC_FIELDS:
        what = "a line of a run" if len(fields) == RUN_FIELDS else f"{len(fields)} fields"
        raise _bad(number, f"This line is {what}, and no judgment.")
    question, subtopic, passage, grade = fields
    return _Line(QrelsKind.GRADED, [Judged(question, subtopic, passage, _grade(grade, number))])


def _json_line(row: Mapping[str, object], number: int) -> _Line:
    question = _name(row, QUESTIONS, number)
    if "ratings" in row:
        names, table = _list(row.get("passages"), number), _list(row["ratings"], number)
        if len(names) != len(table):
            raise _bad(number, f"{len(names)} passages have {len(table)} rows of ratings.")
        pairs = zip((_id(name, "a passage", number) for name in names), table, strict=True)
        judged = [one for name, row_ in pairs for one in _rated(question, name, _list(row_, number), number)]
        threshold = row.get("threshold", ANSWERS_FROM)
        return _Line(QrelsKind.RATINGS, judged, _grade(threshold, number))
    if "rating" in row:
        passage = _name(row, PASSAGES, number)
        rated = _rated(question, passage, _list(row["rating"], number), number)
        return _Line(QrelsKind.RATINGS, list(rated), ANSWERS_FROM)
    if "nuggets" in row:
        nuggets = _list(row["nuggets"], number)
        given = [str(one["id"]) for one in nuggets if isinstance(one, Mapping) and one.get("id") is not None]
        if len(set(given)) < len(given):
            raise _bad(number, f"Two nuggets of {question} have one id.")
        judged = [
            one
            for place, nugget in enumerate(nuggets, 1)
            for one in _nugget(question, place, nugget, number, given)
        ]
        return _Line(QrelsKind.DIVERSITY, judged)
    raise _bad(number, "This object has neither ratings nor nuggets.")


def _rated(question: str, passage: str, ratings: Sequence[object], number: int) -> Iterator[Judged]:
    for place, rating in enumerate(ratings, 1):
        grade = _grade(rating, number)
        if not 0 <= grade <= HIGHEST_RATING:
            raise _bad(number, f"The rating {grade:g} is off the scale of 0 to {HIGHEST_RATING:g}.")
        yield Judged(question, str(place), passage, grade)


def _nugget(
    question: str, place: int, nugget: object, number: int, taken: Collection[str]
) -> Iterator[Judged]:
    if not isinstance(nugget, Mapping):
        raise _bad(number, f"Nugget {place} is no object.")
    given = nugget.get("id")
    name = str(place) if given is None else _id(given, f"nugget {place}", number)
    # A name that is made up meets none that is given.
    while given is None and name in taken:
        name += "'"
    passages = nugget.get("passages")
    if isinstance(passages, Mapping):
        graded = [
            (_id(passage, "a passage", number), _grade(grade, number)) for passage, grade in passages.items()
        ]
    else:
        graded = [(_id(passage, "a passage", number), 1.0) for passage in _list(passages, number)]
    for passage, grade in graded:
        yield Judged(question, name, passage, grade)


def _name(row: Mapping[str, object], fields: Sequence[str], number: int) -> str:
    found = next((row[field] for field in fields if field in row), None)
    if found is None:
        raise _bad(number, f"There is none of {', '.join(fields)}.")
    return _id(found, "this line", number)


def _id(value: object, what: str, number: int) -> str:
    """An id: a text that is not empty, or a whole number, of which 0 is one and 1.0 another."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise _bad(number, f"The id of {what} is {seen(value)}; a text or a whole number is expected.")
    return str(value)


def _list(value: object, number: int) -> Sequence[object]:
    if not isinstance(value, list):
        raise _bad(number, "A list is missing: of passages, of ratings or of nuggets.")
    return value


def _grade(value: object, number: int) -> float:
    try:
        grade = math.nan if isinstance(value, bool) else float(str(value))
    except ValueError:
        grade = math.nan
    if not math.isfinite(grade):
        raise _bad(number, f"The grade {value!r:.40} is no number.")
    return grade


def _bad(number: int, message: str) -> FileFormatError:
    return FileFormatError(message, advice=ADVICE, code="bad-row", line=number)
