"""Written references as a set, and how complete and how well cited references and answers are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from arena.services.accounts.auth import Caller, require
from arena.services.references.auditing import task_of
from arena.services.references.measures import Measured, from_documents, measure, measure_answer, summary
from data.errors import InputError
from data.files.question_sets.rows import write_set
from data.records import (
    PEOPLE,
    AnnotationTask,
    Question,
    QuestionSet,
    SubmissionState,
    TokenScope,
    require_name,
)
from data.records.references import Failure, ReferenceState, WrittenReference
from data.store import Store
from judges.text.citations import cited_sentences, without_citations

FACTS, SECOND = "references.json", "second-writers.jsonl"


class ReferenceExports:
    """Use cases around what was written."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def export(
        self, task_name: str, folder: Path, *, set_name: str = "", unaudited: bool = False, caller: Caller
    ) -> dict[str, Any]:
        """Write a set of the questions that have an accepted reference, as `arena sets import` takes it.

        Of two accepted texts the first writer's is the reference, and the other goes into a file of answers,
        so that a second writer can enter as a system. What the audit came to is written beside.

        Args:
            task_name: The task.
            folder: Where the set is written.
            set_name: Of the new set; by default the former's and the task's.
            unaudited: Whether texts count that no audit accepted; the facts say so.
            caller: Who asks.

        Returns:
            The name of the `set` and its `questions`, `left_out` ones without a text, and texts of a `second`
            writer.

        Raises:
            NotFoundError: There is no such task.
            InputError: No text is accepted.
            ForbiddenError: Only organisers may.
        """
        require(caller, TokenScope.ORGANISE)
        task = task_of(self._store, task_name)
        former = self._store.sets.get(task.set_name)
        texts = self._taken(task, unaudited=unaudited)
        if not texts:
            raise InputError(
                f"No reference of {task_name} is accepted.",
                advice="Audit a batch first: `arena references audit TASK --draw 10`.",
            )
        questions = tuple(
            _with_reference(question, texts[question.id][0].text)
            for question in former.questions
            if question.id in texts
        )
        models = sorted({draft.model for draft in self._store.references.drafts(task.id).values()})
        used = {question.domain for question in questions}
        made = replace(
            former,
            name=require_name(set_name or f"{former.name}-{task_name}", "Question set name"),
            version=f"{former.version}-{task_name}",
            reference_by=f"people, from drafts of {', '.join(models)}" if models else PEOPLE,
            questions=questions,
            domains={key: label for key, label in former.domains.items() if key in used},
        )
        write_set(made, folder)
        second = [_answer(made.by_id[key], pair[1]) for key, pair in texts.items() if len(pair) > 1]
        if second:
            lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in second)
            (folder / SECOND).write_text(lines, encoding="utf-8")
        failures = [failure for pair in texts.values() for text in pair for failure in text.failures or ()]
        facts = {
            "task": task.name,
            "from_set": task.set_name,
            "audited": not unaudited,
            "writers": len({text.writer for pair in texts.values() for text in pair}),
            "drafts": models,
            "batches": [batch.to_json() for batch in self._store.references.batches(task.id)],
            "failures": {failure.value: failures.count(failure) for failure in Failure},
            "measures": summary(_of_references(made)),
        }
        (folder / FACTS).write_text(json.dumps(facts, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        left_out = len(self._store.annotations.items(task.id)) - len(texts)
        return {"set": made.name, "questions": len(questions), "left_out": left_out, "second": len(second)}

    def measure_set(self, set_name: str, systems: Iterable[str] = (), *, caller: Caller) -> dict[str, Any]:
        """Completeness and citation accuracy of references and of systems' answers, as `summary` says.

        Answers cite their contexts, or the passages of the question where they have none.
        References count where `citations` has a list for each sentence.

        Raises:
            NotFoundError: There is no such set or system.
            ForbiddenError: Only organisers may.
        """
        require(caller, TokenScope.ORGANISE)
        questions = self._store.sets.get(set_name)
        known = {
            one.system: one.id
            for one in self._store.submissions.find(set_name=set_name)
            if one.state is SubmissionState.ACCEPTED
        }
        wanted = tuple(systems) or tuple(known)
        unknown = [name for name in wanted if name not in known]
        if unknown:
            raise InputError(
                f"{set_name} has no system {', '.join(unknown)}.", advice=f"There are: {', '.join(known)}."
            )
        references = dict(_of_references(questions))
        rows: dict[str, Any] = {questions.reference_name: summary(references.items())}
        for name in wanted:
            rows[name] = summary(self._of_answers(questions, known[name]))
        unmeasured = sum(bool(question.reference) for question in questions.questions) - len(references)
        return {"set": set_name, "references_without_citations": unmeasured, "systems": rows}

    def _of_answers(self, questions: QuestionSet, number: int) -> Iterator[tuple[str, Measured]]:
        for key, answer in self._store.submissions.answers(number).items():
            question = questions.by_id[key]
            passages = answer.contexts or question.passages
            yield key, measure_answer(question.question, question.short_answers, answer.answer, passages)

    def _taken(self, task: AnnotationTask, *, unaudited: bool) -> Mapping[str, list[WrittenReference]]:
        """The texts that count by question, in the order of the set; the first writer's first."""
        taken: dict[str, list[WrittenReference]] = {}
        for text in self._store.references.written(task.id):
            if not text.excluded and (unaudited or text.state is ReferenceState.ACCEPTED):
                taken.setdefault(text.question_id, []).append(text)
        return taken


def _with_reference(question: Question, text: str) -> Question:
    """The question with a reference: brackets become the documents of each sentence."""
    ids = [passage.id for passage in question.passages]
    cited = [tuple(ids[number - 1] for number in sentence.numbers) for sentence in cited_sentences(text)]
    named = {document for documents in cited for document in documents}
    return replace(
        question,
        reference=without_citations(text),
        citations=tuple(cited),
        citation_numbers=(),
        gold_doc_ids=tuple(document for document in ids if document in named),
    )


def _answer(question: Question, text: WrittenReference) -> dict[str, Any]:
    return {
        "question_id": question.id,
        "answer": without_citations(text.text),
        "contexts": [
            {"id": passage.id, "title": passage.title, "text": passage.text} for passage in question.passages
        ],
    }


def _of_references(questions: QuestionSet) -> Iterator[tuple[str, Measured]]:
    for question in questions.questions:
        if not question.reference or not question.citations:
            continue
        sentences = from_documents(question.reference, question.citations, question.passages)
        if sentences is not None:
            yield (
                question.id,
                measure(question.question, question.short_answers, sentences, question.passages),
            )
