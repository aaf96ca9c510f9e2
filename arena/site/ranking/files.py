"""Files that are dropped to be ranked: how each was understood, and which columns are something else."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from arena.services.ranking.requests import stem_of
from arena.site.ui.html import note, put
from arena.site.ui.messages import show_error
from arena.site.uploads import laid_down
from data.errors import ArenaError, InvalidFileError
from data.files.tables.columns import Column
from submissions.answer_tables import AnswerTable, header_of, read_answer_table
from submissions.shapes import Shape

READ = "rank-read"
AS_READ = "as its name says"
CORRECTED = {
    Column.QUESTION: "Question",
    Column.ANSWER: "Answer",
    Column.SYSTEM: "System",
    Column.REFERENCE: "Reference",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """A file as it is to be read; `called` is what columns of ours are called in it."""

    file_id: str
    system: str
    called: tuple[tuple[Column, str], ...]
    answers: bool


def understood(dropped: Sequence[UploadedFile], *, answers: bool = True) -> list[AnswerTable] | None:
    """Return the tables of dropped files, each with what may be corrected; None where one cannot be read."""
    tables = [_understood(file, answers=answers) for file in dropped]
    read = [table for table in tables if table is not None]
    return read if len(read) == len(tables) else None


def _understood(file: UploadedFile, *, answers: bool) -> AnswerTable | None:
    reading = Reading(
        file.file_id,
        str(st.session_state.get(f"name-{file.file_id}") or stem_of(Path(file.name))),
        tuple(_corrected(file)),
        answers,
    )
    table: AnswerTable | None = None
    try:
        table = _table(file, reading)
    except InvalidFileError as error:
        note(f"{error.message} {error.advice}")
        put("problems", error.problems[:5])
    except ArenaError as error:
        show_error(error)
    else:
        note(f"{table.sentence} {sum(map(len, table.systems.values())):,} rows.")
        if table.problems:
            put("problems", table.problems[:5])
    open_ = table is None or bool(reading.called)
    with st.expander(f"Correct {file.name}", expanded=open_, key=f"correct-{file.file_id}-{open_}"):
        if table is None or table.shape is Shape.ONE:
            st.text_input("System", value=stem_of(Path(file.name)), key=f"name-{file.file_id}")
        columns = _header(file, table)
        for place, (column, label) in zip(st.columns(len(CORRECTED)), CORRECTED.items(), strict=True):
            place.selectbox(label, [AS_READ, *columns], key=f"{column}-{file.file_id}")
    return table


def _corrected(file: UploadedFile) -> Iterator[tuple[Column, str]]:
    for column in CORRECTED:
        chosen = st.session_state.get(f"{column}-{file.file_id}")
        if chosen and chosen != AS_READ:
            yield column, chosen


def _table(file: UploadedFile, reading: Reading) -> AnswerTable:
    kept: dict[Reading, AnswerTable] = st.session_state.setdefault(READ, {})
    if reading not in kept:
        with laid_down(file) as path:
            kept[reading] = read_answer_table(
                path, system=reading.system, answers=reading.answers, called=dict(reading.called)
            )
    return kept[reading]


def _header(file: UploadedFile, table: AnswerTable | None) -> tuple[str, ...]:
    if table is not None:
        return table.header
    try:
        with laid_down(file) as path:
            return header_of(path)
    except ArenaError:
        # What is wrong with the file stands above.
        return ()
