"""A text that hangs whatever works on it ends as one outcome; workers, heartbeats and SIGTERM go on."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import streamlit
from starlette.requests import Request
from streamlit.runtime.scriptrunner import StopException

from arena.api.dependencies import client_there
from arena.services.judging.traffic import OpenedJudge
from arena.services.rounds.judging_loop import RoundRunner
from arena.services.rounds.models import RoundRequest
from arena.services.text_process import end_idle, within
from arena.site.ui import messages
from data.errors import InvalidFileError, StoppedError
from data.models import Outcome, Preference, RoundState, Verdict
from data.progress import working
from judges.base import JudgeInput
from judges.spec import JudgeSpec
from tests.arena.conftest import Fill, Serve, answers_file, start, until

SITE = '''"""In processes of this test, cleaning a text with HANG in it matches a pattern for ages."""

import os
import re

from data import declines as declining

declines = declining.declines


def hanging(text):
    if "HANG" in text:
        with open(os.environ["HANGS"], "w") as told:
            told.write("now")
        re.search(r"(a+)+$", "a" * 60 + "b")
    return text


declining.declines = lambda text, question: declines(hanging(text), question)

from judges.pairwise import cleaning
from judges.pairwise.cleaning import _standard
from submissions import card

check_card = card.check_card


def standard(text):
    return _standard(hanging(text))


def checked(text):
    return check_card(hanging(text))


cleaning._standard = standard
card.check_card = checked
checked.__qualname__ = checked.__name__ = "check_card"
checked.__module__ = "submissions.card"
'''
ROOT = Path(__file__).parents[4]
LIMIT = 2


@pytest.fixture
def hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], str]]:
    """From the call on, new processes hang on texts with HANG in them; gives the path that makes them."""
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
    """Twelve answers, of which the third hangs."""
    words = ["HANG" if number == 2 else "red" for number in range(12)]
    rows = [{"question_id": f"q{n}", "answer": f"Item {n} is {word}."} for n, word in enumerate(words)]
    path = tmp_path / "bad.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("judge", ["lexical", "reference-free"])
def test_battle_over_the_limit_has_failed_and_the_others_are_judged(
    filled: Fill, scripted_llm: Serve, bad_file: Path, hang: Callable[[], str], judge: str
) -> None:
    """A4: one answer that hangs is one battle, `failed` with `time_limit`; the round finishes."""
    arena = filled(endpoint=scripted_llm().url, work_seconds=LIMIT)
    arena.submissions.add(bad_file, "tiny", system="bad")
    arena.rounds.create(RoundRequest(set_name="tiny", judge=judge, name="r"))
    hang()
    counts = arena.rounds.run("r", concurrency=4, report=lambda _progress: None)
    assert (counts.planned, counts.judged, counts.failed) == (48, 47, 1)
    failed = [one for one in arena.rounds.battles("r") if one.outcome is Outcome.FAILED]
    assert [one.detail for one in failed] == ["time_limit"]
    assert arena.store.rounds.get("r").state is RoundState.FINISHED


@pytest.mark.slow
def test_file_over_the_limit_is_one_refused_file(
    filled: Fill, bad_file: Path, hang: Callable[[], str], tmp_path: Path
) -> None:
    """A4: its one problem is `time_limit`, it is not stored, and the next file is checked."""
    arena = filled(work_seconds=LIMIT)
    hang()
    found = arena.submissions.check(bad_file, "tiny")
    assert [(one.line, one.code, one.severity.value) for one in found.problems] == [
        (0, "time_limit", "error")
    ]
    assert not found.accepted
    with pytest.raises(InvalidFileError) as refused:
        arena.submissions.add(bad_file, "tiny", system="bad")
    assert [one.code for one in refused.value.problems] == ["time_limit"]
    assert arena.submissions.check(answers_file(tmp_path, "good", "Item {n} is {word}."), "tiny").accepted


def test_check_ends_when_the_visitor_has_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """A4: what a page waits for is ended once its visitor has left, and the page waits no longer."""

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
        messages.show_progress(slow, until_told="Reading")


@pytest.mark.slow
def test_card_over_the_limit_is_refused(filled: Fill, hang: Callable[[], str]) -> None:
    """A4: a system card that hangs its parser has one problem, `time_limit`; another card is read."""
    checks = filled(work_seconds=LIMIT).submissions.checks
    hang()
    card, problems = checks.card("model: HANG\n")
    assert (card, [one.code for one in problems]) == (None, ["time_limit"])
    card, _ = checks.card("model: m1\n")
    assert card is not None
    assert card.model == "m1"


def test_check_ends_when_its_client_has_left() -> None:
    """A4: what works for a request is ended once whoever sent it has gone."""
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
    """A judge that keeps its event loop until somebody else does something."""

    name = "stalling"

    def __init__(self, until: threading.Event) -> None:
        self._until = until

    async def judge(self, _contest: JudgeInput) -> Verdict:
        """Wait without giving way."""
        assert self._until.wait(60), "no heartbeat came while the loop was busy"
        return Verdict(outcome=Outcome.JUDGED, preference=Preference.TIE)


@pytest.mark.slow
def test_heartbeats_come_while_the_loop_that_judges_is_busy(
    filled: Fill, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A4: a lease is renewed though the event loop that judges from it does not come to anything else."""
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
    runner.run_alone(created, spec, concurrency=2, report=lambda _progress: None)
    assert arena.store.rounds.counts("r").judged == 36


@pytest.mark.slow
def test_worker_beats_and_hears_sigterm_while_a_text_hangs(
    filled: Fill, bad_file: Path, hang: Callable[[], str], tmp_path: Path
) -> None:
    """A4: its lease is renewed meanwhile; on SIGTERM it ends all the same, and the battle stays pending."""
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
    # The text would hang for ages.
    assert worker.wait(timeout=60) == 0
    counts = arena.store.rounds.counts("r")
    assert counts.judged + counts.pending == 48
    assert counts.pending >= 1
