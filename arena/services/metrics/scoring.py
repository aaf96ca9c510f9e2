"""Scoring of stored answers, and visibility of scores."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import Any

from arena.services.accounts.auth import Caller
from arena.services.accounts.redaction import submission_visibility
from arena.services.accounts.visibility import Kind, Resource, Visibility, visibility_of
from arena.services.metrics.embedded import ScoreRows
from arena.services.submissions.reader import StatusReader
from data.errors import JudgeError, NotFoundError, StoppedError
from data.models import MetricItem, Outcome, Score, Submission, SubmissionKind
from data.progress import Work, working
from data.store import Store
from data.store.scores import ScoredAnswer
from judges.llm.costs import Usage
from judges.metrics.shortening import CUT, CUT_NOTE

Filter = Callable[[Submission], bool]


def entrants_of(
    store: Store,
    set_name: str,
    systems: Sequence[str] = (),
    *,
    kind: SubmissionKind | None = SubmissionKind.ANSWERS,
    seen: Filter = lambda _: True,
) -> tuple[Submission, ...]:
    """Return the visible newest submissions of a set, and the reference if named; `kind` None is any kind."""
    store.sets.summary(set_name)
    live = tuple(filter(seen, store.submissions.find(set_name=set_name, kind=kind, newest=True)))
    if not systems:
        return live
    reference = store.submissions.reference(set_name)
    by_system = {entrant.system: entrant for entrant in (*live, *filter(seen, (reference,)))}
    unknown = [system for system in systems if system not in by_system]
    if unknown:
        message = f"{', '.join(unknown)} did not submit to {set_name}."
        raise NotFoundError(message, advice=f"The systems are: {', '.join(by_system) or 'none'}.")
    return tuple(by_system[system] for system in dict.fromkeys(systems))


def readable_by(store: Store, set_name: str, caller: Caller) -> Filter:
    """Return a filter of submissions whose answers are public or the caller's own.

    Scores are visible even if the set's texts are not public.
    """
    statuses = StatusReader(store, set_name)
    reference = store.submissions.reference(set_name).id
    hidden = Resource(kind=Kind.REFERENCE, hidden=store.policies.get(set_name).hidden_references)
    hides_reference = visibility_of(caller, hidden) is not Visibility.FULL

    def seen(submission: Submission) -> bool:
        if submission.id == reference:
            return not hides_reference
        published = statuses.published(submission)
        visibility = submission_visibility(caller, submission, published=published, kind=Kind.ANSWERS)
        return visibility is Visibility.FULL

    return seen


BATCH = 200
COMMIT_EVERY = 0.5
RETRIED = (Outcome.FAILED, Outcome.SKIPPED)


def notes_of(score: Score | ScoredAnswer) -> Iterator[str]:
    """Yield the notes on a scored answer: its metric's, and on cut passages."""
    if isinstance(note := score.details.get("note"), str):
        yield note
    if score.details.get(CUT):
        yield CUT_NOTE


