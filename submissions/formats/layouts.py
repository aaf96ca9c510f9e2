"""The registry of what rows look like: which tool wrote them, told by their fields, and how they are read.

A file's format says how rows are stored (JSONL, Parquet, …); its layout says what their fields mean.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from data.records import Question
from submissions.formats.harnesses import (
    ID_FIELDS,
    NamedAnswer,
    is_helm,
    is_inspect,
    is_lm_eval,
    is_openai_evals,
    read_helm,
    read_inspect,
    read_lm_eval,
    read_openai_evals,
)
from submissions.question_index import QuestionIndex
from submissions.trec_rag import is_trec_rag, plain_row, topic_text

QUESTION_COLUMNS = ("question_id", "query", "question", "user_input")
ANSWER_COLUMNS = ("answer", "pred", "response")
CONTEXT_COLUMNS = ("contexts", "passages", "retrieved_contexts")
FURTHER_COLUMNS = ("domain", "thinking", "retrieved_context_ids", "references", "topic_id", "metadata")
COLUMNS = (*QUESTION_COLUMNS, *ANSWER_COLUMNS, *CONTEXT_COLUMNS, *FURTHER_COLUMNS)
"""What is read of a table."""


class Layout(StrEnum):
    """Whose fields a file has."""

    ARENA = "arena"
    RAG_QA_ARENA = "rag-qa-arena"
    TREC_RAG = "trec-rag"
    RAGAS = "ragas"
    INSPECT = "inspect"
    LM_EVAL = "lm-eval"
    HELM = "helm"
    OPENAI_EVALS = "openai-evals"


Fields = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class KnownLayout:
    """A layout that is not ours.

    Attributes:
        layout: Its name.
        fits: Whether a row has it.
        read: What a row says, by our names; None where it says nothing of an answer.
        repeats: What further rows of one sample are called.
        logs: Whether it is a log, whose other fields may hold numbers that are not finite.
    """

    layout: Layout
    fits: Callable[[Fields], bool]
    read: Callable[[Fields, QuestionIndex], NamedAnswer | None]
    repeats: str = ""
    logs: bool = True


def layout_of(row: Fields) -> KnownLayout | None:
    """The layout of a row; None where its fields are ours or RAG-QA Arena's, or unknown."""
    return next((known for known in LAYOUTS if known.fits(row)), None)


def own_layout(row: Fields) -> Layout:
    """Whether the fields are ours or RAG-QA Arena's."""
    return Layout.RAG_QA_ARENA if "pred" in row and "answer" not in row else Layout.ARENA


def is_log(value: object) -> bool:
    """Whether a value is a row of a log."""
    known = layout_of(value) if isinstance(value, Mapping) else None
    return known is not None and known.logs


def missing_columns(columns: Collection[str], *, answers: bool) -> str:
    """What is missing of the columns that a table of answers, or of contexts alone, must have, in words."""
    wanted = (QUESTION_COLUMNS, ANSWER_COLUMNS if answers else CONTEXT_COLUMNS)
    names = [" or ".join(group) for group in wanted if not any(name in columns for name in group)]
    return " and no column ".join(names)


def _ragas(row: Fields, _: QuestionIndex) -> NamedAnswer:
    asked, contexts, names = (
        row.get(name) for name in ("user_input", "retrieved_contexts", "retrieved_context_ids")
    )
    if isinstance(contexts, list) and isinstance(names, list) and len(names) == len(contexts):
        contexts = [{"id": name, "text": text} for name, text in zip(names, contexts, strict=True)]
    ids = [row[name] for name in ID_FIELDS if row.get(name)]
    return NamedAnswer(
        ids=ids,
        counted=all(isinstance(name, int) for name in ids),
        text=asked if isinstance(asked, str) else "",
        answer=row.get("response"),
        contexts=contexts,
    )


def _trec_rag(row: Fields, index: QuestionIndex) -> NamedAnswer:
    text = topic_text(row)

    def find(topic: str) -> Question | None:
        return next(iter(index.named([topic], text)), None)

    plain, unknown = plain_row(row, find)
    return NamedAnswer(
        ids=[plain["question_id"]],
        text=text,
        answer=plain["answer"],
        contexts=plain["contexts"],
        unknown_references=unknown,
    )


LAYOUTS = (
    KnownLayout(Layout.TREC_RAG, is_trec_rag, _trec_rag, logs=False),
    KnownLayout(Layout.RAGAS, lambda row: "user_input" in row, _ragas, logs=False),
    KnownLayout(Layout.INSPECT, is_inspect, lambda row, _: read_inspect(row), "epochs"),
    KnownLayout(Layout.LM_EVAL, is_lm_eval, lambda row, _: read_lm_eval(row), "filters"),
    KnownLayout(Layout.HELM, is_helm, lambda row, _: read_helm(row), "trials or perturbations"),
    KnownLayout(Layout.OPENAI_EVALS, is_openai_evals, lambda row, _: read_openai_evals(row), "calls"),
)
"""In the order in which they are tried."""
