"""Human judgments of passages by aspect (diversity qrels)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data.corpora.documents import document_of
from data.errors import FileFormatError
from data.files.strict_json import parse_json
from data.files.text_files import ReadLimits, decode, read_lines
from data.models import Json, ProblemList

Label = str | int
FIELDS = 4
WHOLE = 0
"""Aspect number of judgments on the question as a whole."""
ADVICE = (
    "Use four fields (question, aspect number from 1 or 0 for none, passage, relevance), or a JSON object "
    "with question_id, passage_id, aspect and relevance."
)


@dataclass(frozen=True, slots=True)
class AspectJudgments:
    """Aspects that each passage covers, by question.

    Unlike in ICAT's public code, a judgment applies only to its own question.
    """

    by_question: Mapping[str, Mapping[str, frozenset[Label]]]

    @classmethod
    def of(cls, by_question: Mapping[str, Mapping[str, Iterable[Label]]]) -> "AspectJudgments":
        """Create judgments from question → passage → aspects."""
        return cls(
            {
                question: {name: frozenset(labels) for name, labels in passages.items()}
                for question, passages in by_question.items()
            }
        )

    def as_json(self) -> dict[str, Json]:
        """Return question → passage → aspects in a canonical order, for the option `judgments`."""
        return {
            question: {name: sorted(labels, key=str) for name, labels in sorted(passages.items())}
            for question, passages in sorted(self.by_question.items())
        }

    def known(self, question: str) -> bool:
        """Return whether a question has judgments."""
        return bool(self.by_question.get(question))

    def covered(self, question: str, passage: str, aspects: Sequence[str]) -> tuple[int, ...]:
        """Return the indexes of the aspects for which a passage, or a chunk's document, is relevant."""
        passages = self.by_question.get(question, {})
        labels = passages.get(passage, passages.get(document_of(passage), frozenset()))
        return tuple(place for place, aspect in enumerate(aspects) if aspect in labels or place + 1 in labels)

    def unknown_aspects(self, question: str, aspects: Sequence[str]) -> tuple[str, ...]:
        """Return labels in a question's judgments that are not aspects of it."""
        known = {*aspects, *range(1, len(aspects) + 1)}
        labels = frozenset[Label]().union(*self.by_question.get(question, {}).values())
        return tuple(sorted(str(label) for label in labels - known))


def read_judgments(path: Path, limits: ReadLimits) -> AspectJudgments:
    """Read a file of judgments: TREC's diversity qrels, or JSONL.

    TREC's format has four fields per line: question, aspect number from 1, passage, relevance. JSONL has
    `{"question_id", "passage_id", "aspect", "relevance"}` with the text or number of the aspect; relevance is
    1 by default. A passage without relevant aspects counts as judged.
    """
    problems = ProblemList()
    by_question: dict[str, dict[str, set[Label]]] = {}
    lines: dict[tuple[str, str, Label], int] = {}
    try:
        for line, content in read_lines(path, limits):
            try:
                text = decode(content, line).strip()
                judgment = _parse(text, line) if text else None
            except FileFormatError as error:
                problems.add(line, error.code, error.message, advice=error.advice)
                continue
            if judgment is None:
                continue
            question, aspect, passage, relevance = judgment
            known = lines.setdefault((question, passage, aspect), line)
            if known != line:
                problems.add(line, "duplicate-id", f"This repeats the judgment in line {known}.")
            labels = by_question.setdefault(question, {}).setdefault(passage, set())
            labels |= {aspect} if relevance > 0 and aspect != WHOLE else set()
    except FileFormatError as error:
        problems.note(error)
    if lines and all(aspect == WHOLE for _, _, aspect in lines):
        message = f"{path.name} has only judgments without an aspect."
        problems.add(0, "wrong-format", message, advice=ADVICE)
    if not by_question and not problems.errors:
        problems.add(0, "empty-file", f"{path.name} contains no judgments.", advice=ADVICE)
    problems.require_none(str(path))
    return AspectJudgments.of(by_question)


def _parse(text: str, line: int) -> tuple[str, Label, str, int]:
    fields: list[Any]
    if text[0] in "{[":
        row = parse_json(text, line)
        record = row if isinstance(row, Mapping) else {}
        fields = [record.get(name) for name in ("question_id", "aspect", "passage_id")]
        fields.append(record.get("relevance", 1))
    else:
        fields = list(text.split())
        fields[1::2] = [int(text) if text.lstrip("-").isdecimal() else text for text in fields[1::2]]
    question, aspect, passage, relevance = fields if len(fields) == FIELDS else [None] * FIELDS
    by_text = text[0] == "{" and isinstance(aspect, str) and aspect.strip()
    numbered = isinstance(aspect, int) and not isinstance(aspect, bool) and aspect >= (text[0] == "{")
    if not (question and passage and (by_text or numbered) and isinstance(relevance, int)):
        message = f"This line is not a judgment: {text[:80]}"
        raise FileFormatError(message, advice=ADVICE, code="wrong-type")
    label = " ".join(aspect.split()) if isinstance(aspect, str) else int(str(aspect))
    return str(question), label, str(passage), relevance
