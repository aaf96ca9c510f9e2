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
        question: The question with whatever ground truth it carries.
        reference_side: "a" or "b" where that side *is* the reference, else None. It
            is never shown; a judge whose ground truth is the reference needs it to decline.
    """

    battle_id: str
    question: Question
    answer_a: str
    answer_b: str
    reference_side: str | None = None


@runtime_checkable
class Judge(Protocol):
    """Settles battles. Failures are outcomes, not exceptions, unless judging cannot go on at all."""

    @property
    def name(self) -> str:
        """The name of the judge spec."""
        ...

    async def judge(self, judge_input: JudgeInput) -> Verdict:
        """Settle one battle.

        Raises:
            JudgeError: Judging as a whole cannot go on (circuit open, replay miss, budget gone).
        """
        ...


class TextWork(Protocol):
    """Works on untrusted texts, within a limit of time for each."""

    async def do(self, function: Callable[..., Value], *arguments: object) -> Value:
        """Call a function of a module, perhaps in another process.

        Raises:
            WorkError: This text gave no result, as where the limit was exceeded.
            JudgeError: Working on texts as a whole cannot go on.
        """
        ...


class HereAndNow:
    """Works in this process, without a limit: for callers that judge their own texts."""

    async def do(self, function: Callable[..., Value], *arguments: object) -> Value:
        """Call a function."""
        return function(*arguments)


HERE: TextWork = HereAndNow()


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


def undone(error: WorkError) -> Verdict:
    """Return the verdict of a battle whose answers could not be worked on."""
    return Verdict(outcome=Outcome.FAILED, detail=reason_of(error))


def reason_of(error: WorkError) -> str:
    """Return the reason for a missing result, as outcomes have it: `time_limit`, or the error."""
    return error.code if isinstance(error, TimeLimitError) else error.message
