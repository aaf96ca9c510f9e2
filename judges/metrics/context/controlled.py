"""Build questions with a known oracle from summaries and their documents (CRUX, section 3.2)."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from data.errors import InvalidFileError, RecordError
from data.files.tables.reader import read_records
from data.files.text_files import ReadLimits
from data.models import MetricItem, Outcome, Passage, ProblemList, Question
from data.progress import Work, working
from judges.llm.requests import CallFailure
from judges.llm.tasks import TaskRunner
from judges.metrics.comprehensiveness.graph import UnscoredError
from judges.metrics.context.measures import ContextSettings
from judges.metrics.context.raters import PASSAGES, REQUEST, LlmRater, find_sub_questions
from judges.metrics.context.ratings import Order, Ratings, required_subset, token_count
from judges.text.sentences import split_sentences

MAX_PIECE = 1_024
AT_ONCE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A human summary and its documents, whose ids are prefixes of passage ids."""

    id: str
    domain: str
    summary: str
    documents: tuple[Passage, ...]

    def __post_init__(self) -> None:
        if not self.summary.strip() or not any(document.text.strip() for document in self.documents):
            message = f"The source {self.id} has no summary or no documents."
            raise RecordError(message, advice="Add a summary and its source documents.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Controlled:
    """A question with its answerable sub-questions, their ratings, and the dropped sub-questions."""

    question: Question
    ratings: Ratings
    dropped: tuple[str, ...]

    def required(self, order: Order = Order.STATIC) -> tuple[str, ...]:
        """Return the passage ids of the oracle context, P**."""
        return tuple(self.question.passages[place].id for place in required_subset(self.ratings, order))


class ControlledSetBuilder:
    """Builds questions from sources with an LLM."""

    def __init__(self, runner: TaskRunner, settings: ContextSettings) -> None:
        self._runner = runner
        self._settings = settings

    async def build(self, source: Source) -> Controlled:
        """Build one question."""
        passages = await self._passages(source)
        request = await self._runner.run(REQUEST, {"report": source.summary})
        if isinstance(request, CallFailure):
            raise UnscoredError(request.outcome, f"Writing a request failed: {request.detail}")
        item = MetricItem(id=source.id, question=request.request, answer="", reference=source.summary)
        sub_questions = await find_sub_questions(item, self._runner, maximum=self._settings.sub_questions)
        rater = LlmRater(self._runner, weighted=self._settings.weighted)
        rows = await rater.passages(passages, sub_questions.texts)
        ratings = Ratings.of(rows, threshold=self._settings.threshold)
        if not ratings.answerable:
            reason = "None of the sub-questions can be answered from the documents."
            raise UnscoredError(Outcome.UNREADABLE, reason)
        answerable = ratings.answerable
        return Controlled(
            question=Question(
                id=source.id,
                domain=source.domain,
                question=request.request,
                reference=source.summary,
                passages=passages,
                sub_questions=tuple(sub_questions.texts[place] for place in answerable),
            ),
            ratings=Ratings(values=ratings.values[:, list(answerable)], threshold=ratings.threshold),
            dropped=tuple(text for place, text in enumerate(sub_questions.texts) if place not in answerable),
        )

    async def _passages(self, source: Source) -> tuple[Passage, ...]:
        pieces = [(document, piece) for document in source.documents for piece in cut_document(document.text)]
        replies = await asyncio.gather(
            *(self._runner.run(PASSAGES, {"document": piece}) for _, piece in pieces)
        )
        passages: list[Passage] = []
        numbers: dict[str, int] = {}
        for (document, _), reply in zip(pieces, replies, strict=True):
            if isinstance(reply, CallFailure):
                raise UnscoredError(reply.outcome, f"Writing passages failed: {reply.detail}")
            for text in reply.passages:
                numbers[document.id] = numbers.get(document.id, 0) + 1
                passages.append(Passage(f"{document.id}-{numbers[document.id]}", text, document.title))
        return tuple(passages)


def cut_document(text: str, maximum: int = MAX_PIECE) -> Iterator[str]:
    """Split a document between sentences into pieces of about `maximum` tokens or less."""
    piece: list[str] = []
    size = 0
    for sentence in split_sentences(text):
        tokens = token_count(sentence)
        if piece and size + tokens > maximum:
            yield " ".join(piece)
            piece, size = [], 0
        piece.append(sentence)
        size += tokens
    if piece:
        yield " ".join(piece)


async def build_all(
    builder: ControlledSetBuilder, sources: Sequence[Source], *, at_once: int = AT_ONCE
) -> tuple[tuple[Controlled, ...], dict[str, UnscoredError]]:
    """Build all questions; failures are returned by id."""
    places = asyncio.Semaphore(at_once)

    async def build(source: Source, work: Work) -> Controlled | UnscoredError:
        result: Controlled | UnscoredError
        async with places:
            try:
                result = await builder.build(source)
            except UnscoredError as stop:
                result = stop
        work.done += 1
        return result

    with working("building questions from summaries", len(sources)) as work:
        tasks = [asyncio.create_task(build(source, work)) for source in sources]
        try:
            results = await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    by_source = list(zip(sources, results, strict=True))
    questions = tuple(result for result in results if isinstance(result, Controlled))
    return questions, {source.id: result for source, result in by_source if isinstance(result, UnscoredError)}


DOMAIN = "all"
ADVICE = 'Write {"id": "…", "domain": "…", "summary": "…", "documents": [{"id", "title", "text"}]}.'


def read_sources(path: Path, limits: ReadLimits) -> tuple[Source, ...]:
    """Read sources; a document is a text, or an object with `text` and optionally `id` and `title`."""
    sources = read_records(path, limits, _source)
    problems = ProblemList()
    ids: set[str] = set()
    for source in sources:
        if source.id in ids:
            problems.add(0, "duplicate-id", f"Two sources have the id {source.id!r}.")
        ids.add(source.id)
    if problems.errors:
        message = f"{path} has several sources with the same id."
        raise InvalidFileError(message, problems.result(), advice="Give every source a unique id.")
    return sources


def _source(line: int, row: Mapping[str, object], problems: ProblemList) -> Source | None:
    key, domain, summary = row.get("id", f"s{line}"), row.get("domain", DOMAIN), row.get("summary")
    documents = row.get("documents")
    if not all(isinstance(value, str) and value.strip() for value in (key, domain, summary)):
        problems.add(line, "missing-field", "id, domain and summary must be strings.", advice=ADVICE)
        return None
    passages = _documents(documents)
    if isinstance(passages, str):
        problems.add(line, "wrong-type", passages, advice=ADVICE)
        return None
    try:
        return Source(id=str(key), domain=str(domain), summary=str(summary), documents=passages)
    except RecordError as error:
        problems.add(line, "missing-field", error.message, advice=error.advice)
        return None


def _documents(value: object) -> tuple[Passage, ...] | str:
    if not isinstance(value, list):
        return "documents must be a list."
    entries = [_document(place, item) for place, item in enumerate(value, start=1)]
    documents = tuple(document for document in entries if document is not None)
    if len(documents) < len(entries):
        return f"Document {entries.index(None) + 1} has no text."
    if len({document.id for document in documents}) < len(documents):
        return "Two documents have the same id."
    return documents


def _document(place: int, value: object) -> Passage | None:
    if isinstance(value, str):
        return Passage(f"d{place}", value)
    if not isinstance(value, Mapping) or not isinstance(value.get("text"), str):
        return None
    name, title = value.get("id", f"d{place}"), value.get("title") or ""
    if not isinstance(name, str | int) or not isinstance(title, str):
        return None
    return Passage(str(name), value["text"], title)
