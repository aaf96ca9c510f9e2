"""Interface of all pairwise judges."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

from data.errors import TimeLimitError, WorkError
from data.models import Outcome, Question, Verdict
from data.progress import Work

Item = TypeVar("Item")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeInput:
    """A battle as a judge sees it: no system names, only a question and two texts.

    Attributes:
        battle_id: Seeds everything random about the judging of this battle.
        question: The question with its ground truth, if any.
        reference_side: "a" or "b" where that side *is* the reference, else None. Prompts
            never include it; a judge whose ground truth is the reference needs it to decline.
    """

    battle_id: str
    question: Question
    answer_a: str
    answer_b: str
    reference_side: str | None = None


@runtime_checkable
class Judge(Protocol):
    """Settles battles. Failures are outcomes; only errors that stop all judging are raised."""

    @property
    def name(self) -> str:
        """The name of the judge spec."""
        ...

    async def judge(self, judge_input: JudgeInput) -> Verdict:
        """Settle one battle.

        Raises:
            JudgeError: All judging must stop (circuit open, replay miss, budget spent).
        """
        ...


class TextWork(Protocol):
    """Runs functions on untrusted texts, each within a time limit."""

    async def do(self, function: Callable[..., Value], *arguments: object) -> Value:
        """Call a module-level function, perhaps in another process.

        Raises:
            WorkError: No result for this text, for example because of the time limit.
            JudgeError: All work on texts must stop.
        """
        ...


class InProcess:
    """Runs functions in this process without a limit, for callers that judge their own texts."""

    async def do(self, function: Callable[..., Value], *arguments: object) -> Value:
        """Call a function."""
        return function(*arguments)


HERE: TextWork = InProcess()


async def each(
    do: Callable[[Item], Awaitable[Value]], items: Iterable[Item], *, at_once: int, work: Work | None = None
) -> list[Value]:
    """Map a function over items in order; `at_once` run concurrently, `work` counts them."""
    places = asyncio.Semaphore(at_once)

    async def done(item: Item) -> Value:
        async with places:
            value = await do(item)
        if work is not None:
            work.done += 1
        return value

    return list(await asyncio.gather(*map(done, items)))


def failed_verdict(error: WorkError) -> Verdict:
    """Return the verdict of a battle whose answers could not be processed."""
    return Verdict(outcome=Outcome.FAILED, detail=reason_of(error))


def reason_of(error: WorkError) -> str:
    """Return the outcome's reason for a missing result: `time_limit`, or the error message."""
    return error.code if isinstance(error, TimeLimitError) else error.message
