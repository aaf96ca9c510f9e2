"""The rated passages of one item: those of the oracle and those of the context, each once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from data.records import Passage
from judges.context.ratings import Ratings
from judges.llm.tokens import BYTES_PER_TOKEN


@dataclass(frozen=True, slots=True)
class Pool:
    """Passages to rate, and which of them make up the oracle and the context.

    Attributes:
        passages: The distinct ones; a passage that two lists have counts once.
        oracle: Places of the oracle passages, P*.
        context: Places of the context's passages in its order; a repeated passage repeats its place.
    """

    passages: tuple[Passage, ...]
    oracle: tuple[int, ...]
    context: tuple[int, ...]

    @classmethod
    def of(cls, oracle: Sequence[Passage], context: Sequence[Passage] = ()) -> Pool:
        """Put two lists together; passages without text are left out."""
        places: dict[str, int] = {}
        distinct: list[Passage] = []

        def place(passage: Passage) -> int:
            key = " ".join(passage.text.split())
            if key not in places:
                places[key] = len(distinct)
                distinct.append(passage)
            return places[key]

        first = dict.fromkeys(place(passage) for passage in oracle if passage.text.strip())
        second = tuple(place(passage) for passage in context if passage.text.strip())
        return cls(passages=tuple(distinct), oracle=tuple(first), context=second)

    def tokens(self, places: Sequence[int]) -> int:
        """About how many tokens some of the passages have, repeats counted."""
        return sum(token_count(self.passages[place].text) for place in places)

    def ids(self, places: Sequence[int]) -> tuple[str, ...]:
        """The ids of some of the passages."""
        return tuple(self.passages[place].id for place in places)

    def rated(self, rows: Sequence[Sequence[float]], *, threshold: float) -> tuple[Ratings, Ratings]:
        """The ratings of the oracle alone, and of all passages with what the oracle cannot answer set to 0.

        Sub-questions that no oracle passage answers are out of scope (CRUX, section 3.2), so that whoever
        answers them gains nothing. Without an oracle all are in scope.
        """
        every = Ratings.of(rows, threshold=threshold)
        oracle = Ratings(values=every.values[list(self.oracle)], threshold=threshold)
        if not self.oracle:
            return oracle, every
        kept = np.zeros_like(every.values)
        columns = list(oracle.answerable)
        kept[:, columns] = every.values[:, columns]
        return oracle, Ratings(values=kept, threshold=threshold)


def token_count(text: str) -> int:
    """About how many tokens a text has: a quarter of its bytes, for any language and tokenizer."""
    return -(-len(text.encode()) // BYTES_PER_TOKEN)
