"""The embedded judge in languages other than English: questions of the demo, translated for the project."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from data.records import Preference, Question
from judges.base import JudgeInput
from judges.catalogue import build_judge, load_spec
from judges.lexical import LexicalJudge
from judges.text.languages import can_read, language
from judges.text.tokens import terms

TRANSLATED = json.loads(
    (Path(__file__).parents[2] / "golden" / "translated.json").read_text(encoding="utf-8")
)


def _prefers(code: str, better: str, worse: str) -> bool:
    texts = TRANSLATED[code]
    judge = build_judge(load_spec("lexical"))
    assert isinstance(judge, LexicalJudge)
    asked = Question(
        id="q", domain="d", question=texts["question"], reference=texts["reference"], language=code
    )
    judge_input = JudgeInput(battle_id="x", question=asked, answer_a=better, answer_b=worse)
    return judge.settle(judge_input).preference is Preference.A


@pytest.mark.parametrize("code", TRANSLATED)
def test_fuller_answers_win_in_each_language(code: str) -> None:
    """A full answer beats a short one, and that an answer to another question, in every language."""
    texts = TRANSLATED[code]
    assert _prefers(code, texts["full"], texts["short"])
    assert _prefers(code, texts["full"], texts["other"])
    assert _prefers(code, texts["short"], texts["other"])


def test_function_words_and_stems_follow_the_language() -> None:
    """Inflected forms fall together, and what only joins words is left out."""
    assert terms("die Häuser und das Haus", "de") == ("haus", "haus")
    assert language("pt-BR").code == "pt"
    assert not can_read("ko")
