"""The short answers of a set as the answers of a system.

Source: RAG-QA Arena, section 6.1 and Table 4, which enters RobustQA's extracted answers so.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from arena.services.accounts.auth import OPERATOR, Caller, require
from data.errors import InputError
from data.records import TokenScope
from data.store import Store

BETWEEN = "\n"
"""What stands between short answers, as in the paper."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortAnswerFile:
    """What was written: answers, and questions without short answers, which are not in the file."""

    file: Path
    answers: int
    without: int

    def as_json(self) -> dict[str, object]:
        """The object that `arena sets short-answers --json` prints."""
        return {"file": str(self.file), "answers": self.answers, "without": self.without}


class ShortAnswers:
    """Writes short answers as files of answers."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def write(self, name: str, file: Path, *, caller: Caller = OPERATOR) -> ShortAnswerFile:
        """Write a file for `arena submissions add`: of each question its short answers, a line each.

        Raises:
            NotFoundError: There is no such set.
            ForbiddenError: Only organisers may: short answers give references away.
            InputError: No question of the set has short answers.
        """
        require(caller, TokenScope.ORGANISE)
        summary = self._store.sets.summary(name)
        questions = [question for _, question in self._store.sets.numbered(summary.id)]
        rows = [
            {"question_id": question.id, "answer": BETWEEN.join(question.short_answers)}
            for question in questions
            if question.short_answers
        ]
        if not rows:
            raise InputError(
                f"No question of {name} has short answers.",
                advice="Import the set with `short_answers` in its questions.",
            )
        file.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")
        return ShortAnswerFile(file=file, answers=len(rows), without=len(questions) - len(rows))
