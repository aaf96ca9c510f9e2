"""Ratings of passages by sub-question: the table that every measure of a context is computed from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from data.errors import RecordError
from data.records import Passage
from judges.llm.token_counting import BYTES_PER_TOKEN

LOWEST, HIGHEST = 0, 5
THRESHOLD = 3.0
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Ratings:
    """How well each passage answers each sub-question, and from which rating on it does.

    Attributes:
        values: Passages × sub-questions, each rating 0 (nothing) to 5 (in full); a weighted rating
            may lie between two whole numbers.
        threshold: The η of the paper: a sub-question is answerable from this rating on.

    Source: CRUX, section 3.1, Eq. 2.
    """

    values: FloatArray
    threshold: float = THRESHOLD

    def __post_init__(self) -> None:
        if self.values.ndim != 2:  # noqa: PLR2004 - a table has two sides
            message = f"Ratings have {self.values.ndim} dimensions."
            raise RecordError(message, advice="Give one row a passage and one column a sub-question.")
        check_threshold(self.threshold)
        outside = ~((self.values >= LOWEST) & (self.values <= HIGHEST))
        if outside.any():
            row, column = (int(place) for place in np.argwhere(outside)[0])
            raise _off_scale(row, column, self.values[row, column])

    @classmethod
    def of(cls, rows: Sequence[Sequence[object]], *, threshold: float = THRESHOLD) -> Ratings:
        """Read rows of numbers; without rows, a table without passages and sub-questions.

        Raises:
            RecordError: Rows differ in length, or hold something else than numbers on the scale.
        """
        lengths = {len(row) for row in rows}
        if len(lengths) > 1:
            message = f"The rows of ratings have {min(lengths)} to {max(lengths)} entries."
            raise RecordError(message, advice="Give every passage one rating a sub-question.")
        width = lengths.pop() if lengths else 0
        read = [
            _rating(place, column, rating)
            for place, row in enumerate(rows)
            for column, rating in enumerate(row)
        ]
        table = np.array(read, dtype=np.float64).reshape(len(rows), width)
        return cls(values=table, threshold=threshold)

    @property
    def passages(self) -> int:
        """How many passages were rated."""
        return int(self.values.shape[0])

    @property
    def sub_questions(self) -> int:
        """For how many sub-questions."""
        return int(self.values.shape[1])

    @cached_property
    def answers(self) -> BoolArray:
        """Which passage answers which sub-question (passages × sub-questions)."""
        mask: BoolArray = self.values >= self.threshold
        return mask

    @cached_property
    def answerable(self) -> tuple[int, ...]:
        """The sub-questions that some passage answers."""
        return tuple(int(column) for column in np.flatnonzero(self.answers.any(axis=0)))

    @cached_property
    def useful(self) -> BoolArray:
        """`answers` of the answerable sub-questions alone."""
        mask: BoolArray = self.answers[:, list(self.answerable)]
        return mask

    def require_passages(self, passages: Iterable[object], what: str) -> tuple[int, ...]:
        """Return places of passages, checked.

        Raises:
            RecordError: A place is none of a passage, or named twice.
        """
        places = []
        for place in passages:
            if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place < self.passages:
                message = (
                    f"The {what} names passage {place!r}, but there are passages 0 to {self.passages - 1}."
                )
                raise RecordError(message, advice="Count passages from 0, in the order of the ratings.")
            places.append(place)
        if len(set(places)) != len(places):
            raise RecordError(f"The {what} names a passage twice.", advice="A ranking has each passage once.")
        return tuple(places)


def _rating(place: int, column: int, rating: object) -> float:
    if isinstance(rating, bool) or not isinstance(rating, int | float):
        message = f"The rating of passage {place} for sub-question {column} is {rating!r}."
        raise RecordError(message, advice="Give a number from 0 to 5; none can be left open.")
    if not LOWEST <= rating <= HIGHEST:
        raise _off_scale(place, column, rating)
    return float(rating)


def _off_scale(row: int, column: int, rating: float) -> RecordError:
    message = (
        f"The rating of passage {row} for sub-question {column} is {rating!s:.20}, "
        f"off the scale of {LOWEST} to {HIGHEST}."
    )
    return RecordError(message, advice="Correct it, or rate the passage again.")


def check_threshold(threshold: float) -> None:
    """Refuse a threshold that rates everything or nothing as answerable.

    Raises:
        RecordError: It is not above 0 and at most 5.
    """
    if not LOWEST < threshold <= HIGHEST:
        message = f"The answerability threshold is {threshold!s:.20}."
        raise RecordError(message, advice=f"Give a number above {LOWEST} and at most {HIGHEST}.")


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
        all_ratings = Ratings.of(rows, threshold=threshold)
        oracle = Ratings(values=all_ratings.values[list(self.oracle)], threshold=threshold)
        if not self.oracle:
            return oracle, all_ratings
        in_scope = np.zeros_like(all_ratings.values)
        columns = list(oracle.answerable)
        in_scope[:, columns] = all_ratings.values[:, columns]
        return oracle, Ratings(values=in_scope, threshold=threshold)


def token_count(text: str) -> int:
    """About how many tokens a text has: a quarter of its bytes, for any language and tokenizer."""
    return -(-len(text.encode()) // BYTES_PER_TOKEN)
