"""Ratings of passages by sub-question, the basis of all measures of a context.

A required subset of passages answers all answerable sub-questions. CRUX (section 3.2) ranks passages once by
the number of sub-questions they answer, and takes every passage that answers a new one: `STATIC`. Its public
code ranks again after each choice by the open sub-questions: `DYNAMIC`, the usual greedy cover. The results
often differ.
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
        values: Passages × sub-questions, each rating 0 (not answered) to 5 (fully answered); weighted
            ratings may be fractions.
        threshold: Minimum rating of an answer, η in the paper.

    Source: CRUX, section 3.1, Eq. 2.
    """

    values: FloatArray
    threshold: float = THRESHOLD

    def __post_init__(self) -> None:
        if self.values.ndim != 2:  # noqa: PLR2004 - a table has two sides
            message = f"Ratings have {self.values.ndim} dimensions."
            raise RecordError(message, advice="Use one row per passage and one column per sub-question.")
        if not LOWEST < self.threshold <= HIGHEST:
            message = f"The answerability threshold is {self.threshold!s:.20}."
            raise RecordError(message, advice=f"Use a number above {LOWEST} and at most {HIGHEST}.")
        outside = ~((self.values >= LOWEST) & (self.values <= HIGHEST))
        if outside.any():
            row, column = (int(place) for place in np.argwhere(outside)[0])
            message = (
                f"The rating of passage {row} for sub-question {column} is {self.values[row, column]:g}, "
                f"outside {LOWEST} to {HIGHEST}."
            )
            raise RecordError(message, advice="Correct it, or rate the passage again.")

    @classmethod
    def of(cls, rows: Sequence[Sequence[float]], *, threshold: float = THRESHOLD) -> "Ratings":
        """Create ratings from rows of numbers."""
        lengths = {len(row) for row in rows}
        if len(lengths) > 1:
            message = f"The rows of ratings have {min(lengths)} to {max(lengths)} entries."
            raise RecordError(message, advice="Give every passage one rating per sub-question.")
        width = lengths.pop() if lengths else 0
        table = np.array(rows, dtype=np.float64).reshape(len(rows), width)
        return cls(values=table, threshold=threshold)

    @property
    def passages(self) -> int:
        """Number of rated passages."""
        return int(self.values.shape[0])

    @property
    def sub_questions(self) -> int:
        """Number of sub-questions."""
        return int(self.values.shape[1])

    @cached_property
    def answers(self) -> BoolArray:
        """Passages that answer each sub-question (passages × sub-questions)."""
        mask: BoolArray = self.values >= self.threshold
        return mask

    @cached_property
    def answerable(self) -> tuple[int, ...]:
        """Sub-questions that at least one passage answers."""
        return tuple(int(column) for column in np.flatnonzero(self.answers.any(axis=0)))

    @cached_property
    def useful(self) -> BoolArray:
        """`answers` of only the answerable sub-questions."""
        mask: BoolArray = self.answers[:, list(self.answerable)]
        return mask


@dataclass(frozen=True, slots=True)
class Pool:
    """Passages to rate, and their roles in the oracle and the context.

    Attributes:
        passages: Distinct passages of both lists.
        oracle: Indexes of the oracle passages, P*.
        context: Indexes of the context's passages in its order, with repetitions.
    """

    passages: tuple[Passage, ...]
    oracle: tuple[int, ...]
    context: tuple[int, ...]

    @classmethod
    def of(cls, oracle: Sequence[Passage], context: Sequence[Passage] = ()) -> "Pool":
        """Merge two lists, skipping passages without text."""
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
        """Estimate the tokens of passages, counting repetitions."""
        return sum(token_count(self.passages[place].text) for place in places)

    def ids(self, places: Sequence[int]) -> tuple[str, ...]:
        """Return the ids of passages."""
        return tuple(self.passages[place].id for place in places)

    def ratings(self, rows: Sequence[Sequence[float]], *, threshold: float) -> tuple[Ratings, Ratings]:
        """Return the ratings of the oracle, and of all passages.

        Sub-questions that no oracle passage answers are out of scope (CRUX, section 3.2) and rated 0. Without
        an oracle all are in scope.
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
    """Estimate the tokens of a text as a quarter of its bytes."""
    return -(-len(text.encode()) // BYTES_PER_TOKEN)


class Order(StrEnum):
    """Order of the greedy choice of passages."""

    STATIC = "static"
    DYNAMIC = "dynamic"


class Use(StrEnum):
    """Use of a passage."""

    REQUIRED = "required"
    PARTLY_REDUNDANT = "partly redundant"
    REDUNDANT = "redundant"
    IRRELEVANT = "irrelevant"


def required_subset(ratings: Ratings, order: Order = Order.STATIC) -> tuple[int, ...]:
    """Choose passages greedily until all answerable sub-questions are answered.

    Ties are resolved by order.

    Returns:
        Indexes of passages in the order of choice; empty if nothing is answerable.

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
    """Classify every passage relative to a required subset.

    A passage outside the subset is redundant if one required passage answers everything that it answers,
    partly redundant if several do together, and irrelevant if it answers nothing.

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
