"""What people say of aspects: judgments of passages (qrels), and labels of answers.

People's labels of aspects, and how well coverage agrees with them.

Source: ICAT, section 6: three annotators say of each aspect whether an answer covers it; the majority holds,
and the shares of covered aspects are correlated with the metric's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from data.corpora.chunking import document_of
from data.errors import FileFormatError, InvalidFileError, RecordError
from data.files.tabular.records import read_records
from data.files.text_files import ReadLimits, decode, parse_json, read_lines
from data.records import Json, ProblemList
from judges.metrics.coverage.correlation import RESAMPLES, Coefficient, Correlation, correlate
from judges.metrics.coverage.measures import share

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


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectLabel:
    """What one annotator says of one aspect in one answer.

    Attributes:
        question: The question's id.
        system: Whose answer it is.
        aspect: The aspect.
        covered: Whether the answer covers it.
        annotator: Who says so.
    """

    question: str
    system: str
    aspect: str
    covered: bool
    annotator: str = ""


Answered = tuple[str, str]
"""A question's id and a system."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelAgreement:
    """How well a metric's coverage agrees with people's.

    Attributes:
        correlations: By coefficient, whole questions resampled.
        answers: How many answers have both.
        questions: To how many questions.
        unlabelled: Answers with a score and no label: left out.
        unscored: Answers with labels and no score: left out.
        undecided: Aspects on which annotators split evenly: left out of their answer's share.
    """

    correlations: Mapping[Coefficient, Correlation]
    answers: int
    questions: int
    unlabelled: int
    unscored: int
    undecided: int


def human_coverage(labels: Iterable[AspectLabel]) -> tuple[Mapping[Answered, float], int]:
    """The share of the aspects that most annotators find covered, for each answer.

    Returns:
        The shares, and how many aspects were left out because annotators split evenly. An answer with no
        other aspects has no share.

    Raises:
        RecordError: An annotator labelled one aspect of one answer twice.
    """
    votes: dict[Answered, dict[str, dict[str, bool]]] = {}
    for label in labels:
        by_annotator = votes.setdefault((label.question, label.system), {}).setdefault(label.aspect, {})
        if label.annotator in by_annotator:
            message = (
                f"Annotator {label.annotator!r} labelled the aspect {label.aspect!r} twice for the answer of "
                f"{label.system} to {label.question}."
            )
            raise RecordError(message, advice="Keep one label an annotator and aspect.")
        by_annotator[label.annotator] = label.covered
    shares: dict[Answered, float] = {}
    split = 0
    for answered, aspects in votes.items():
        margins = [2 * sum(by_annotator.values()) - len(by_annotator) for by_annotator in aspects.values()]
        decided = [margin > 0 for margin in margins if margin]
        split += len(margins) - len(decided)
        covered = share(sum(decided), len(decided))
        if covered is not None:
            shares[answered] = covered
    return MappingProxyType(shares), split


def label_agreement(
    labels: Iterable[AspectLabel],
    coverage: Mapping[Answered, float],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> LabelAgreement:
    """Correlate a metric's coverage with people's, answer by answer.

    Args:
        labels: People's labels.
        coverage: The metric's coverage by question and system; answers that could not be scored are absent.
        resamples: For the intervals; whole questions are drawn, since answers to one are not independent.
        seed: Makes the intervals repeatable.

    Raises:
        RecordError: An annotator labelled one aspect of one answer twice.
        StatisticsError: A coverage is no finite number.
    """
    people, undecided = human_coverage(labels)
    both = sorted(set(people) & set(coverage))
    questions = [question for question, _ in both]
    correlations = correlate(
        [coverage[answered] for answered in both],
        [people[answered] for answered in both],
        questions=questions,
        resamples=resamples,
        seed=seed,
    )
    return LabelAgreement(
        correlations=correlations,
        answers=len(both),
        questions=len(set(questions)),
        unlabelled=len(set(coverage) - set(people)),
        unscored=len(set(people) - set(coverage)),
        undecided=undecided,
    )


def read_aspect_labels(path: Path, limits: ReadLimits) -> tuple[AspectLabel, ...]:
    """Read labels: JSONL lines `{"question_id", "system", "aspect", "covered": true, "annotator"}`.

    Raises:
        InvalidFileError: The file has problems; all of them are listed.
    """
    return read_records(path, limits, _label)


def _label(line: int, row: Mapping[str, object], problems: ProblemList) -> AspectLabel | None:
    texts = {name: row.get(name) for name in ("question_id", "system", "aspect")}
    wrong = [name for name, value in texts.items() if not isinstance(value, str) or not value.strip()]
    covered = row.get("covered")
    if not isinstance(covered, bool):
        wrong.append("covered (true or false)")
    if wrong or not isinstance(covered, bool):
        problems.add(line, "missing-field", f"There is no usable {', '.join(wrong)}.")
        return None
    return AspectLabel(
        question=str(texts["question_id"]),
        system=str(texts["system"]),
        aspect=str(texts["aspect"]),
        covered=covered,
        annotator=str(row.get("annotator") or ""),
    )
