"""Short answers in passages: where they stand, and as marks for an LLM."""

from __future__ import annotations

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
    folded, places = _folded(text)
    spans: list[tuple[int, int]] = []
    for short in short_answers:
        sought, _ = _folded(short.strip())
        at = folded.find(sought) if sought else -1
        while at >= 0:
            spans.append((places[at], places[at + len(sought) - 1] + 1))
            at = folded.find(sought, at + len(sought))
    parts, at = list[Part](), 0
    for start, end in _joined(sorted(spans)):
        if start > at:
            parts.append(Part(text[at:start], marked=False))
        parts.append(Part(text[start:end], marked=True))
        at = end
    if at < len(text) or not parts:
        parts.append(Part(text[at:], marked=False))
    return tuple(parts)


def unseen_short_answers(question: Question) -> tuple[str, ...]:
    """Short answers that stand in none of the passages, and so are highlighted nowhere."""
    return tuple(
        short
        for short in question.short_answers
        if not any(
            part.marked
            for passage in question.passages
            for part in mark_short_answers(passage.text, (short,))
        )
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


def _folded(text: str) -> tuple[str, list[int]]:
    """A text in small letters with single spaces, and where each of its characters stands in the text."""
    characters, places = list[str](), list[int]()
    for place, character in enumerate(text):
        if character.isspace() and characters and characters[-1] == " ":
            continue
        small = " " if character.isspace() else character.lower()
        characters.append(small if len(small) == 1 else character)
        places.append(place)
    return "".join(characters), places


def _joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
