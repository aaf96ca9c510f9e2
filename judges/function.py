"""Judges that are Python functions: `def judge(question, a, b, reference)` returns "a", "b" or "tie".

A plain function from a file runs in another process, so that a hang or an exit loses only one battle. An
async function is awaited in this process; a function passed by a program runs in its threads.
Exceptions and other return values become the battle's outcome.
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
"""Question, first answer, second answer and reference."""
CALLED = "function"
RETURNED = "it returned"
WORDS = " or ".join(f'"{preference}"' for preference in Preference)


def function_values(reference: str, name: str = "") -> dict[str, Any]:
    """Return the spec values of a function judge: its reference and the hash of its code."""
    file, _, symbol = reference.rpartition(":")
    if file.endswith(".py"):
        reference = f"{Path(file).absolute()}:{symbol}"
    function = _load(reference)
    if reference.startswith(GIVEN):
        digest = file.removeprefix(GIVEN)
        return {"name": symbol, "kind": JudgeKind.FUNCTION, "function": reference, "code": digest}
    source = inspect.getsourcefile(inspect.unwrap(function)) if inspect.isroutine(function) else None
    code = Path(source).read_bytes() if source else repr(reference).encode()
    return {
        "name": name or symbol.replace("_", "-"),
        "kind": JudgeKind.FUNCTION,
        "function": reference,
        "code": hashlib.sha256(code).hexdigest(),
    }


def _load(reference: str) -> Callable[..., Any]:
    try:
        with contextlib.redirect_stdout(sys.stderr):
            function = resolve(reference)
    except (Exception, SystemExit) as error:
        message = f"The judge {reference} cannot be loaded: {describe_error(error)}."
        raise SpecError(message, advice="Use FILE.py:FUNCTION, and correct the file.") from error
    if not callable(function):
        message = f"The judge {reference.rpartition(':')[2]} is not a function."
        raise SpecError(message, advice="Pass a function, a judge's name or FILE.py:FUNCTION.")
    try:
        inspect.signature(function).bind("question", "a", "b", "reference")
    except TypeError as error:
        message = f"The judge {reference.rpartition(':')[2]} cannot be called with four arguments: {error}."
        advice = f"Define it as judge(question, a, b, reference), which returns {WORDS}."
        raise SpecError(message, advice=advice) from error
    except ValueError:  # built in, without a signature
        pass
    judge: Callable[..., Any] = function
    return judge


class FunctionCall:
    """Callable that a worker process loads once, before its first battle."""

    def __init__(self, reference: str) -> None:
        self._reference = reference

    def __reduce__(self) -> "tuple[Callable[[str], FunctionCall], tuple[str]]":
        """Load the function on unpickling, which takes longer than a call."""
        return _load_call, (self._reference,)

    def __call__(self, texts: Texts) -> tuple[str | None, str]:
        """Call the function and return its preference, or an error."""
        try:
            with contextlib.redirect_stdout(sys.stderr):
                return _read(self.function(*texts))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - user code may raise anything
            return None, describe_error(error)

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The function, loaded in this process."""
        return _load(self._reference)


def _load_call(reference: str) -> FunctionCall:
    call = FunctionCall(reference)
    # A function that cannot be loaded fails each battle with its own error.
    with contextlib.suppress(SpecError):
        _ = call.function
    return call


def _read(value: object) -> tuple[str | None, str]:
    if isinstance(value, str) and value in list(Preference):
        return Preference(value).value, ""
    return None, f"{RETURNED} {value!r:.80}, which is not one of {WORDS}"


class FunctionJudge:
    """Settles battles by a function, in one or both orders."""

    def __init__(self, spec: JudgeSpec, work: TextWork = HERE) -> None:
        self.name = spec.name
        self._spec = spec
        self._work = work
        self._call = FunctionCall(spec.function)
        self._async = inspect.iscoroutinefunction(self._call.function)
        self._in_memory = spec.function.startswith(GIVEN)
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
        word, problem = await self._call_guarded((question.question, first, second, question.reference))
        preference = None if word is None else Preference(word)
        return Judgment(
            judge=self.name,
            model=f"{CALLED} {self._spec.code[:12]}",
            presentation=presentation,
            outcome=Outcome.FAILED if preference is None else Outcome.JUDGED,
            preference=preference and (preference.flipped if swapped else preference),
            detail=f"The judge {self.name} failed: {problem}." if problem else "",
        )

    async def _call_guarded(self, texts: Texts) -> tuple[str | None, str]:
        """Call the function, one call at a time until the first success."""
        while not self._answers.is_set():
            async with self._first:
                if self._answers.is_set():
                    break
                if self._unfit:
                    raise StoppedError(f"The judge {self.name} failed.")
                word, problem = await self._call_function(texts)
                if word is not None:
                    self._answers.set()
                if problem.startswith(RETURNED):
                    self._unfit = True
                    message = f"The judge {self.name} failed: {problem}."
                    raise UnfitJudgeError(message, advice=f"Return {WORDS}.")
                return word, problem
        return await self._call_function(texts)

    async def _call_function(self, texts: Texts) -> tuple[str | None, str]:
        if not self._async and not self._in_memory:
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
        except (Exception, SystemExit) as error:  # noqa: BLE001 - user code may raise anything
            return None, describe_error(error)
