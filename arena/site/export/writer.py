"""A whole board as a folder of HTML that needs no server: pages, style sheet, data."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from arena.container import Arena
from arena.services.accounts.auth import PUBLIC
from arena.services.accounts.set_access import why_withheld
from arena.site.boards.snapshot_reader import read_board
from arena.site.boards.view_model import BoardView
from arena.site.export.pages import BoardPages, Download, list_name, question_name
from data.errors import ConflictError, FileFormatError, RetractedError
from data.progress import counted
from data.records import Board
from data.store.rounds.question_stats import QuestionStats
from leaderboard.export.tables import standings_file
from leaderboard.standings.columns import marked
from leaderboard.vocabulary import BoardForm

MARK = "board.json"
"""Says that a folder is an export of ours, which another may take the place of."""
FOLDERS = ("systems", "questions", "data")
WHAT = {
    "standings.csv": "A row a system in each domain",
    "standings.parquet": "The same, typed",
    "standings.json": "Everything that the board says, whose hash names it",
    "battles.jsonl": "The judged battles, a line each",
}
SPACE = """---
title: {title}
emoji: 📊
colorFrom: gray
colorTo: blue
sdk: static
app_file: index.html
pinned: false
---

The board {name} of an Answer Arena, as published on {published} (content sha256 {content_hash}).
Open `index.html`: the pages need no server. Any host of files serves the folder as it is, from any path.
"""


@dataclass(slots=True, kw_only=True)
class Export:
    """What was written.

    Attributes:
        folder: Where.
        files: How many files.
        size: Their bytes.
        questions: How many questions have a page.
        withheld: Why there are no questions; empty where there are.
    """

    folder: Path
    files: int = 0
    size: int = 0
    questions: int = 0
    withheld: str = ""
    _made: set[Path] = field(default_factory=set)

    def put(self, place: str, content: str | bytes) -> None:
        """Write a file."""
        path = self.folder / place
        if path.parent not in self._made:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._made.add(path.parent)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        self.count(path)

    def count(self, path: Path) -> None:
        """Take a file that was written into the sum."""
        self.files += 1
        self.size += path.stat().st_size


def write_site(arena: Arena, name: str, folder: Path, *, questions: bool = True) -> Export:
    """Write a board with everything that the public may see of it; questions are written one at a time.

    Args:
        arena: Where it is.
        name: The board, or one snapshot of it.
        folder: A new or empty folder, or one that holds an export already, whose pages are replaced; names
            that begin with a dot stay.
        questions: Whether with questions, answers and rationales.

    Raises:
        ConflictError: The folder holds something else.
        FileFormatError: It cannot be written.
        NotFoundError: No board has this name.
        RetractedError: The board was retracted.
    """
    board = arena.boards.get(name, caller=PUBLIC)
    if not board.standings:
        raise RetractedError(name, board.notice)
    view = read_board(board)
    export = Export(folder=folder, withheld=_withheld(arena, view, questions=questions))
    try:
        _clear(folder)
        _write(arena, board, view, export)
    except OSError as error:
        message = f"{folder} cannot be written: {error.strerror or error}."
        raise FileFormatError(message, advice="Name a folder that you can write to.") from error
    return export


def _write(arena: Arena, board: Board, view: BoardView, export: Export) -> None:
    stats = () if export.withheld else _questions(arena, view)
    pages = BoardPages(view=view, questions=stats, address=arena.settings.public_url)
    export.put(MARK, _mark(board))
    export.put(".nojekyll", "")
    export.put("README.md", _readme(view))
    export.put("style.css", pages.style())
    export.put("index.html", pages.index())
    export.put("method.html", pages.method())
    export.put("data.html", pages.data(list(_data(arena, board, export)), export.withheld))
    for system, text in _systems(arena, view, pages, with_records=bool(stats)):
        export.put(pages.systems[system], text)
    for page in range(1, pages.lists + 1):
        export.put(f"questions/{list_name(page)}", pages.question_list(page))
    if view.round_name is None or not stats:
        return
    evidence = arena.evidence.of_round(view.round_name, caller=PUBLIC)
    for number, question in enumerate(counted(stats, "writing questions", len(stats)), 1):
        text = pages.question(number, evidence.question(question.id))
        export.put(f"questions/{question_name(number)}", text)
    export.questions = len(stats)


def _withheld(arena: Arena, view: BoardView, *, questions: bool) -> str:
    """Why an export has no questions; empty where it has them."""
    if view.round_name is None:
        return "the board was published elsewhere as counts of verdicts"
    if not questions:
        return "they were left out"
    round_ = arena.rounds.get(view.round_name, caller=PUBLIC)
    policy = arena.policies.get(round_.set_name)
    return why_withheld(arena.sets.summary(round_.set_name).licence, public=policy.public_texts)


def _questions(arena: Arena, view: BoardView) -> tuple[QuestionStats, ...]:
    return arena.question_lists.of(str(view.round_name), caller=PUBLIC).questions


def _systems(
    arena: Arena, view: BoardView, pages: BoardPages, *, with_records: bool
) -> Iterator[tuple[str, str]]:
    for system in counted(view.systems, "writing systems", len(view.systems)):
        line = view.line(system)
        if view.round_name is None or line is None or line.unjudged:
            yield system, pages.system(system, lost=None, won=None, submission=None)
            continue
        profile = arena.profiles.of(view.round_name, system, caller=PUBLIC)
        yield (
            system,
            pages.system(
                system,
                lost=profile.worst if with_records else None,
                won=profile.best if with_records else None,
                submission=profile.submission,
            ),
        )


def _data(arena: Arena, board: Board, export: Export) -> Iterator[Download]:
    """Write the data, a file after the other."""
    standings = marked(board.standings, board.marks)
    for form in (BoardForm.CSV, BoardForm.PARQUET):
        export.put(f"data/standings{form.ending}", standings_file(standings, form))
    export.put("data/standings.json", standings_file(board.standings, BoardForm.JSON))
    folder = export.folder / "data"
    if board.round_name is not None:
        with (folder / "battles.jsonl").open("wb") as lines:
            lines.writelines(arena.board_files.battles(board, caller=PUBLIC))
        export.count(folder / "battles.jsonl")
    for name, what in WHAT.items():
        if (path := folder / name).exists():
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            yield Download(name=name, what=what, size=path.stat().st_size, sha256=digest)


def _clear(folder: Path) -> None:
    """Take the pages of a former export away."""
    if not folder.exists():
        return
    if (folder / MARK).exists():
        for name in FOLDERS:
            shutil.rmtree(folder / name, ignore_errors=True)
        return
    if not folder.is_dir() or any(not path.name.startswith(".") for path in folder.iterdir()):
        raise ConflictError(
            f"{folder} holds something else than an exported board.", advice="Name a new or empty folder."
        )


def _mark(board: Board) -> str:
    fields = {
        "board": board.name,
        "content_sha256": board.content_hash,
        "published": board.published_at.isoformat(),
        "made_by": "answer-arena",
    }
    return json.dumps(fields, indent=1) + "\n"


def _readme(view: BoardView) -> str:
    title = json.dumps(view.title, ensure_ascii=False)
    return SPACE.format(title=title, name=view.name, published=view.published, content_hash=view.content_hash)
