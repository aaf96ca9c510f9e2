"""Judgments of which aspects of a question a passage covers (diversity qrels)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from data.corpora.chunking import document_of
from data.errors import FileFormatError, InvalidFileError
from data.files.text_files import ReadLimits, decode, parse_json, read_lines
from data.records import Json, ProblemList

Label = str | int
FIELDS = 4
WHOLE = 0
"""The aspect of a judgment of the question as a whole, as TREC writes it: the passage is judged, for none."""
ADVICE = (
    "Give four fields (question, aspect number from 1 or 0 for none, passage, relevance), or a JSON object "
    "with question_id, passage_id, aspect and relevance."
)


class _Judged(NamedTuple):
    question: str
    passage: str
    aspect: Label
    relevance: int


@dataclass(frozen=True, slots=True)
class AspectJudgments:
    """Which aspects each passage covers, by question.

    The public code of ICAT looks passages up without their question, so that a passage judged for one
    question counts for another; here the question is the first key.
    """

    by_question: Mapping[str, Mapping[str, frozenset[Label]]]

    @classmethod
    def of(cls, by_question: Mapping[str, Mapping[str, Iterable[Label]]]) -> AspectJudgments:
        """Read question → passage → aspects."""
        return cls(
            MappingProxyType(
                {
                    question: MappingProxyType({name: frozenset(labels) for name, labels in passages.items()})
                    for question, passages in by_question.items()
                }
            )
        )

    def as_json(self) -> dict[str, Json]:
        """Question → passage → aspects, as the option `judgments` takes it; the same judgments, the same."""
        return {
            question: {name: sorted(labels, key=str) for name, labels in sorted(passages.items())}
            for question, passages in sorted(self.by_question.items())
        }

    def known(self, question: str) -> bool:
        """Whether anything was judged for a question."""
        return bool(self.by_question.get(question))

    def covered(self, question: str, passage: str, aspects: Sequence[str]) -> tuple[int, ...]:
        """The places of the aspects that a passage, or the document of a chunk, was judged relevant to."""
        passages = self.by_question.get(question, {})
        labels = passages.get(passage, passages.get(document_of(passage), frozenset()))
        return tuple(place for place, aspect in enumerate(aspects) if aspect in labels or place + 1 in labels)

    def unknown_aspects(self, question: str, aspects: Sequence[str]) -> tuple[str, ...]:
        """The labels of a question's judgments that are none of its aspects."""
        numbers = range(1, len(aspects) + 1)
        labels = set[Label]().union(*self.by_question.get(question, {}).values())
        return tuple(sorted(str(label) for label in labels if label not in aspects and label not in numbers))


def read_judgments(path: Path, limits: ReadLimits) -> AspectJudgments:
    """Read a file of judgments, in either format; a line that begins with a brace makes it JSONL.

    TREC's diversity format has four fields a line: question, aspect number from 1, passage, relevance.
    JSONL has `{"question_id", "passage_id", "aspect", "relevance"}`, the aspect by its text or its number,
    the relevance 1 where it is left out. Relevance above 0 is relevant; a passage that was judged and is
    relevant to nothing counts as judged, and so does one that was judged for the question as a whole, which
    TREC writes as aspect 0. A file that has only such judgments names no aspects and is refused.

    Raises:
        InvalidFileError: The file has problems; all of them are listed with their lines.
    """
    problems = ProblemList()
    by_question: dict[str, dict[str, set[Label]]] = {}
    seen: dict[tuple[str, str, Label], int] = {}
    for line, judged in _judged(path, limits, problems):
        key = (judged.question, judged.passage, judged.aspect)
        if key in seen:
            problems.add(line, "duplicate-id", f"This was judged before, in line {seen[key]}.")
        seen.setdefault(key, line)
        labels = by_question.setdefault(judged.question, {}).setdefault(judged.passage, set())
        if judged.relevance > 0 and judged.aspect != WHOLE:
            labels.add(judged.aspect)
    if seen and all(aspect == WHOLE for _, _, aspect in seen):
        message = f"{path.name} judges passages for questions as a whole, and for no aspect of them."
        problems.add(
            0, "wrong-format", message, advice="Give diversity qrels, whose second field is the aspect."
        )
    if not by_question and not problems.errors:
        problems.add(0, "empty-file", f"{path.name} holds no judgments.", advice=ADVICE)
    if problems.errors:
        message = f"{path} has {problems.errors} {'problem' if problems.errors == 1 else 'problems'}."
        raise InvalidFileError(message, problems.result(), advice="Correct them and try again.")
    return AspectJudgments.of(by_question)


def _judged(path: Path, limits: ReadLimits, problems: ProblemList) -> Iterator[tuple[int, _Judged]]:
    try:
        for line, content in read_lines(path, limits):
            try:
                text = decode(content, line).strip()
                if text:
                    yield line, _of_object(parse_json(text, line)) if text[0] in "{[" else _of_fields(text)
            except FileFormatError as error:
                problems.add(line, error.code, error.message, advice=error.advice)
    except FileFormatError as error:
        problems.add(error.line, error.code, error.message, advice=error.advice)


def _of_fields(text: str) -> _Judged:
    fields = text.split()
    if len(fields) != FIELDS:
        raise FileFormatError(f"This line has {len(fields)} fields.", advice=ADVICE, code="missing-field")
    question, aspect, passage, relevance = fields
    if not aspect.isdecimal():
        message = f"The aspect {aspect[:40]!r} is no number from 0."
        raise FileFormatError(message, advice=ADVICE, code="wrong-type")
    try:
        return _Judged(question, passage, int(aspect), int(relevance))
    except ValueError as error:
        message = f"The relevance {relevance[:40]!r} is no whole number."
        raise FileFormatError(message, advice=ADVICE, code="wrong-type") from error


def _of_object(row: object) -> _Judged:
    if not isinstance(row, Mapping):
        raise FileFormatError("This line is not a JSON object.", advice=ADVICE, code="not-object")
    question, passage = (_name(row, field) for field in ("question_id", "passage_id"))
    aspect, relevance = row.get("aspect"), row.get("relevance", 1)
    text = isinstance(aspect, str) and bool(aspect.strip())
    number = isinstance(aspect, int) and not isinstance(aspect, bool) and aspect >= 1
    if not isinstance(aspect, str | int) or not (text or number):
        message = "The aspect is neither a text nor a number from 1."
        raise FileFormatError(message, advice=ADVICE, code="missing-field")
    if not isinstance(relevance, int):
        raise FileFormatError("The relevance is no whole number.", advice=ADVICE, code="wrong-type")
    return _Judged(
        question, passage, " ".join(aspect.split()) if isinstance(aspect, str) else aspect, relevance
    )


def _name(row: Mapping[object, object], field: str) -> str:
    value = row.get(field)
    if not isinstance(value, str | int) or isinstance(value, bool) or not str(value).strip():
        raise FileFormatError(f"There is no usable {field}.", advice=ADVICE, code="missing-field")
    return str(value)
