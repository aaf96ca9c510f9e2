"""How texts are cut into terms, and the numbers that an index has for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

MOST_WORDS = 400_000
"""Words whose terms are remembered at once while a corpus is built; beyond it, they are found anew."""


def itself(word: str) -> Sequence[str]:
    """The word as its one term."""
    return (word,)


@dataclass(frozen=True, slots=True)
class Analyser:
    """How texts are cut into terms.

    Attributes:
        name: Another one whenever that changes.
        words: The words of a text, repeats included.
        of_word: The terms that a word stands for, wherever it stands; by default the word itself. A corpus is
            built by asking it once a distinct word, which is where stemming takes its time.
    """

    name: str
    words: Callable[[str], Sequence[str]]
    of_word: Callable[[str], Sequence[str]] = itself

    def terms(self, text: str) -> list[str]:
        """The terms of a text in order, repeats included."""
        return [term for word in self.words(text) for term in self.of_word(word)]


class Vocabulary(dict[str, int]):
    """Numbers terms as they are first asked for."""

    def __missing__(self, term: str) -> int:
        number = len(self)
        self[term] = number
        return number


class TermNumbers(dict[str, tuple[int, ...]]):
    """The numbers of the terms that words stand for, of so many words at a time."""

    def __init__(self, vocabulary: Vocabulary, of_word: Callable[[str], Sequence[str]]) -> None:
        super().__init__()
        self._vocabulary = vocabulary
        self._of_word = of_word

    def __missing__(self, word: str) -> tuple[int, ...]:
        if len(self) >= MOST_WORDS:
            self.clear()
        numbers = tuple(self._vocabulary[term] for term in self._of_word(word))
        self[word] = numbers
        return numbers
