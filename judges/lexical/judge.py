"""The embedded judge: which answer covers more of the yardstick and stays within it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Protocol

from data.records import (
    Judgment,
    Outcome,
    Passage,
    Preference,
    Presentation,
    Question,
    Verdict,
    Yardstick,
)
from judges.base import Contest
from judges.cleaning import clean, is_no_answer
from judges.lexical.analysis import AnswerAnalysis, analyse
from judges.lexical.rationale import compose, compose_empty
from judges.lexical.settings import read_settings
from judges.text.yardstick import YardstickText

VERSION = "lexical-1"


class LexicalSpec(Protocol):
    """What the embedded judge reads of a judge spec."""

    @property
    def name(self) -> str:
        """The name of the judge."""
        ...

    @property
    def yardstick(self) -> Yardstick:
        """`reference` to hold answers against the reference even where there are passages."""
        ...

    @property
    def lexical(self) -> Mapping[str, bool | int | float | str]:
        """The constants that differ from `LexicalSettings`."""
        ...


class LexicalJudge:
    """Decides by weighted coverage, contradictions and padding; needs no network.

    The yardstick is the question's passages, else its reference; a battle against the reference
    itself is unreadable where only the reference could be the yardstick. A verdict depends on the
    question and the two texts alone: not on their order, nor on what was judged before.
    """

    def __init__(self, spec: LexicalSpec) -> None:
        self._name = spec.name
        self._passages_first = spec.yardstick is not Yardstick.REFERENCE
        self._settings = read_settings(spec.name, spec.lexical)
        self._read = lru_cache(self._settings.questions)(YardstickText.read)
        self._analyse = lru_cache(self._settings.answers)(self._analyse_answer)

    @property
    def name(self) -> str:
        """The name of the judge spec."""
        return self._name

    async def judge(self, contest: Contest) -> Verdict:
        """Settle one battle."""
        return self.settle(contest)

    def settle(self, contest: Contest) -> Verdict:
        """Settle one battle, for callers without an event loop."""
        texts = (clean(contest.answer_a), clean(contest.answer_b))
        nothing_a, nothing_b = (not says_something(text) for text in texts)
        if nothing_a or nothing_b:
            margin = float(nothing_a) - float(nothing_b)
            return self._decided(margin, compose_empty(nothing_a, nothing_b))
        passages, kind = self._yardstick(contest.question)
        if not passages:
            return self._declined(
                "The question has neither passages nor a reference to hold answers against."
            )
        if kind is Yardstick.REFERENCE and contest.reference_side is not None:
            return self._declined("The reference is an opponent here and the question has no passages.")
        yardstick = self._read(passages, contest.question.question)
        if not yardstick.statements:
            return self._declined(f"The {kind} say nothing that answers could be held against.")
        a, b = (self._analyse(text, passages, contest.question.question) for text in texts)
        difference = b.score - a.score
        margin = (
            0.0 if abs(difference) < self._settings.tie_band else math.tanh(difference / self._settings.scale)
        )
        return self._decided(margin, compose(yardstick, kind.value, a, b, self._settings))

    def _yardstick(self, question: Question) -> tuple[tuple[Passage, ...], Yardstick]:
        passages = tuple(passage for passage in question.passages if passage.text.strip())
        if passages and self._passages_first:
            return passages, Yardstick.PASSAGES
        reference = (question.reference or "").strip()
        return ((Passage("reference", reference),) if reference else ()), Yardstick.REFERENCE

    def _analyse_answer(self, text: str, passages: tuple[Passage, ...], question: str) -> AnswerAnalysis:
        return analyse(text, self._read(passages, question), self._settings)

    def _decided(self, margin: float, rationale: str) -> Verdict:
        preference = Preference.TIE if not margin else Preference.B if margin > 0 else Preference.A
        judgment = Judgment(
            judge=self._name,
            model=VERSION,
            presentation=Presentation.A_FIRST,
            outcome=Outcome.JUDGED,
            preference=preference,
            margin=margin,
            rationale=rationale,
            settings=self._settings.model_dump_json(),
        )
        return Verdict(outcome=Outcome.JUDGED, preference=preference, judgments=(judgment,))

    def _declined(self, reason: str) -> Verdict:
        judgment = Judgment(
            judge=self._name,
            model=VERSION,
            presentation=Presentation.A_FIRST,
            outcome=Outcome.UNREADABLE,
            detail=reason,
            settings=self._settings.model_dump_json(),
        )
        return Verdict(outcome=Outcome.UNREADABLE, detail=reason, judgments=(judgment,))


def says_something(text: str) -> bool:
    """Whether an answer is more than nothing and more than "no answer"."""
    return any(character.isalnum() for character in text) and not is_no_answer(text)