@dataclass(slots=True)
class Scored:
    """Answers of a run by outcome, with reasons for missing scores."""

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    total: float = 0.0

    @property
    def mean(self) -> float | None:
        """Mean score; None if there are no scores."""
        judged = self.outcomes[Outcome.JUDGED]
        return self.total / judged if judged else None

    def add(self, scores: Sequence[Score]) -> None:
        """Count scores."""
        self.outcomes.update(score.outcome for score in scores)
        self.reasons.update(score.reason for score in scores if score.score is None)
        self.notes.update(note for score in scores if score.score is not None for note in notes_of(score))
        self.total += sum(score.score for score in scores if score.score is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRun:
    """Result of a run of a metric over a set.

    Attributes:
        judge: Name of the scores in the store; empty if embedded.
        pending: Remaining answers; 0 unless the run was stopped.
        reasons: Reasons for missing scores, most frequent first.
        notes: Notes on scored answers, most frequent first.
    """

    metric: str
    judge: str
    model: str
    answers: int
    kept: int
    outcomes: Counter[Outcome]
    pending: int
    reasons: tuple[tuple[str, int], ...]
    notes: tuple[tuple[str, int], ...]
    mean: float | None
    usage: Usage

    def as_json(self) -> dict[str, Any]:
        """Return counts of outcomes, pending answers and usage as JSON."""
        return {
            "metric": self.metric,
            "judge": self.judge or "embedded",
            "model": self.model or None,
            "answers": self.answers,
            "kept": self.kept,
            **{name.value: self.outcomes[name] for name in Outcome if name is not Outcome.MISSING},
            "pending": self.pending,
            "mean": self.mean,
            "reasons": dict(self.reasons),
            "notes": dict(self.notes),
            "calls": self.usage.calls,
            "input_tokens": self.usage.input_tokens,
            "output_tokens": self.usage.output_tokens,
            "cost_usd": self.usage.total_usd,
        }


@dataclass(slots=True)
class _Run:
    """State of a run."""

    store: Store
    score: ScoreRows
    judge: str
    work: Work
    stop: asyncio.Event
    scored: Scored = field(default_factory=Scored)
    settled: list[tuple[int, Score]] = field(default_factory=list)
    finished: asyncio.Event = field(default_factory=asyncio.Event)
    failure: JudgeError | None = None


async def score_pending(
    store: Store,
    score: ScoreRows,
    *,
    judge: str,
    wanted: Mapping[str, Sequence[int]],
    at_once: int,
    concurrency: int,
    stop: asyncio.Event,
) -> Scored:
    """Score the answers without a score, and retry failed ones.

    `wanted` has the submissions by metric; `score` takes up to `at_once` answers to a question; `judge` names
    the scores in the store. Once `stop` is set, the run ends without waiting for calls in flight.
    """
    pending = await asyncio.to_thread(
        lambda: sum(
            store.scores.pending(numbers, metric=name, judge=judge, again=RETRIED)
            for name, numbers in wanted.items()
        )
    )
    with working(f"scoring by {', '.join(wanted)}", pending) as work:
        return await _score(_Run(store, score, judge, work, stop), wanted, at_once, concurrency)


async def _score(run: _Run, wanted: Mapping[str, Sequence[int]], at_once: int, concurrency: int) -> Scored:
    queue: Queued = asyncio.Queue(maxsize=concurrency)
    writer = asyncio.create_task(_write(run))
    feeder = asyncio.create_task(_feed(run, queue, wanted, at_once, workers=concurrency))
    tasks = [feeder, *(asyncio.create_task(_work(run, queue)) for _ in range(concurrency))]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # Let the writer finish, since a cancelled commit would lose its batch.
        run.finished.set()
        await writer
    if run.failure is not None:
        raise run.failure
    return run.scored


Queued = asyncio.Queue[Sequence[tuple[int, MetricItem, tuple[str, ...]]] | None]


async def _feed(
    run: _Run, queue: Queued, wanted: Mapping[str, Sequence[int]], at_once: int, *, workers: int
) -> None:
    unscored = run.store.scores.unscored(wanted, judge=run.judge, again=RETRIED)
    while not run.stop.is_set():
        batch = await asyncio.to_thread(lambda: list(islice(unscored, BATCH)))
        if not batch:
            break
        for _, of_question in groupby(batch, key=lambda row: row[1].id):
            while rows := list(islice(of_question, at_once)):
                await queue.put(rows)
    for _ in range(workers):
        await queue.put(None)


async def _work(run: _Run, queue: Queued) -> None:
    while (rows := await queue.get()) is not None:
        if run.stop.is_set():
            continue
        try:
            scores = await run.score([(item, names) for _, item, names in rows])
        except StoppedError:
            # The answers stay unscored for the next run.
            continue
        except JudgeError as error:
            run.failure = run.failure or error
            run.stop.set()
            continue
        run.settled += [(row[0], score) for row, own in zip(rows, scores, strict=True) for score in own]
        # An embedded metric never awaits, which would starve the writer.
        await asyncio.sleep(0)


async def _write(run: _Run) -> None:
    while not run.finished.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(run.finished.wait(), COMMIT_EVERY)
        await _flush(run)
    # Commit what was settled during the last commit.
    await _flush(run)


async def _flush(run: _Run) -> None:
    batch, run.settled = run.settled, []
    if batch:
        await asyncio.to_thread(run.store.scores.put, run.judge, batch)
        run.scored.add([score for _, score in batch])
        run.work.done = run.scored.outcomes.total()
