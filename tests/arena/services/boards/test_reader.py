"""Reading, writing and listing boards; retracted boards show their notice at every address."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from arena.container import Arena
from arena.services.accounts.auth import PUBLIC
from arena.site.middleware import RetractedStatus
from data.errors import FileFormatError, NotFoundError, RetractedError, StoreError
from leaderboard.vocabulary import BoardForm
from tests.arena.conftest import Fill, answers_file, mix, play
from tests.opened_pages import html_of, page_of


def test_unwritable_export_reports_file(filled: Fill, tmp_path: Path) -> None:
    """An unknown suffix, a missing folder, an unknown board and a retracted board."""
    arena = filled(published=True)
    with pytest.raises(FileFormatError, match=r"r\.xlsx has none of the suffixes .csv, .json, .parquet"):
        arena.boards.write_file("r", tmp_path / "r.xlsx")
    (tmp_path / "taken").mkdir()
    with pytest.raises(FileFormatError, match="taken cannot be written"):
        arena.boards.write_file("r", tmp_path / "taken", BoardForm.CSV)
    with pytest.raises(NotFoundError):
        arena.boards.file("none", BoardForm.CSV)
    arena.boards.retract("r", "A wrong file.")
    for form in BoardForm:
        with pytest.raises(RetractedError, match="A wrong file"):
            arena.boards.file("r", form, caller=PUBLIC)


def test_history_shows_changes_and_retractions(filled: Fill, tmp_path: Path) -> None:
    judged = mix(filled(), tmp_path)
    for name in ("one", "two"):
        play(judged, name, publish=True)
    newest, oldest = judged.boards.history()
    assert (newest.board.name, newest.previous, oldest.previous) == ("two", "one", None)
    assert newest.changes is not None
    assert not any(change.moved for change in newest.changes.systems)
    judged.boards.retract("one", "The wrong answers were judged.")
    newest, oldest = judged.boards.history()
    assert newest.previous is None
    assert (oldest.board.retracted, oldest.board.notice) == (True, "The wrong answers were judged.")
    assert oldest.changes is None


WHY = "Two <b>files</b> were exchanged."
SHOWN = "Two &lt;b&gt;files&lt;/b&gt; were exchanged."
PAGES = (
    "boards.leaderboard_page",
    "compare.compare_page",
    "boards.matrix_page",
    "questions.list_page",
    "boards.data_page",
    "systems.system_page?id=one",
    "questions.question_page?id=q1",
)
"""Addresses of these pages."""


@pytest.fixture
def arena(filled: Fill, tmp_path: Path) -> Arena:
    """An arena with a board named `standing`, and one named `gone` that was retracted."""
    opened = filled()
    opened.submissions.add(answers_file(tmp_path, "one", "Item {n} is {word}."), "tiny", system="one")
    play(opened, "standing", publish=True, pairs="reference")
    play(opened, "gone", publish=True, pairs="all")
    opened.boards.retract("gone", WHY)
    return opened


def with_board(page: str, board: str) -> str:
    """Return a page's address with a board."""
    return f"/{page}{'&' if '?' in page else '?'}board={board}"


def visit(arena: Arena, page: str) -> str:
    """Return the HTML of a page."""
    module, _, query = page.partition("?")
    app = page_of(arena.settings, module, board="gone", **dict(parse_qsl(query)))
    app.run()
    assert not app.exception
    return html_of(app)


@pytest.mark.slow
def test_pages_show_notice(arena: Arena) -> None:
    """Every page of a retracted board shows the notice, even without another board."""
    for page in PAGES:
        html = visit(arena, page)
        assert "The board gone was retracted" in html, page
        assert SHOWN in html, page
    arena.boards.retract("standing", "Another reason.")
    assert SHOWN in visit(arena, PAGES[0])


def test_retracted_round_returns_notice(arena: Arena) -> None:
    for ask in (
        lambda: arena.systems.profile("gone", "one"),
        lambda: arena.question_lists.of("gone"),
        lambda: arena.round_reader.page("gone", after=0, limit=1),
        lambda: arena.boards.write_file("gone", Path("nowhere.csv"), caller=PUBLIC),
    ):
        with pytest.raises(RetractedError, match="Two <b>files</b>") as caught:
            ask()
        assert caught.value.notice == WHY
    with pytest.raises(NotFoundError) as never:
        arena.round_reader.page("none", after=0, limit=1)
    assert not isinstance(never.value, RetractedError)


def test_page_of_retracted_board_is_gone() -> None:
    """The page shell is a 410 only if its address names a retracted board."""

    async def page(request: Request) -> Response:
        if request.url.path.endswith(".js"):
            return PlainTextResponse("code", media_type="text/javascript")
        return HTMLResponse("shell")

    def retracted(board: str) -> bool:
        if board == "unknown":
            raise StoreError("The database is away.")
        return board == "gone"

    app = Starlette(
        routes=[Route("/{path:path}", page, methods=["GET", "POST"])],
        middleware=[Middleware(RetractedStatus, retracted=retracted)],
    )
    with TestClient(app) as client:
        for path in PAGES:
            assert client.get(with_board(path, "gone")).status_code == 410
            assert client.head(with_board(path, "gone")).status_code == 410
            assert client.get(with_board(path, "standing")).status_code == 200
        assert client.get("/?board=gone").text == "shell"
        for path in ("/", "/static/code.js?board=gone", "/?board=unknown", "/?board="):
            assert client.get(path).status_code == 200, path
        assert client.post("/?board=gone").status_code == 200
