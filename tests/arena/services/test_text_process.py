from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from arena.services.judging.traffic import OpenedJudge
from arena.services.rounds.judging_loop import RoundRunner
from arena.services.rounds.models import RoundRequest
from arena.services.text_process import TextWork, end_idle, within
from data.errors import StoppedError, TimeLimitError, WorkError
from data.models import Outcome, Preference, RoundState, Verdict
from data.progress import working
from data.steering.rules import grammar
from judges.base import JudgeInput
from judges.pairwise.cleaning import clean
from judges.pairwise.llm_judge import Preparation
from judges.spec import Cleaning, JudgeSpec, Protection
from tests.arena.conftest import Fill, Serve, answers_file, start, until, write_lines
from tests.narrow import known

SLOW = "a" * 60 + "b"
LIMIT = 1.0
LONG = 60.0
SHORT = 0.3


def catastrophic(text: str) -> str:
    """Pattern that is exponential on one kind of text and fast on others."""
    return "no" if re.search(r"(a+)+$", text) is None else "yes"


def dying(text: str) -> str:
    """Function that kills its process on some texts, as if out of memory."""
    if text == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    return text


def waiting(seconds: float) -> str:
    time.sleep(seconds)
    return "done"


def too_deep(text: str) -> str:
    raise RecursionError(text)


async def all_of(
    limit: float, function: Callable[[str], str], texts: Sequence[str]
) -> list[str | BaseException]:
    with TextWork(limit) as work:
        doing = (work.do(function, text) for text in texts)
        return list(await asyncio.gather(*doing, return_exceptions=True))


@pytest.mark.slow
def test_slow_text_fails_alone() -> None:
    """The process is killed; only the slow text has an error, at any position of a batch."""
    texts = ["aaa", SLOW, *(f"text {number}" for number in range(200)), SLOW, "aaaa"]
    results = asyncio.run(all_of(LIMIT, catastrophic, texts))
    slow = [number for number, result in enumerate(results) if isinstance(result, TimeLimitError)]
    assert slow == [1, 202]
    assert [result for result in results if isinstance(result, str)] == ["yes", *["no"] * 200, "yes"]


@pytest.mark.slow
def test_work_ends_at_time_limit() -> None:
    """The limit is CPU time; waiting ends at several times the limit."""
    with pytest.raises(TimeLimitError, match="longer than 1 seconds"):
        within(LIMIT, catastrophic, SLOW)
    assert within(LONG, clean, " <answer>Yes.</answer> ") == "Yes."
    assert within(LIMIT, waiting, 1.5 * LIMIT) == "done"
    with pytest.raises(TimeLimitError, match=r"longer than 0\.3 seconds"):
        within(SHORT, waiting, LONG)


def test_cancelled_work_ends() -> None:
    """An exception of the observer, as when a client disconnects, ends the work at once."""
    looks: list[None] = []

    def poll() -> None:
        looks.append(None)
        if len(looks) > 2:
            raise StoppedError("gone")

    with pytest.raises(StoppedError):
        within(LONG, catastrophic, SLOW, poll=poll)


@pytest.mark.slow
def test_stop_ends_hanging_text() -> None:

    async def stopped() -> str:
        with TextWork(LONG) as work:
            asyncio.get_running_loop().call_later(0.5, work.stop)
            return await work.do(catastrophic, SLOW)

    with pytest.raises(StoppedError):
        asyncio.run(stopped())


@pytest.mark.slow
def test_killed_process_fails_at_most_one_text() -> None:
    first, died, second = asyncio.run(all_of(LONG, dying, ("one", "die", "two")))
    assert (first, second) == ("one", "two")
    assert isinstance(died, WorkError)
    assert "died" in str(died)
    with pytest.raises(WorkError, match="died"):
        within(LONG, dying, "die")


def test_unexpected_error_becomes_work_error() -> None:
    """Exceptions of libraries are converted with their name; frozen mappings can be sent."""
    with pytest.raises(WorkError, match=r"RecursionError: deep"):
        within(LONG, too_deep, "deep")
    assert within(LONG, dict, MappingProxyType({"a": 1})) == {"a": 1}


