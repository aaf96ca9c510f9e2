"""Retrieval boards as commands, routes and pages give them: models, files, sentences."""

from __future__ import annotations

from pathlib import Path

from arena.models import retrieval as shapes
from arena.services.retrieval_boards.service import RetrievalBoard
from data.errors import FileFormatError
from data.percent import percent
from leaderboard.export.tables import Stamp, TableForm, table_file
from leaderboard.formats.sinks import atomic_bytes
from leaderboard.retrieval.files import board_rows, question_rows

FEW_JUDGED = 0.01
"""Fewer are a sign that passages and judgments have different ids."""


def board_json(board: RetrievalBoard) -> shapes.RetrievalBoard:
    """A board with all its measures and domains."""
    table = board.table
    return shapes.RetrievalBoard(
        set=board.questions.name,
        qrels=board.qrels,
        choices=board.choices,
        content_hash=board.content_hash,
        questions=len(table.questions),
        without_relevant=board.without_relevant,
        unjudged=board.unjudged,
        by_document=board.by_document,
        domains=list(table.places),
        measures=table.measures,
        systems=[
            {
                "system": name,
                "team": entrant.submission.team,
                "version": entrant.submission.version,
                "judged": entrant.judged,
            }
            for name, entrant in board.entrants.items()
        ],
        lines={
            measure.name: {domain: table.lines(measure.name, domain) for domain in table.places}
            for measure in table.measures
        },
    )


def stamp_of(board: RetrievalBoard) -> Stamp:
    """What a board's files say of where they are from."""
    return Stamp(board=f"{board.questions.name}-{board.qrels.name}", content_hash=board.content_hash)


def board_file(board: RetrievalBoard, form: TableForm, *, by_question: bool = False) -> bytes:
    """The board as a table: a line a measure, domain and system, or a question and system."""
    rows = question_rows(board.table) if by_question else board_rows(board.table)
    return table_file(rows, form, stamp_of(board))


def export_board(board: RetrievalBoard, destination: Path, *, by_question: bool = False) -> None:
    """Write a board in the form that the file's ending names.

    Raises:
        FileFormatError: Another ending, or the file cannot be written.
    """
    ending = destination.suffix.removeprefix(".").lower()
    if ending not in set(TableForm):
        message = f"{destination.name} ends in none of {', '.join(f'.{form}' for form in TableForm)}."
        raise FileFormatError(message, advice="Name the file by the format that you want.")
    content = board_file(board, TableForm(ending), by_question=by_question)
    with atomic_bytes(destination) as file:
        file.write(content)


def remarks(board: RetrievalBoard) -> list[str]:
    """What readers must know before they look at the numbers: what was left out, and what nobody judged."""
    table, said = board.table, []
    counted = f"{len(table.questions):,} questions count"
    left = [
        f"{count:,} {what}"
        for count, what in (
            (board.without_relevant, "have no relevant passage"),
            (board.unjudged, "have no judgment"),
        )
        if count
    ]
    said.append(f"{counted}; {' and '.join(left)} and are left out." if left else f"{counted}.")
    for name, entrant in board.entrants.items():
        missing = int(table.missing[table.place_of(name)].sum())
        if missing:
            said.append(f"{name} retrieved nothing for {missing:,} of them, which count as 0.")
        if table.questions and entrant.judged < FEW_JUDGED:
            said.append(
                f"{percent(entrant.judged)} of the first ten passages of {name} were judged. Check that "
                "they have the ids of the judgments."
            )
    said.append("Passages that nobody judged count as irrelevant.")
    if board.by_document:
        said.append("A chunk counts as its document, and a document once.")
    return said
