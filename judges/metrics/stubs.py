"""What the stub replies of tasks are made of; a task has its own as `Task.stub`.

A premise is taken to entail a hypothesis where it has most of its words, and a text to answer what it was
asked from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from data.models import Passage
from judges.llm.templates import Input, Tagged

ENTAILED_FROM = 0.6
WORD = re.compile(r"\w+")
LIST_OF = 5
"""Aspects, questions and the like where the prompt sets no number."""
SHORTEST_WORD = 4

Stub = Callable[[Mapping[str, Input]], Mapping[str, Any]]


def texts(value: Input) -> list[str]:
    """The texts of an input."""
    match value:
        case int():
            return []
        case str():
            return [value]
        case Tagged() | Passage():
            return [value.text]
        case _:
            return [text for one in value for text in texts(one)]


def ids(value: Input) -> list[str]:
    """The ids of an input's parts."""
    return [one.id for one in value if isinstance(one, Tagged)] if isinstance(value, Sequence) else []


def says(text: str, what: str) -> bool:
    """Whether a text has most words of another."""
    wanted = _words(what)
    return bool(wanted) and len(wanted & _words(text)) / len(wanted) >= ENTAILED_FROM


def numbered_questions(name: str) -> Stub:
    """A stub that lists the question as often as asked for, under a field's name."""

    def stub(inputs: Mapping[str, Input]) -> Mapping[str, Any]:
        (question,) = texts(inputs["question"])
        most = inputs.get("most", LIST_OF)
        count = most if isinstance(most, int) else LIST_OF
        return {name: [f"{number}. {question}" for number in range(1, count + 1)]}

    return stub


def first_words(name: str, count: int) -> Stub:
    """A stub that sums an input up by its first words."""

    def stub(inputs: Mapping[str, Input]) -> Mapping[str, Any]:
        return {"summary": " ".join(" ".join(texts(inputs[name])).split()[:count])}

    return stub


def _words(text: str) -> set[str]:
    return {word.casefold() for word in WORD.findall(text) if len(word) >= SHORTEST_WORD}