def test_start_does_not_count_as_work_time() -> None:
    """The process compiles the judge's rules before its first answer."""
    end_idle()
    assert within(LONG, rules_compiled, Preparation(Cleaning.STANDARD, Protection.FULL)) == 1


def rules_compiled(_preparation: Preparation) -> int:
    """Count the rule sets compiled in this process."""
    return grammar.cache_info().currsize


@pytest.mark.slow
def test_processes_end_with_their_parent(tmp_path: Path) -> None:
    """A process that hangs in a pattern ends when its parent is killed."""
    pid_file = tmp_path / "pid"
    script = (
        "import os, re, sys\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from arena.services.text_process import within\n"
        "import test_text_process\n"
        f"within({SHORT}, test_text_process.tell_and_hang, {str(pid_file)!r})\n"
    )
    with subprocess.Popen([sys.executable, "-c", script]) as process:
        until(lambda: pid_file.exists() and bool(pid_file.read_text()))
        process.kill()
    child = Path("/proc") / pid_file.read_text()
    until(lambda: not child.exists() or ") Z " in (child / "stat").read_text())


def tell_and_hang(path: str) -> None:
    """Write the process id to a file, then match forever."""
    Path(path).write_text(str(os.getpid()))
    catastrophic(SLOW)


SITE = """
import functools
import os
import re
from pathlib import Path

from data import declines as declining


def hanging(work):
    @functools.wraps(work)
    def run(text, *others):
        if "HANG" in text:
            Path(os.environ["HANGS"]).write_text("now")
            re.search(r"(a+)+$", "a" * 60 + "b")
        return work(text, *others)

    return run


declining.declines = hanging(declining.declines)

from judges.pairwise import cleaning
from submissions import card

cleaning._standard = hanging(cleaning._standard)
card.check_card = hanging(card.check_card)
"""
ROOT = Path(__file__).parents[3]
SECONDS = 1


@pytest.fixture
def hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], str]]:
    """Make new processes hang on texts with HANG; return the path that enables it."""
    folder = tmp_path / "hanging"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(SITE)
    path = os.pathsep.join((str(folder), str(ROOT)))

    def begin() -> str:
        end_idle()
        monkeypatch.setenv("PYTHONPATH", path)
        monkeypatch.setenv("HANGS", str(tmp_path / "hangs"))
        return path

    yield begin
    end_idle()


@pytest.fixture
def bad_file(tmp_path: Path) -> Path:
    words = ["HANG" if number == 2 else "red" for number in range(12)]
    rows = [{"question_id": f"q{n}", "answer": f"Item {n} is {word}."} for n, word in enumerate(words)]
    return write_lines(tmp_path / "bad.jsonl", rows)


@pytest.mark.slow
@pytest.mark.parametrize("judge", ["lexical", "reference-free"])
def test_slow_battle_fails_alone(
    filled: Fill, scripted_llm: Serve, bad_file: Path, hang: Callable[[], str], judge: str
) -> None:
    """A hanging answer fails its battle with `time_limit`; the round finishes."""
    arena = filled(endpoint=scripted_llm().url, work_seconds=SECONDS)
    arena.submissions.add(bad_file, "tiny", system="bad")
    arena.rounds.create(RoundRequest(set_name="tiny", judge=judge, name="r"))
    hang()
    counts = arena.rounds.run("r", concurrency=4, report=lambda _progress: None)
    assert (counts.planned, counts.judged, counts.failed) == (48, 47, 1)
    failed = [row for row in arena.rounds.battles("r") if row.outcome is Outcome.FAILED]
    assert [row.detail for row in failed] == ["time_limit"]
    assert arena.store.rounds.get("r").state is RoundState.FINISHED


@pytest.mark.slow
def test_slow_file_and_card_are_refused(
    filled: Fill, bad_file: Path, hang: Callable[[], str], tmp_path: Path
) -> None:
    """The only problem is `time_limit`, nothing is stored, and later files are read."""
    arena = filled(work_seconds=SECONDS)
    hang()
    report = arena.submissions.check(bad_file, "tiny")
    assert [(row.line, row.code, row.severity.value) for row in report.problems] == [
        (0, "time_limit", "error")
    ]
    assert not report.accepted
    assert arena.submissions.check(answers_file(tmp_path, "good", "Item {n} is {word}."), "tiny").accepted
    card, problems = arena.submissions.checks.card("model: HANG\n")
    assert (card, [row.code for row in problems]) == (None, ["time_limit"])
    assert known(arena.submissions.checks.card("model: m1\n")[0]).model == "m1"


