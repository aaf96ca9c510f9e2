"""Judges that are Python functions: `def judge(question, a, b, reference)` returns "a", "b" or "tie".

A plain function of a file is called in another process, so that one that hangs or ends its process loses that
battle alone; an async one is awaited in this process, one that a program handed over in its threads.
Whatever it raises or returns instead is the battle's outcome.
"""

import asyncio
import contextlib
import hashlib
import inspect
import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from data.errors import JudgeError, SpecError, StoppedError, UnfitJudgeError, WorkError
from data.models import JudgeKind, Judgment, Outcome, Preference, Presentation, Verdict
from data.plugins import GIVEN, describe_error, resolve
from judges.base import HERE, JudgeInput, TextWork, reason_of
from judges.pairwise.panel import settle
from judges.pairwise.rendering import presentations
from judges.spec import JudgeSpec

Texts = tuple[str, str, str, str | None]
"""Question, the answer shown first, the other one, and the reference."""
CALLED = "function"
RETURNED = "it returned"
WORDS = " or ".join(f'"{preference}"' for preference in Preference)


def function_values(reference: str, name: str = "") -> dict[str, Any]:
    """Return the spec values of a function's judge: its place and the hash of its code."""
    file, _, called = reference.rpartition(":")
    if file.endswith(".py"):
        reference = f"{Path(file).absolute()}:{called}"
    function = _loaded(reference)
    if reference.startswith(GIVEN):
        digest = file.removeprefix(GIVEN)
        return {"name": called, "kind": JudgeKind.FUNCTION, "function": reference, "code": digest}
    source = inspect.getsourcefile(inspect.unwrap(function)) if inspect.isroutine(function) else None
    code = Path(source).read_bytes() if source else repr(reference).encode()
    return {
        "name": name or called.replace("_", "-"),
        "kind": JudgeKind.FUNCTION,
        "function": reference,
        "code": hashlib.sha256(code).hexdigest(),
    }


def _loaded(reference: str) -> Callable[..., Any]:
    try:
        with contextlib.redirect_stdout(sys.stderr):
            function = resolve(reference)
    except (Exception, SystemExit) as error:
        message = f"The judge {reference} cannot be loaded: {describe_error(error)}."
        raise SpecError(message, advice="Name FILE.py:FUNCTION, and correct the file.") from error
    if not callable(function):
        message = f"The judge {reference.rpartition(':')[2]} is not a function."
        raise SpecError(message, advice="Give a function, a judge's name or FILE.py:FUNCTION.")
    try:
        inspect.signature(function).bind("question", "a", "b", "reference")
    except TypeError as error:
        message = f"The judge {reference.rpartition(':')[2]} cannot be called with four arguments: {error}."
        advice = f"Define it as judge(question, a, b, reference), which returns {WORDS}."
        raise SpecError(message, advice=advice) from error
    except ValueError:  # built in, without a signature
        pass
    found: Callable[..., Any] = function
    return found


class FunctionCall:
    """Calls a plain function; another process loads it before its first battle."""

    def __init__(self, reference: str) -> None:
        self._reference = reference

    def __reduce__(self) -> "tuple[Callable[[str], FunctionCall], tuple[str]]":
        """Load the function where this is sent, which takes longer than to call it."""
        return _ready_call, (self._reference,)

    def __call__(self, texts: Texts) -> tuple[str | None, str]:
        """Call the function and return its preference's word, or an error."""
        try:
            with contextlib.redirect_stdout(sys.stderr):
                return _read(self.function(*texts))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - others' code may raise anything
            return None, describe_error(error)

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The function, of this process."""
        return _loaded(self._reference)


def _ready_call(reference: str) -> FunctionCall:
    call = FunctionCall(reference)
    # What cannot be loaded here is said of each battle.
    with contextlib.suppress(SpecError):
        _ = call.function
    return call


def _read(returned: object) -> tuple[str | None, str]:
    if isinstance(returned, str) and returned in list(Preference):
        return Preference(returned).value, ""
    return None, f"{RETURNED} {returned!r:.80}, which is none of {WORDS}"


class FunctionJudge:
    """Settles battles by a function, in one order or both as the spec says."""

    def __init__(self, spec: JudgeSpec, work: TextWork = HERE) -> None:
        self.name = spec.name
        self._spec = spec
        self._work = work
        self._call = FunctionCall(spec.function)
        self._async = inspect.iscoroutinefunction(self._call.function)
        self._given = spec.function.startswith(GIVEN)
        self._first = asyncio.Lock()
        self._answers, self._unfit = asyncio.Event(), False

    async def judge(self, judge_input: JudgeInput) -> Verdict:
        """Settle one battle."""
        orders: list[Sequence[Judgment]] = []
        for presentation in presentations(judge_input, self._spec.order):
            orders.append((await self._judgment(judge_input, presentation),))
            if orders[-1][0].outcome is not Outcome.JUDGED:
                break
        return settle(orders, reply_format=self._spec.reply)

    async def _judgment(self, judge_input: JudgeInput, presentation: Presentation) -> Judgment:
        question, swapped = judge_input.question, presentation is Presentation.B_FIRST
        pair = (judge_input.answer_a, judge_input.answer_b)
        first, second = reversed(pair) if swapped else pair
        word, problem = await self._judged((question.question, first, second, question.reference))
        preference = None if word is None else Preference(word)
        return Judgment(
            judge=self.name,
            model=f"{CALLED} {self._spec.code[:12]}",
            presentation=presentation,
            outcome=Outcome.FAILED if preference is None else Outcome.JUDGED,
            preference=preference and (preference.flipped if swapped else preference),
            detail=f"The judge {self.name} failed: {problem}." if problem else "",
        )

    async def _judged(self, texts: Texts) -> tuple[str | None, str]:
        """Call the function; until it has answered once, one call at a time."""
        while not self._answers.is_set():
            async with self._first:
                if self._answers.is_set():
                    break
                if self._unfit:
                    raise StoppedError(f"The judge {self.name} failed.")
                word, problem = await self._decided(texts)
                if word is not None:
                    self._answers.set()
                if problem.startswith(RETURNED):
                    self._unfit = True
                    message = f"The judge {self.name} failed: {problem}."
                    raise UnfitJudgeError(message, advice=f"Return {WORDS}.")
                return word, problem
        return await self._decided(texts)

    async def _decided(self, texts: Texts) -> tuple[str | None, str]:
        if not self._async and not self._given:
            try:
                return await self._work.do(self._call, texts)
            except StoppedError:
                raise
            except WorkError as error:
                return None, reason_of(error)
            except JudgeError as error:
                return None, error.message.rstrip(".")
        try:
            function = self._call.function
            returned = await (function(*texts) if self._async else asyncio.to_thread(function, *texts))
            return _read(await returned if inspect.isawaitable(returned) else returned)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - others' code may raise anything
            return None, describe_error(error)
