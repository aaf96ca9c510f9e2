from __future__ import annotations

import json
from pathlib import Path

import pytest

from data.models import Preference, Question
from judges.base import JudgeInput
from judges.catalogue import build_judge, load_spec
from judges.lexical import LexicalJudge
from judges.text.languages import can_read, language
from judges.text.tokens import terms

TRANSLATED = json.loads(
    (Path(__file__).parents[2] / "golden" / "translated.json").read_text(encoding="utf-8")
)


def _prefers(code: str, row: dict[str, str], worse: str) -> bool:
    judge = build_judge(load_spec("lexical"))
    assert isinstance(judge, LexicalJudge)
    asked = Question(id="q", domain="d", question=row["question"], reference=row["reference"], language=code)
    judge_input = JudgeInput(battle_id="x", question=asked, answer_a=row["good"], answer_b=worse)
    return judge.settle(judge_input).preference is Preference.A


@pytest.mark.parametrize("code", ["de", "es", "fr", "ja"])
def test_true_answers_win_in_each_language(code: str) -> None:
    rows = TRANSLATED[code]
    assert len(rows) == 8
    assert [row["id"] for row in rows if not _prefers(code, row, row["poor"])] == []


@pytest.mark.parametrize("code", ["de", "es", "fr", "ja"])
def test_answers_to_other_questions_lose_in_each_language(code: str) -> None:
    rows = TRANSLATED[code]
    others = [*rows[1:], rows[0]]
    assert [
        row["id"] for row, other in zip(rows, others, strict=True) if not _prefers(code, row, other["good"])
    ] == []


@pytest.mark.parametrize("code", ["de", "es", "fr", "ja"])
def test_word_lists_lose_in_each_language(code: str) -> None:
    rows = TRANSLATED[code]
    lists = [
        " ".join(reversed(row["reference"].split())) if " " in row["reference"] else row["reference"][::-1]
        for row in rows
    ]
    assert [row["id"] for row, text in zip(rows, lists, strict=True) if not _prefers(code, row, text)] == []


def test_function_words_and_stems_follow_the_language() -> None:
    assert terms("die Häuser und das Haus", "de") == ("haus", "haus")
    assert language("pt-BR").code == "pt"
    assert not can_read("ko")