def test_check_ends_when_visitor_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    import streamlit  # noqa: PLC0415 - children import this module
    from streamlit.runtime.scriptrunner import StopException  # noqa: PLC0415 - as above

    from arena.site.ui import messages  # noqa: PLC0415 - as above

    class Left:
        def progress(self, share: float, _words: str) -> None:
            if share:
                raise StopException

    def slow(poll: Callable[[], None]) -> None:
        with working("checking", 2) as work:
            work.done = 1
            within(600.0, time.sleep, 600.0, poll=poll)

    monkeypatch.setattr(streamlit, "empty", Left)
    with pytest.raises(StopException):
        messages.show_progress(slow, before="Reading")


def test_check_ends_when_client_disconnects() -> None:
    from starlette.requests import Request  # noqa: PLC0415 - children import this module

    from arena.api.dependencies import client_there  # noqa: PLC0415 - as above

    gone = asyncio.Event()

    async def receive() -> dict[str, str]:
        await gone.wait()
        return {"type": "http.disconnect"}

    async def ask() -> None:
        request = Request({"type": "http", "headers": []}, receive)
        async with client_there(request) as poll:
            asyncio.get_running_loop().call_later(0.5, gone.set)
            await asyncio.to_thread(within, 600.0, time.sleep, 600.0, poll=poll)

    with pytest.raises(StoppedError):
        asyncio.run(ask())


class Stalling:
    """Judge that blocks its event loop until released."""

    name = "stalling"

    def __init__(self, until: threading.Event) -> None:
        self._until = until

    async def judge(self, _contest: JudgeInput) -> Verdict:
        assert self._until.wait(60), "no heartbeat came while the loop was busy"
        return Verdict(outcome=Outcome.JUDGED, preference=Preference.TIE)


@pytest.mark.slow
def test_heartbeats_continue_while_judging_loop_is_busy(
    filled: Fill, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lease is renewed even if the event loop of its judging is blocked."""
    arena = filled()
    beats = threading.Event()
    beat, count = arena.store.leases.beat, []

    def counted(lease_id: int, *, lease: float, work: object = None) -> Any:  # noqa: ANN401 - what the store gives
        count.append(lease_id)
        if len(count) > 1:
            beats.set()
        return beat(lease_id, lease=lease)

    @asynccontextmanager
    async def open_judge(*_: object) -> Any:  # noqa: ANN401 - a context
        yield OpenedJudge(Stalling(beats))

    monkeypatch.setattr(arena.store.leases, "beat", counted)
    created = arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", name="r"))
    spec: JudgeSpec = arena.rounds.spec_of(created)
    runner = RoundRunner(arena.store, arena.job_leases, open_judge)
    runner.run_alone(created, spec, concurrency=2, halt=None, report=lambda _progress: None)
    assert arena.store.rounds.counts("r").judged == 36


@pytest.mark.slow
def test_hanging_text_blocks_neither_heartbeat_nor_sigterm(
    filled: Fill, bad_file: Path, hang: Callable[[], str], tmp_path: Path
) -> None:
    """The lease is renewed meanwhile; SIGTERM ends the worker, and the battle stays pending."""
    arena = filled()
    arena.submissions.add(bad_file, "tiny", system="bad")
    created = arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", name="r"))
    arena.jobs.judge("r")
    worker = start(arena, "worker", fresh=True, PYTHONPATH=hang(), ARENA_WORK_SECONDS="60")

    until((tmp_path / "hangs").exists)
    renewed: set[float] = set()

    def beating() -> bool:
        (lease,) = arena.store.leases.all(round_id=created.id)
        renewed.add(round(lease.seconds - lease.beat_age, 1))
        return len(renewed) > 3

    until(beating)
    worker.send_signal(signal.SIGTERM)
    # The text would hang forever.
    assert worker.wait(timeout=60) == 0
    counts = arena.store.rounds.counts("r")
    assert counts.judged + counts.pending == 48
    assert counts.pending >= 1
