"""Short answers in passages: where they stand, and as marks for an LLM."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from data.records import Question

OPENING, CLOSING = "⟦", "⟧"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a text; all parts together are the text."""

    text: str
    marked: bool


def mark_short_answers(text: str, short_answers: Sequence[str]) -> tuple[Part, ...]:
    """Part a text at its short answers, whatever their case and white space; overlaps become one mark."""
    joined = list[tuple[int, int]]()
    for start, end in sorted(span for short in short_answers for span in _places(text, short)):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    parts, at = list[Part](), 0
    for start, end in (*joined, (len(text), len(text))):
        parts += [Part(text[at:start], marked=False), Part(text[start:end], marked=True)]
        at = end
    return tuple(part for part in parts if part.text)


def _places(text: str, short: str) -> list[tuple[int, int]]:
    if not short.strip():
        return []
    words = r"\s+".join(map(re.escape, short.split()))
    return [match.span() for match in re.finditer(words, text, re.IGNORECASE)]


def unseen_short_answers(question: Question) -> tuple[str, ...]:
    """Short answers that stand in none of the passages, and so are highlighted nowhere."""
    return tuple(
        short
        for short in question.short_answers
        if not any(_places(passage.text, short) for passage in question.passages)
    )


def with_marks(question: Question) -> Question:
    """The question with its short answers marked in the passages, for an LLM that reads them."""
    passages = tuple(
        replace(passage, text=_marked(passage.text, question.short_answers)) for passage in question.passages
    )
    return replace(question, passages=passages)


def _marked(text: str, short_answers: Sequence[str]) -> str:
    parts = mark_short_answers(text.replace(OPENING, "[").replace(CLOSING, "]"), short_answers)
    return "".join(f"{OPENING}{part.text}{CLOSING}" if part.marked else part.text for part in parts)
