"""Work on strangers' texts: a limit of time for each, in processes that can be ended."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import MappingProxyType

import pytest

from arena.services.text_process import TextWork, end_idle, within
from data.errors import StoppedError, TimeLimitError, WorkError
from data.steering.rules import grammar
from judges.pairwise.cleaning import clean
from judges.pairwise.llm_judge import Preparation
from judges.spec import Cleaning, Protection
from tests.arena.conftest import until

SLOW = "a" * 60 + "b"
LIMIT = 1.0
LONG = 60.0
SHORT = 0.3


def catastrophic(text: str) -> str:
    """A pattern that takes ages over a text of 60 letters and another, and no time over other texts."""
    return "no" if re.search(r"(a+)+$", text) is None else "yes"


def dying(text: str) -> str:
    """A function that some text makes end its process, as when memory runs out."""
    if text == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    return text


def waiting(seconds: float) -> str:
    """A function that takes no processor time."""
    time.sleep(seconds)
    return "done"


def too_deep(text: str) -> str:
    """A function that breaks on every text."""
    raise RecursionError(text)


@pytest.mark.slow
def test_one_text_ends_at_its_limit_and_the_others_go_on() -> None:
    """A4: what cannot be interrupted is ended; only that text has an error, wherever it stood in a batch."""
    texts = ["aaa", SLOW, *(f"text {number}" for number in range(200)), SLOW, "aaaa"]

    async def all_of() -> list[str | BaseException]:
        with TextWork(LIMIT) as work:
            doing = (work.do(catastrophic, text) for text in texts)
            return list(await asyncio.gather(*doing, return_exceptions=True))

    found = asyncio.run(all_of())
    slow = [number for number, one in enumerate(found) if isinstance(one, TimeLimitError)]
    assert slow == [1, 202]
    assert [one for one in found if isinstance(one, str)] == ["yes", *["no"] * 200, "yes"]


@pytest.mark.slow
def test_one_piece_of_work_ends_at_its_limit() -> None:
    """A4: a function that is waited for is ended as well, and the next one has another process."""
    with pytest.raises(TimeLimitError, match="longer than 1 seconds"):
        within(LIMIT, catastrophic, SLOW)
    assert within(LONG, clean, " <answer>Yes.</answer> ") == "Yes."


@pytest.mark.slow
def test_a_busy_machine_refuses_no_text() -> None:
    """A4: the limit is one of processor time: to wait for a processor is held against nobody's text."""
    assert within(LIMIT, waiting, 1.5 * LIMIT) == "done"


@pytest.mark.slow
def test_waiting_ends_too() -> None:
    """A4: what takes hardly any processor time ends as well, at several times the limit by the clock."""
    with pytest.raises(TimeLimitError, match=r"longer than 0\.3 seconds"):
        within(SHORT, waiting, LONG)


def test_work_ends_when_nobody_wants_it() -> None:
    """A4: what is raised by whoever looks meanwhile, as when a client has left, ends the work at once."""
    looks: list[None] = []

    def poll() -> None:
        looks.append(None)
        if len(looks) > 2:
            raise StoppedError("gone")

    with pytest.raises(StoppedError):
        within(LONG, catastrophic, SLOW, poll=poll)


@pytest.mark.slow
def test_stopping_ends_what_hangs() -> None:
    """A4: once somebody asked to stop, a text that hangs is let go of, whatever its limit."""

    async def stopped() -> str:
        with TextWork(LONG) as work:
            asyncio.get_running_loop().call_later(0.5, work.stop)
            return await work.do(catastrophic, SLOW)

    with pytest.raises(StoppedError):
        asyncio.run(stopped())


def test_leaving_ends_what_is_unfinished() -> None:

    async def left() -> str | BaseException:
        with TextWork(LONG) as work:
            waiting = asyncio.create_task(work.do(catastrophic, SLOW))
            await asyncio.sleep(0)
        return (await asyncio.gather(waiting, return_exceptions=True))[0]

    assert isinstance(asyncio.run(left()), StoppedError)


@pytest.mark.slow
def test_a_process_that_ends_costs_one_text_at_most() -> None:

    async def all_of() -> list[str | BaseException]:
        with TextWork(LONG) as work:
            doing = (work.do(dying, text) for text in ("one", "die", "two"))
            return list(await asyncio.gather(*doing, return_exceptions=True))

    one, died, two = asyncio.run(all_of())
    assert (one, two) == ("one", "two")
    assert isinstance(died, WorkError)
    assert "ended by itself" in str(died)
    with pytest.raises(WorkError, match="ended by itself"):
        within(LONG, dying, "die")


def test_a_text_that_breaks_a_function_says_so() -> None:
    """An error that is none of ours becomes one, with its name, and ends no process."""
    with pytest.raises(WorkError, match=r"RecursionError: deep"):
        within(LONG, too_deep, "deep")


def test_what_cannot_be_sent_is_told() -> None:
    """A function that no other process can find is a mistake of ours, and nobody waits for it for ever."""

    async def sent() -> None:
        with TextWork(LONG) as work:
            await work.do(lambda: None)

    with pytest.raises(Exception, match="pickle"):
        asyncio.run(sent())


def test_getting_ready_is_nobodys_time() -> None:
    """A4: before the first answer is prepared for a judge, its process has compiled the rules for that."""
    end_idle()
    assert within(LONG, rules_compiled, Preparation(Cleaning.STANDARD, Protection.FULL)) == 1


def rules_compiled(_preparation: Preparation) -> int:
    """Count the sets of rules that are compiled in this process."""
    return grammar.cache_info().currsize


@pytest.mark.slow
def test_processes_end_with_their_parent(tmp_path: Path) -> None:
    """A4: a process that hangs in a pattern ends though its parent was killed and cannot end it."""
    told = tmp_path / "pid"
    script = (
        "import os, re, sys\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from arena.services.text_process import within\n"
        "import test_text_process\n"
        f"within({SHORT}, test_text_process.tell_and_hang, {str(told)!r})\n"
    )
    with subprocess.Popen([sys.executable, "-c", script]) as process:
        until(lambda: told.exists() and bool(told.read_text()))
        process.kill()
    child = Path("/proc") / told.read_text()
    until(lambda: not child.exists() or ") Z " in (child / "stat").read_text())


def tell_and_hang(path: str) -> None:
    """Write down which process this is, and then match for ages."""
    Path(path).write_text(str(os.getpid()))
    catastrophic(SLOW)


def test_models_with_frozen_mappings_travel_to_a_child() -> None:
    assert within(LONG, dict, MappingProxyType({"a": 1})) == {"a": 1}
