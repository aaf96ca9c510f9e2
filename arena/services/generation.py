"""Answers of an LLM to the questions of a set, from their passages, as a file of answers."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from arena.services.judging.llm_access import open_access
from arena.services.rounds.pairing import Sample
from arena.settings import Settings
from data.errors import FileFormatError, InputError
from data.progress import Progress, Report, Stopwatch
from data.records import Outcome, Question
from data.store import Store
from judges.base import each
from judges.generation import AnswerGenerator, Generated, Generation
from leaderboard.sampling.questions import proportionally

AT_ONCE = 500


@dataclass(slots=True)
class GenerationReport:
    """What came of a generation: outcomes by name, and answers with those that find none, by domain.

    `most_passages` is how many the question with the most has.
    """

    file: Path
    questions: int
    most_passages: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    no_answers: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0

    def count(self, question: Question, generated: Generated) -> None:
        """Count one question."""
        outcome = "answered" if generated.outcome is Outcome.JUDGED else generated.outcome.value
        self.outcomes[outcome] += 1
        if generated.answer is None:
            self.reasons[f"{outcome}: {generated.detail}"] += 1
            return
        self.answers[question.domain] += 1
        self.no_answers[question.domain] += generated.no_answer

    def to_json(self) -> dict[str, Any]:
        """The object that `arena answers generate --json` prints."""
        answered = self.answers.total()
        return {
            "file": str(self.file),
            "questions": self.questions,
            "most_passages": self.most_passages,
            "answers": answered,
            "outcomes": dict(self.outcomes),
            "no_answer_share": self.no_answers.total() / answered if answered else None,
            "no_answer_by_domain": {
                domain: self.no_answers[domain] / count for domain, count in self.answers.items()
            },
            "calls": self.calls,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cost_usd": self.cost_usd,
            "reasons": dict(self.reasons.most_common(20)),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRequest:
    """What is to be generated; `sample` in the words of the command line."""

    set_name: str
    generation: Generation
    file: Path
    sample: str | None = None
    seed: int = 0
    concurrency: int = 16


class GenerationService:
    """Use cases around generated answers."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings

    def generate(
        self, request: GenerationRequest, report: Report, note: Callable[[str], None]
    ) -> GenerationReport:
        """Ask for every question's answer and write those that came as JSON lines, in the set's order.

        Replies are cached, so a run that was cut off asks only what is missing when it is started again. The
        file is there only once every question was asked. `note` is called, before anything is asked, where
        more passages are wanted than any question has.

        Raises:
            InputError: No question of the set has passages.
            FileFormatError: The file cannot be written.
            JudgeError: Asking cannot go on.
        """
        questions = self._questions(request)
        most = max((len(question.passages) for question in questions), default=0)
        if not most:
            raise InputError(
                f"No question of {request.set_name} has passages to answer from.",
                advice="Import a set whose questions have passages.",
            )
        asked = request.generation.passages
        if asked > most:
            note(
                f"{asked} passages are asked for, and no question of {request.set_name} has more than "
                f"{most}: each answer sees those that there are."
            )
        try:
            result = asyncio.run(self._generate(request, questions, report))
        except OSError as error:
            message = f"{request.file} cannot be written: {error.strerror}."
            raise FileFormatError(message, advice="Name a file that you can write with --out.") from error
        result.most_passages = most
        return result

    async def _generate(
        self, request: GenerationRequest, questions: Sequence[Question], report: Report
    ) -> GenerationReport:
        result = GenerationReport(file=request.file, questions=len(questions))
        part = request.file.with_name(f"{request.file.name}.part")
        watch, done = Stopwatch(), 0
        async with open_access(self._store, self._settings, concurrency=request.concurrency) as client:
            generator = AnswerGenerator(request.generation, client)
            with part.open("w", encoding="utf-8") as file:
                for chunk in _chunks(questions):
                    answers = await each(generator.generate, chunk, at_once=request.concurrency)
                    for question, generated in zip(chunk, answers, strict=True):
                        result.count(question, generated)
                        if generated.answer is not None:
                            file.write(_line(generated) + "\n")
                    done += len(chunk)
                    report(Progress(done, len(questions), watch.seconds))
        result.calls, result.cost_usd = client.usage.calls, client.usage.total_usd
        result.input_tokens, result.output_tokens = client.usage.input_tokens, client.usage.output_tokens
        part.replace(request.file)
        return result

    def _questions(self, request: GenerationRequest) -> list[Question]:
        summary = self._store.sets.summary(request.set_name)
        numbered = list(self._store.sets.numbered(summary.id))
        sample = Sample.parse(request.sample)
        if sample.number is not None or sample.share is not None:
            count = sample.number or max(1, round((sample.share or 0.0) * len(numbered)))
            numbered = proportionally(numbered, count, request.seed)
        return [question for _, question in numbered]


def _chunks(questions: Sequence[Question]) -> Iterator[list[Question]]:
    iterator = iter(questions)
    while chunk := list(islice(iterator, AT_ONCE)):
        yield chunk


def _line(generated: Generated) -> str:
    answer = generated.answer
    if answer is None:
        raise ValueError("There is no answer to write.")
    row = {
        "question_id": answer.question_id,
        "answer": answer.answer,
        "contexts": [
            {"id": passage.id, "title": passage.title, "text": passage.text} for passage in answer.contexts
        ],
    }
    return json.dumps(row, ensure_ascii=False)
