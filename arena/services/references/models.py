"""What writers, auditors and organisers of references see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from arena.services.references.marks import Part, mark_short_answers
from data.records import AnnotationTask, OwnProgress, Question
from data.records.references import AuditBatch, Draft, Failure, ReferenceState, WrittenReference


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingItem:
    """A question as its writer sees it.

    Attributes:
        number: The number of this writer's text.
        question: The question, without a reference where the task does not show it.
        marked: Each passage in parts, its short answers marked.
        draft: What an LLM wrote; None where there is none.
        text: What the writer has written so far.
        state: How far that is; None before the first text.
        failures: What the audit of this very text found; None where it was not in the sample.
        remark: What the auditor wrote.
    """

    number: int
    question: Question
    marked: tuple[tuple[Part, ...], ...]
    draft: Draft | None
    text: str
    state: ReferenceState | None
    failures: tuple[Failure, ...] | None
    remark: str

    def as_json(self) -> dict[str, Any]:
        """As `arena references next --json` prints it."""
        return {
            "number": self.number,
            "question_id": self.question.id,
            "question": self.question.question,
            "passages": passages_json(self.question),
            "short_answers": list(self.question.short_answers),
            "draft": None if self.draft is None else {"text": self.draft.text, "model": self.draft.model},
            "text": self.text,
            "state": self.state,
            "failures": None if self.failures is None else list(self.failures),
            "remark": self.remark,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditItem:
    """A text of the sample as an auditor sees it; nothing tells who wrote it."""

    number: int
    batch: AuditBatch
    question: Question
    marked: tuple[tuple[Part, ...], ...]
    text: str
    failures: tuple[Failure, ...] | None
    remark: str

    def as_json(self) -> dict[str, Any]:
        """As `arena references audit next --json` prints it."""
        return {
            "number": self.number,
            "batch": batch_json(self.batch),
            "question_id": self.question.id,
            "question": self.question.question,
            "passages": passages_json(self.question),
            "short_answers": list(self.question.short_answers),
            "text": self.text,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """What became of a text: `left_out` are short answers that its words do not hold, to look at again."""

    number: int
    sentences: int
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionStatus:
    """How far a question is: the states of its texts, first writer first; empty where nobody wrote yet."""

    question_id: str
    domain: str
    writers: tuple[str, ...]
    states: tuple[ReferenceState, ...]
    has_draft: bool

    @property
    def accepted(self) -> bool:
        """Whether one of its texts is accepted."""
        return ReferenceState.ACCEPTED in self.states


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceStatus:
    """How far a task of references is.

    Attributes:
        task: The task.
        questions: Each question.
        batches: The batches that were drawn.
        failures: How often each was found, over the last audit of each text.
        unseen_short_answers: Short answers that stand in no passage, and so are marked nowhere.
        unchanged_drafts: Texts that are a draft word for word.
        audited: Decided texts of all samples; a text counts once for each sample.
        incomplete: Of these, those that are incomplete.
        wrongly_cited: Of these, those with a citation that is wrong or missing.
    """

    task: AnnotationTask
    questions: tuple[QuestionStatus, ...]
    batches: tuple[AuditBatch, ...]
    failures: Mapping[Failure, int] = field(default_factory=dict)
    unseen_short_answers: int = 0
    unchanged_drafts: int = 0
    audited: int = 0
    incomplete: int = 0
    wrongly_cited: int = 0

    def as_json(self) -> dict[str, Any]:
        """As `arena references status --json` prints it."""
        states = Counter(state for question in self.questions for state in question.states)
        return {
            "task": self.task.name,
            "set": self.task.set_name,
            "closed": self.task.closed,
            "writers_per_question": self.task.terms.overlap,
            "questions": len(self.questions),
            "untouched": sum(not question.states for question in self.questions),
            "with_accepted": sum(question.accepted for question in self.questions),
            "texts": {state.value: states[state] for state in ReferenceState},
            "drafts": sum(question.has_draft for question in self.questions),
            "unchanged_drafts": self.unchanged_drafts,
            "unseen_short_answers": self.unseen_short_answers,
            "audit": {
                "texts": self.audited,
                "completeness": 1 - self.incomplete / self.audited if self.audited else None,
                "citation_accuracy": 1 - self.wrongly_cited / self.audited if self.audited else None,
            },
            "failures": {failure.value: self.failures.get(failure, 0) for failure in Failure},
            "batches": list(map(batch_json, self.batches)),
            "by_question": [
                {
                    "question_id": question.question_id,
                    "domain": question.domain,
                    "writers": list(question.writers),
                    "states": list(question.states),
                    "draft": question.has_draft,
                }
                for question in self.questions
            ],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterView:
    """What a writer has to do: of their texts the returned ones come first."""

    progress: OwnProgress
    returned: tuple[int, ...]


def batch_json(batch: AuditBatch) -> dict[str, Any]:
    """A batch with what its audit came to."""
    return {
        "number": batch.number,
        "texts": batch.texts,
        "drawn": batch.drawn,
        "audited": batch.audited,
        "valid": batch.valid,
        "share": batch.share,
        "accepted": batch.accepted,
        "seed": batch.seed,
    }


def passages_json(question: Question) -> list[dict[str, Any]]:
    """The passages with the numbers by which they are cited."""
    return [
        {"number": number, "id": passage.id, "title": passage.title, "text": passage.text}
        for number, passage in enumerate(question.passages, start=1)
    ]


def marked_passages(question: Question) -> tuple[tuple[Part, ...], ...]:
    """Each passage in parts."""
    return tuple(mark_short_answers(passage.text, question.short_answers) for passage in question.passages)


def question_states(
    questions: Sequence[tuple[int, str, str]], texts: Sequence[WrittenReference], drafts: Mapping[int, Draft]
) -> tuple[QuestionStatus, ...]:
    """The status of each question.

    Args:
        questions: Number of the item, id and domain of the question.
        texts: What was written.
        drafts: By item.
    """
    by_item: dict[int, list[WrittenReference]] = {}
    for text in texts:
        if not text.aside:
            by_item.setdefault(text.item, []).append(text)
    return tuple(
        QuestionStatus(
            question_id=name,
            domain=domain,
            writers=tuple(text.writer for text in by_item.get(item, ())),
            states=tuple(text.state for text in by_item.get(item, ())),
            has_draft=item in drafts,
        )
        for item, name, domain in questions
    )


def without_reference(question: Question) -> Question:
    """A question as somebody sees it who is to write its reference."""
    return replace(question, reference=None, citation_numbers=(), citations=(), gold_doc_ids=(), nuggets=())
