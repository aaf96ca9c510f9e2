"""Ratings of passages by sub-question: the table that every measure of a context is computed from.

Required subsets are the passages that together answer all that can be answered. The text of CRUX (section
3.2) ranks passages once, by how many sub-questions each answers, and takes in that order every passage that
answers something new: `STATIC`. Its public code ranks anew after each choice, by what is still open:
`DYNAMIC`, the usual greedy cover. They differ often enough to be named.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from data.errors import RecordError
from data.models import Passage
from judges.llm.token_counting import BYTES_PER_TOKEN

LOWEST, HIGHEST = 0, 5
THRESHOLD = 3.0
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Ratings:
    """Ratings of each passage for each sub-question, with the threshold for an answer.

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
        if not LOWEST < self.threshold <= HIGHEST:
            message = f"The answerability threshold is {self.threshold!s:.20}."
            raise RecordError(message, advice=f"Give a number above {LOWEST} and at most {HIGHEST}.")
        outside = ~((self.values >= LOWEST) & (self.values <= HIGHEST))
        if outside.any():
            row, column = (int(place) for place in np.argwhere(outside)[0])
            message = (
                f"The rating of passage {row} for sub-question {column} is {self.values[row, column]:g}, "
                f"off the scale of {LOWEST} to {HIGHEST}."
            )
            raise RecordError(message, advice="Correct it, or rate the passage again.")

    @classmethod
    def of(cls, rows: Sequence[Sequence[float]], *, threshold: float = THRESHOLD) -> "Ratings":
        """Read rows of numbers; without rows, a table without passages and sub-questions."""
        lengths = {len(row) for row in rows}
        if len(lengths) > 1:
            message = f"The rows of ratings have {min(lengths)} to {max(lengths)} entries."
            raise RecordError(message, advice="Give every passage one rating a sub-question.")
        width = lengths.pop() if lengths else 0
        table = np.array(rows, dtype=np.float64).reshape(len(rows), width)
        return cls(values=table, threshold=threshold)

    @property
    def passages(self) -> int:
        """Number of rated passages."""
        return int(self.values.shape[0])

    @property
    def sub_questions(self) -> int:
        """For how many sub-questions."""
        return int(self.values.shape[1])

    @cached_property
    def answers(self) -> BoolArray:
        """Passages that answer each sub-question (passages × sub-questions)."""
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
    def of(cls, oracle: Sequence[Passage], context: Sequence[Passage] = ()) -> "Pool":
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
        """Return the ids of some of the passages."""
        return tuple(self.passages[place].id for place in places)

    def rated(self, rows: Sequence[Sequence[float]], *, threshold: float) -> tuple[Ratings, Ratings]:
        """Return the ratings of the oracle alone, and of all passages, 0 where the oracle has no answer.

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


class Order(StrEnum):
    """In which order the greedy choice looks at passages."""

    STATIC = "static"
    DYNAMIC = "dynamic"


class Use(StrEnum):
    """Use of a passage."""

    REQUIRED = "required"
    PARTLY_REDUNDANT = "partly redundant"
    REDUNDANT = "redundant"
    IRRELEVANT = "irrelevant"


def required_subset(ratings: Ratings, order: Order = Order.STATIC) -> tuple[int, ...]:
    """Choose passages greedily until no further sub-question can be answered.

    Equally good passages are taken in their own order.

    Returns:
        Places of passages, in the order in which they were chosen; empty where nothing is answerable.

    Source: CRUX, section 3.2 (static); its `binarize_amount_rerank_greedy` (dynamic).
    """
    return _static(ratings) if order is Order.STATIC else _dynamic(ratings)


def _static(ratings: Ratings) -> tuple[int, ...]:
    useful = ratings.useful
    ranked = np.argsort(-useful.sum(axis=1), kind="stable")
    chosen: list[int] = []
    answered = np.zeros(useful.shape[1], dtype=np.bool_)
    for place in ranked:
        if (useful[place] & ~answered).any():
            chosen.append(int(place))
            answered |= useful[place]
    return tuple(chosen)


def _dynamic(ratings: Ratings) -> tuple[int, ...]:
    useful = ratings.useful
    chosen: list[int] = []
    answered = np.zeros(useful.shape[1], dtype=np.bool_)
    while not answered.all():
        place = int(np.argmax((useful & ~answered).sum(axis=1)))
        chosen.append(place)
        answered |= useful[place]
    return tuple(chosen)


def uses(ratings: Ratings, required: Collection[int]) -> tuple[Use, ...]:
    """Say of every passage what it is good for beside a required subset.

    A passage outside the subset is redundant where one required passage answers all that it answers,
    partly redundant where it takes several, and irrelevant where it answers nothing.

    Source: CRUX, section 3.2 ("partially or fully redundant").
    """
    useful = ratings.useful
    needed = [useful[place] for place in required]

    def use(place: int) -> Use:
        if place in required:
            return Use.REQUIRED
        if not useful[place].any():
            return Use.IRRELEVANT
        redundant = any(not (useful[place] & ~other).any() for other in needed)
        return Use.REDUNDANT if redundant else Use.PARTLY_REDUNDANT

    return tuple(use(place) for place in range(ratings.passages))
