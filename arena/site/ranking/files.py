"""Uploaded files to rank: how each was read, and corrections of its columns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from arena.services.ranking.requests import stem_of
from arena.site.ui.html import note, put
from arena.site.ui.messages import show_error
from arena.site.uploads import on_disk
from data.errors import ArenaError, InvalidFileError
from data.files.tables.columns import Column
from submissions.answer_tables import AnswerTable, header_of, read_answer_table
from submissions.shapes import Shape

TABLES = "rank-read"
AUTOMATIC = "automatic"
COLUMN_LABELS = {
    Column.QUESTION: "Question",
    Column.ANSWER: "Answer",
    Column.SYSTEM: "System",
    Column.REFERENCE: "Reference",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """Settings for reading a file; `called` maps our columns to the file's names."""

    file_id: str
    system: str
    called: tuple[tuple[Column, str], ...]
    answers: bool


def read_files(files: Sequence[UploadedFile], *, answers: bool = True) -> list[AnswerTable] | None:
    """Read uploaded files and offer corrections; return None if one cannot be read."""
    tables = [_read_file(file, answers=answers) for file in files]
    readable = [table for table in tables if table is not None]
    return readable if len(readable) == len(tables) else None


def _read_file(file: UploadedFile, *, answers: bool) -> AnswerTable | None:
    reading = Reading(
        file.file_id,
        str(st.session_state.get(f"name-{file.file_id}") or stem_of(Path(file.name))),
        tuple(_corrections(file)),
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
        for place, (column, label) in zip(st.columns(len(COLUMN_LABELS)), COLUMN_LABELS.items(), strict=True):
            place.selectbox(label, [AUTOMATIC, *columns], key=f"{column}-{file.file_id}")
    return table


def _corrections(file: UploadedFile) -> Iterator[tuple[Column, str]]:
    for column in COLUMN_LABELS:
        chosen = st.session_state.get(f"{column}-{file.file_id}")
        if chosen and chosen != AUTOMATIC:
            yield column, chosen


def _table(file: UploadedFile, reading: Reading) -> AnswerTable:
    tables: dict[Reading, AnswerTable] = st.session_state.setdefault(TABLES, {})
    if reading not in tables:
        with on_disk(file) as path:
            tables[reading] = read_answer_table(
                path, system=reading.system, answers=reading.answers, called=dict(reading.called)
            )
    return tables[reading]


def _header(file: UploadedFile, table: AnswerTable | None) -> tuple[str, ...]:
    if table is not None:
        return table.header
    try:
        with on_disk(file) as path:
            return header_of(path)
    except ArenaError:
        # The page already shows the error.
        return ()
