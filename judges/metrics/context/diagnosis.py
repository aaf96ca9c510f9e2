"""Losses of a system in retrieval and in writing."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from data.models import Score
from judges.metrics.coverage.settings import share


@dataclass(frozen=True, slots=True, kw_only=True)
class Losses:
    """Numbers of sub-questions at each stage, of one question or summed over several.

    Attributes:
        answerable: Sub-questions that the oracle passages answer.
        retrieved: Answerable sub-questions that the context answers.
        used: Retrieved sub-questions that the answer answers.
        written: Answerable sub-questions that the answer answers, retrieved or not.
    """

    answerable: int
    retrieved: int
    used: int
    written: int

    @property
    def context_coverage(self) -> float | None:
        """Share of the answerable that the context answers, if any are answerable."""
        return share(self.retrieved, self.answerable)

    @property
    def answer_coverage(self) -> float | None:
        """Share of the answerable that the answer answers, if any are answerable."""
        return share(self.written, self.answerable)

    @property
    def lost_in_retrieval(self) -> float | None:
        """Share of the answerable that the context lacks."""
        return share(self.answerable - self.retrieved, self.answerable)

    @property
    def lost_in_writing(self) -> float | None:
        """Share of the answerable that the context contains and the answer lacks."""
        return share(self.retrieved - self.used, self.answerable)


def losses(answerable: Iterable[int], retrieved: Collection[int], written: Collection[int]) -> Losses:
    """Count answerable, retrieved and written sub-questions of one question."""
    answerable_set = frozenset(answerable)
    in_context, in_answer = answerable_set & frozenset(retrieved), answerable_set & frozenset(written)
    return Losses(
        answerable=len(answerable_set),
        retrieved=len(in_context),
        used=len(in_context & in_answer),
        written=len(in_answer),
    )


def losses_of(context: Score, answer: Score) -> Losses | None:
    """Compare the `context-crux` and `answer-crux` scores of one answer.

    None if a score is missing, or if they depend on different sub-questions.
    """
    if context.score is None or answer.score is None:
        return None
    if any(_values(context, name) != _values(answer, name) for name in ("sub_questions", "answerable")):
        return None
    answerable, retrieved = (_places(context, name) for name in ("answerable", "answered"))
    return losses(answerable, retrieved, _places(answer, "answered"))


def _places(score: Score, name: str) -> list[int]:
    return [place for place in _values(score, name) if isinstance(place, int)]


def _values(score: Score, name: str) -> list[object]:
    value = score.details.get(name)
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else []


def total(per_question: Iterable[Losses]) -> Losses:
    """Sum the counts over questions."""
    rows = tuple(per_question)
    return Losses(
        answerable=sum(row.answerable for row in rows),
        retrieved=sum(row.retrieved for row in rows),
        used=sum(row.used for row in rows),
        written=sum(row.written for row in rows),
    )
