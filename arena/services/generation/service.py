"""Answers of an LLM to the questions of a set, from their passages, as a file of answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from arena.services.generation.missed_answers import missed_answers_json
from arena.services.generation.models import CardFacts, GenerationReport, GenerationRequest, write_card
from arena.services.judging.llm_access import open_access, paid_before
from arena.services.retrieval.corpora import CorpusService
from arena.services.retrieval.requests import RetrievalRequest
from arena.services.retrieval.runs import RetrievalService
from arena.services.rounds.pairing import Sample
from arena.settings import Settings
from data.errors import FileFormatError, InputError
from data.progress import Progress, Report, Stopwatch
from data.records import Outcome, Question
from data.store import Store
from judges.base import each
from judges.generation import AnswerGenerator, Generated
from judges.llm.costs import MemoryLedger
from leaderboard.sampling.questions import proportionally
from submissions.check import read_answers

AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sourced:
    """Questions with the passages they are answered from, why some have none, and what the search cost."""

    questions: Sequence[Question]
    source: str
    failed: Mapping[str, str] = field(default_factory=dict)
    spent_usd: float = 0.0


class GenerationService:
    """Use cases around generated answers."""

    def __init__(
        self, store: Store, settings: Settings, retrieval: RetrievalService, corpora: CorpusService
    ) -> None:
        self._store = store
        self._settings = settings
        self._retrieval = retrieval
        self._corpora = corpora

    def generate(
        self, request: GenerationRequest, report: Report, note: Callable[[str], None]
    ) -> GenerationReport:
        """Ask for every question's answer and write those that came as JSON lines, in the set's order.

        Replies are cached, so a run that was cut off, or ended at its cap, asks only what is missing when it
        is started again. The file and its card are there only once every question was asked or skipped.
        `note` tells what a reader should know beside the result.

        Raises:
            InputError: No question has passages, or none has as many as are asked for; a domain is unknown.
            NotFoundError: There is no such set, corpus or server.
            BudgetError: There is a cap, and no price is known for the model.
            FileFormatError: The file cannot be written.
            JudgeError: Asking cannot go on.
        """
        sourced = self._sourced(request)
        most = max((len(question.passages) for question in sourced.questions), default=0)
        self._require_passages(request, sourced, most, note)
        try:
            result = asyncio.run(self._generate(request, sourced, report))
            result.most_passages = most
            write_card(request.card, _facts(request, result, sourced.source))
        except OSError as error:
            message = f"{error.filename or request.file} cannot be written: {error.strerror}."
            raise FileFormatError(message, advice="Name a file that you can write with --out.") from error
        skipped = result.outcomes[Outcome.SKIPPED.value]
        if skipped:
            note(
                f"{skipped:,} questions were not answered, since the cap of {request.budget_usd} USD is "
                "reached; the same command with a higher one goes on."
            )
        return result

    def missed_answers(self, file: Path, set_name: str) -> dict[str, Any]:
        """Report "no answer" replies of a file whose thinking found an answer, as `missed_answers_json` says.

        Raises:
            NotFoundError: There is no such set.
            InvalidFileError: The file has errors.
        """
        question_set = self._store.sets.get(set_name)
        by_id = {question.id: question for question in question_set.questions}
        answers = read_answers(file, question_set)
        return missed_answers_json((by_id[answer.question_id], answer) for answer in answers)

    async def _generate(
        self, request: GenerationRequest, sourced: _Sourced, report: Report
    ) -> GenerationReport:
        questions = sourced.questions
        result = GenerationReport(file=request.file, card=request.card, questions=len(questions))
        result.retrieval_usd = sourced.spent_usd
        part = request.file.with_name(f"{request.file.name}.part")
        watch, done = Stopwatch(), 0
        keys = [request.generation.request(question).key for question in questions if question.passages]
        result.paid_usd = await asyncio.to_thread(paid_before, self._store, self._settings, keys)
        ledger = None
        if request.budget_usd is not None:
            spent = result.paid_usd + result.retrieval_usd
            ledger = MemoryLedger(max(0.0, request.budget_usd - spent))
        opened = open_access(self._store, self._settings, concurrency=request.concurrency, ledger=ledger)
        async with opened as client:
            generator = AnswerGenerator(request.generation, client)

            async def answer(question: Question) -> Generated:
                why = sourced.failed.get(question.id)
                if why is None:
                    return await generator.generate(question)
                detail = f"the search for passages failed: {why}"
                return Generated(question_id=question.id, outcome=Outcome.FAILED, detail=detail)

            with part.open("w", encoding="utf-8") as file:
                for chunk in _chunks(questions):
                    answers = await each(answer, chunk, at_once=request.concurrency)
                    for question, generated in zip(chunk, answers, strict=True):
                        result.count(question, generated)
                        if generated.answer is not None:
                            file.write(_line(generated) + "\n")
                    done += len(chunk)
                    report(Progress(done, len(questions), watch.seconds))
            result.usage = client.usage
        part.replace(request.file)
        return result

    def _require_passages(
        self, request: GenerationRequest, sourced: _Sourced, most: int, note: Callable[[str], None]
    ) -> None:
        if not most and sourced.failed:
            why = next(iter(sourced.failed.values()))
            message = f"No passage was found, and {len(sourced.failed):,} searches failed: {why}"
            raise InputError(message, advice="Try `arena retrieve` with these options first.")
        if not most:
            message = f"No question of {request.set_name} has passages to answer from."
            raise InputError(
                message, advice="Import a set whose questions have passages, or retrieve with --corpus."
            )
        asked = request.generation.passages
        if asked <= most:
            return
        if request.retrieval is None:
            message = (
                f"{asked} passages are asked for, and no question of {request.set_name} has more than {most}."
            )
            raise InputError(message, advice=f"Ask for --passages {most}, or retrieve more with --corpus.")
        note(f"{asked} passages are asked for, and no search found more than {most}.")

    def _sourced(self, request: GenerationRequest) -> _Sourced:
        questions = self._questions(request)
        if request.retrieval is None:
            return _Sourced(questions=questions, source="passages of the set")
        retrieved = self._retrieval.retrieve(
            request.retrieval, only=frozenset(question.id for question in questions)
        )
        found = [
            replace(question, passages=tuple(hit.passage for hit in retrieved.rankings.get(question.id, ())))
            for question in questions
        ]
        return _Sourced(
            questions=found,
            source=self._source(request.retrieval),
            failed=retrieved.failed,
            spent_usd=retrieved.usage.cost_usd + retrieved.usage.lost_usd,
        )

    def _source(self, retrieval: RetrievalRequest) -> str:
        versions = {manifest.name: manifest.content_hash for manifest in self._corpora.list()}
        if retrieval.corpus not in versions:
            return retrieval.name
        return f"{retrieval.name} (corpus sha256 {versions[retrieval.corpus][:12]})"

    def _questions(self, request: GenerationRequest) -> list[Question]:
        summary = self._store.sets.summary(request.set_name)
        unknown = [domain for domain in request.domains if domain not in summary.domains]
        if unknown:
            message = f"{summary.name} has no domain {', '.join(unknown)}."
            raise InputError(message, advice=f"There are: {', '.join(summary.domains)}.")
        numbered = [
            (number, question)
            for number, question in self._store.sets.numbered(summary.id)
            if not request.domains or question.domain in request.domains
        ]
        sample = Sample.parse(request.sample)
        if sample.number is not None or sample.share is not None:
            count = sample.number or max(1, round((sample.share or 0.0) * len(numbered)))
            numbered = proportionally(numbered, count, request.seed)
        return [question for _, question in numbered]


def _facts(request: GenerationRequest, result: GenerationReport, source: str) -> CardFacts:
    generation, usage = request.generation, result.usage
    return CardFacts(
        set_name=request.set_name,
        model=generation.model,
        endpoint=generation.endpoint,
        prompt=generation.prompt.name,
        prompt_hash=generation.prompt.hash,
        thinking=generation.thinking,
        sampling=generation.sampling,
        retriever=source,
        passages=generation.passages,
        questions=result.questions,
        answers=result.answers.total(),
        no_answers=result.no_answers.total(),
        left_out=sorted(result.left_out),
        calls=usage.calls,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cost_usd=usage.total_usd,
        paid_usd=result.paid_usd,
    )


def _chunks(questions: Sequence[Question]) -> Iterator[list[Question]]:
    iterator = iter(questions)
    while chunk := list(islice(iterator, AT_ONCE)):
        yield chunk


def _line(generated: Generated) -> str:
    answer = generated.answer
    if answer is None:
        raise ValueError("There is no answer to write.")
    row: dict[str, object] = {
        "question_id": answer.question_id,
        "answer": answer.answer,
        "contexts": [
            {"id": passage.id, "title": passage.title, "text": passage.text} for passage in answer.contexts
        ],
    }
    if answer.thinking:
        row["thinking"] = answer.thinking
    if (reply := generated.reply) is not None:
        row["tokens"] = reply.input_tokens + reply.output_tokens
        if reply.cost_usd is not None:
            row["usd"] = reply.cost_usd
    return json.dumps(row, ensure_ascii=False)
