"""Answers to be scored, and passages of questions, as tables (docs/design.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from data.files.tabular.fields import Fields
from data.files.tabular.records import read_records
from data.files.tabular.values import given, id_text
from data.files.text_files import ReadLimits
from data.models import MetricItem, Passage, ProblemList


@dataclass(frozen=True, slots=True)
class QuestionPassages:
    """The passages of a question, which is named by its id or its text."""

    question: str
    passages: tuple[Passage, ...]
    line: int


LISTS = ("aspects", "sub_questions", "short_answers")
LIST_CELLS = frozenset({*LISTS, "passages", "contexts", "nuggets"})
EMPTY_ITEMS_STAY = ("passages",)
"""The passages of a question, which are no contexts of an answer."""


def read_items(path: Path, limits: ReadLimits) -> tuple[MetricItem, ...]:
    """Read the answers of a file.

    Raises:
        InvalidFileError: The file has problems; all of them are listed.
    """
    return read_records(path, limits, _item, ours=True, lists=LIST_CELLS, keep=EMPTY_ITEMS_STAY)


def read_passages(path: Path, limits: ReadLimits) -> tuple[QuestionPassages, ...]:
    """Read passages by question: `question_id` or the question's text (`query`), and `passages`.

    RAG-QA Arena's prediction files are of this form.

    Raises:
        InvalidFileError: The file has problems; all of them are listed.
    """
    return read_records(path, limits, _question_passages, ours=True, lists=LIST_CELLS)


def _question_passages(
    line: int, row: Mapping[str, object], problems: ProblemList
) -> QuestionPassages | None:
    fields = Fields(line, row, problems)
    name = fields.id("question_id", "question")
    if not isinstance(row.get("contexts"), list):
        fields.note("missing-field", "There is no list of passages.")
    passages = fields.passages("contexts", "p")
    return None if fields.wrong else QuestionPassages(name, passages, line)


def _item(line: int, row: Mapping[str, object], problems: ProblemList) -> MetricItem | None:
    fields = Fields(line, row, problems)
    named = any(given(row.get(name)) for name in ("id", "question_id"))
    item = MetricItem(
        id=fields.id("id", "question_id") if named else str(line),
        question=fields.text("question", blank=True),
        answer=fields.text("answer", blank=True),
        passages=fields.passages("passages", "p"),
        contexts=fields.passages("contexts", "c"),
        reference=fields.optional("reference"),
        aspects=fields.texts("aspects"),
        sub_questions=fields.texts("sub_questions"),
        short_answers=fields.texts("short_answers"),
        nuggets=fields.nuggets(),
        domain=id_text(row.get("domain")) or "",
    )
    return None if fields.wrong else item
