"""Question sets as our own folders: a table of questions, `set.toml`, and `nuggets.jsonl`."""

from __future__ import annotations

from pathlib import Path

from data.errors import FileFormatError
from data.files.question_sets.nuggets import with_nuggets
from data.files.question_sets.registry import QUESTIONS, SetDraft, SetFormat, questions_file
from data.files.question_sets.rows import write_set
from data.files.question_sets.tables import read_question_tables
from data.files.text_files import ReadLimits
from data.models import ProblemList


def _parse(path: Path, limits: ReadLimits, problems: ProblemList) -> SetDraft:
    file = questions_file(path)
    if file is None:
        raise FileFormatError(f"{path} holds no file of questions.", code="no-questions")
    default = path.name.split(".")[0] or QUESTIONS
    found = read_question_tables([file], default, limits, problems)
    return SetDraft(questions=with_nuggets(found, file.parent, limits, problems))


FORMATS = (
    SetFormat(
        name="jsonl",
        title="set.toml and questions.jsonl",
        fits=lambda path: questions_file(path) is not None,
        parse=_parse,
        write=write_set,
        endings=("jsonl", "json", "gz"),
    ),
)
