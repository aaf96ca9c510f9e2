"""Answers to be scored and pairs that people labelled, as tables (docs/design.md)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from data.files.human_evaluations import read_evaluations
from data.files.tabular.columns import NAMES, Column, folded
from data.files.tabular.fields import Fields
from data.files.tabular.records import read_records
from data.files.tabular.values import given, id_text
from data.files.text_files import ReadLimits
from data.records import HumanLabel, MetricItem, Passage, ProblemList
from data.winners import Side, winning_side


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


A, B, TIE = -1.0, 1.0, 0.0
LABELS: Mapping[Side, float] = MappingProxyType({"a": A, "b": B, "tie": TIE})
LARGEST = 2
OF_SIDES: Mapping[str, str] = MappingProxyType(
    {
        "winner": "label",
        **{
            folded(f"{name}_{side}"): f"{ours}_{side}"
            for ours in (Column.ANSWER, Column.SYSTEM)
            for name in NAMES[ours]
            for side in "ab"
        },
    }
)
"""Our names of a pair's columns by those of others."""


def read_labels(path: Path, limits: ReadLimits) -> tuple[HumanLabel, ...]:
    """Read labels: JSON Lines, or RAG-QA Arena's `human_evaluations.json` as it is published.

    Raises:
        InvalidFileError: The file has problems; all of them are listed.
        FileFormatError: It is a published file whose columns do not go together.
    """
    published = read_evaluations(path, limits)
    if published is not None:
        return published
    return read_records(path, limits, _human_label, ours=True, lists=LIST_CELLS, keep=EMPTY_ITEMS_STAY)


def _human_label(line: int, row: Mapping[str, object], problems: ProblemList) -> HumanLabel | None:
    found = {OF_SIDES[folded(name)]: value for name, value in row.items() if folded(name) in OF_SIDES}
    own = "label" in row
    row = {**found, **row}
    named = any(given(row.get(name)) for name in ("id", "question_id"))
    fields = Fields(line, row, problems)
    passages = row.get("passages")
    single = {**row, "passages": [passages]} if isinstance(passages, str | Mapping) else row
    label = HumanLabel(
        # Where a row has both, `id` is the pair's own: a question may have several pairs.
        id=fields.id("id", "question_id") if named else _pair_id(row),
        domain=fields.optional("domain") or "",
        question=fields.text("question", blank=True),
        answer_a=fields.text("answer_a", blank=True),
        answer_b=fields.text("answer_b", blank=True),
        label=_number(fields, own=own),
        reference=fields.optional("reference"),
        passages=tuple(one.text for one in Fields(line, single, problems).passages("passages", "p")),
        system_a=fields.optional("system_a") or "",
        system_b=fields.optional("system_b") or "",
    )
    return None if fields.wrong else label


def _pair_id(row: Mapping[str, object]) -> str:
    """An id of a pair's own, which several people's labels of the same texts share."""
    texts = json.dumps([str(row.get(name)) for name in ("question", "answer_a", "answer_b")])
    return f"pair {hashlib.sha256(texts.encode()).hexdigest()[:12]}"


def _number(fields: Fields, *, own: bool) -> float:
    """The label; in a column of our own a word is a side, in others' it may be a system's name."""
    value = fields.row.get("label")
    side = winning_side(value, fields.row.get("system_a"), fields.row.get("system_b"), by_name=not own)
    if side is not None:
        return LABELS[side]
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST:
        return float(value)
    fields.note("wrong-value", f"The label is {value!r}.", 'Use "a", "b", "tie", or a number from -2 to 2.')
    return 0.0
