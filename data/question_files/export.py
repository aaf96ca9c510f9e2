"""Writing a question set as the folder that `load_set` reads."""

from __future__ import annotations

import json
from pathlib import Path

from data.question_files.records import question_to_json
from data.records import QuestionSet


def write_set(questions: QuestionSet, folder: Path) -> None:
    """Write `set.toml` and `questions.jsonl` into `folder`, which is made if missing.

    Importing the folder gives the same content hash.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "set.toml").write_text(_head(questions), encoding="utf-8")
    with (folder / "questions.jsonl").open("w", encoding="utf-8") as file:
        for question in questions.questions:
            file.write(json.dumps(question_to_json(question), ensure_ascii=False) + "\n")


def _head(questions: QuestionSet) -> str:
    fields = ("name", "title", "version", "licence", "source", "reference_name")
    lines = [f"{name} = {_quoted(getattr(questions, name))}" for name in fields]
    lines += ["", "[domains]"]
    lines += [f"{_quoted(domain)} = {_quoted(label)}" for domain, label in questions.domains.items()]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    # A JSON string with escaped control characters is also a TOML basic string.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
