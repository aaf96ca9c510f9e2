from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from arena.cli.progress import Display, LineView, line_of
from arena.formats import span
from arena.site.ui.messages import words_of
from data.errors import FileFormatError, NotFoundError
from data.progress import Latest, Progress, Stopwatch, Work, counted, listening, reporting, working
from tests.arena.conftest import Commands, Fill, answers_file, play, write_lines


@dataclass(frozen=True)
class _At(Stopwatch):
    at: float = 0.0

    @property
    def seconds(self) -> float:
        """Seconds on the clock."""
        return self.at


class _Ear:
    def __init__(self) -> None:
        self.endings: list[tuple[str, int, int | None]] = []

    def begin(self, work: Work) -> None:
        """Ignore the start."""

    def end(self, work: Work) -> None:
        """Record the work."""
        self.endings.append((work.what, work.done, work.total))


@pytest.fixture
def ear() -> Iterator[_Ear]:
    """Yield a listener during the test."""
    listener = _Ear()
    with listening(listener):
        yield listener


def _work(what: str, seconds: float, done: int = 0, total: int | None = None, **more: Any) -> Work:  # noqa: ANN401 - fields of any type
    return Work(what, total, done, watch=_At(at=seconds), **more)


def test_line_shows_amount_rate_and_time_left() -> None:
    assert line_of(_work("scoring", 60, 4_200, 42_048)) == "scoring: 4,200 of 42,048, 70/s, 9 min 1 s left"
    assert line_of(_work("reading", 2, 5_000_000, 10_000_000, in_bytes=True)) == (
        "reading: 5.0 MB of 10.0 MB, 2.5 MB/s, 2 s left"
    )
    assert line_of(_work("judging", 120, 10, 40)) == "judging: 10 of 40, 5/min, 6 min 0 s left"
    assert line_of(_work("judging", 120, 40, 40)) == "judging: 40 of 40, 20/min", "nothing is left of it"
    assert line_of(_work("indexing", 2, 300)) == "indexing: 300 so far, 150/s"
    assert line_of(_work("computing", 12)) == "computing: 12 s so far"
    assert span(7_300) == "2 h 1 min"


def test_lines_appear_at_intervals_and_at_end() -> None:
    """Without a terminal, stderr gets a line every few seconds and one at the end."""
    out = io.StringIO()
    view, work = LineView(out), _work("scoring", 2.0, 100, 1_000)
    for seconds, done in ((2.0, 100), (4.0, 200), (7.0, 350), (8.0, 400)):
        work.watch, work.done = _At(at=seconds), done
        view.show([work])
    view.end(work)
    lines = out.getvalue().splitlines()
    assert [line.split(",")[0] for line in lines] == [f"scoring: {at} of 1" for at in (100, 350, 400)]
    assert lines[-1] == "scoring: 400 of 1,000 in 8 s"


def test_quick_work_shows_no_progress() -> None:
    """Work that ends before the first report prints nothing."""
    out = io.StringIO()
    display = Display(LineView(out))
    with listening(display), working("quick", 3) as work:
        work.done = 3
    display.close()
    assert out.getvalue() == ""


def test_failed_work_ends(ear: _Ear) -> None:
    """An error ends the work at the current count; items count once they are processed."""
    with pytest.raises(ZeroDivisionError):
        sum(1 / (2 - item) for item in counted(range(9), "items", 9))
    with reporting("judging") as report:
        report(Progress(3, 4, 1.0))
    assert ear.endings == [("items", 2, 9), ("judging", 3, 4)]


@pytest.mark.parametrize("place", ["/proc/nowhere/deep", "/proc", "{folder}/file", "{folder}/file/round"])
def test_export_requires_writable_folder(filled: Fill, ear: _Ear, tmp_path: Path, place: str) -> None:
    arena = filled()
    play(arena)
    (tmp_path / "file").touch()
    folder = Path(place.format(folder=tmp_path))
    before = list(ear.endings)
    with pytest.raises(FileFormatError, match=f"{folder} cannot be written: .+") as refused:
        arena.boards.export_round("r", folder)
    assert refused.value.advice == "Choose a folder that you can write to."
    with pytest.raises(FileFormatError, match=f"{folder} cannot be written: .+"):
        arena.boards.export_battles("r", folder / "battles.parquet")
    assert ear.endings == before
    with pytest.raises(NotFoundError):
        arena.boards.export_round("none", tmp_path / "none")
    assert not (tmp_path / "none").exists()


COMMANDS = {
    "battles rate": ("battles", "rate", "{battles}", "--json"),
    "rounds export": ("rounds", "export", "r", "{folder}/round"),
    "db backup": ("db", "backup", "{folder}/backup"),
    "submissions check": ("submissions", "check", "{answers}", "--set", "tiny", "--json"),
    "metrics score": ("metrics", "score", "{items}", "--metric", "comprehensiveness-nli"),
    "rounds publish": ("rounds", "publish", "r", "--json"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(COMMANDS))
def test_command_shows_progress_only_on_stderr(
    arena_of: Commands, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    arena_of.json("rounds", "run", "--set", "tiny", "--judge", "lexical", "--name", "r", "--json")
    ended = Display.end

    def end(display: Display, work: Work) -> None:
        # Report even quick work.
        display._view.show([work])
        ended(display, work)

    monkeypatch.setattr(Display, "end", end)
    places = {
        "folder": tmp_path,
        "answers": answers_file(tmp_path, "whole", "Item {n} is {word}."),
        "battles": write_lines(tmp_path / "battles.jsonl", BATTLES),
        "items": write_lines(tmp_path / "items.jsonl", [ITEM]),
    }
    code, out, err = arena_of(*(word.format(**places) for word in COMMANDS[name]))
    assert code == 0, err
    assert any(" in " in line and line.endswith(" s") for line in err.splitlines()), err
    if "--json" in COMMANDS[name]:
        json.loads(out)


BATTLES = [
    {"question_id": f"q{n}", "domain": "d", "model_a": "x", "model_b": "y", "winner": winner}
    for n, winner in enumerate(("model_a", "model_b", "tie", "model_a"))
]
ITEM = {"id": "1", "question": "Q?", "answer": "It is.", "passages": [{"id": "p", "text": "It is."}]}


def test_work_is_forwarded_to_another_process() -> None:
    work = Work("reading answers.jsonl", 4 * 1024 * 1024, 1024 * 1024, in_bytes=True)
    again = Work.from_json(json.loads(json.dumps(work.as_json())))
    assert (again.what, again.done, again.total) == (work.what, work.done, work.total)
    assert again.progress.share == 0.25
    assert again.watch.seconds >= work.as_json()["seconds"] - 1
    assert words_of(again).startswith("reading answers.jsonl: 1.0 of 4.0 MiB, ")
    assert words_of(Work("planning the battles")) == "planning the battles"
    assert Work("none", 0).progress.share is None


def test_latest_work_is_displayed() -> None:
    latest = Latest()
    with listening(latest), working("outer"):
        with working("inner"):
            assert latest.work is not None
            assert latest.work.what == "inner"
        assert latest.work is not None
        assert latest.work.what == "outer"
    assert latest.work is None
