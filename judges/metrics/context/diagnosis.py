"""Losses of a system by stage: in retrieval, or in writing from the retrieved passages."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from data.models import Score
from judges.metrics.coverage.settings import share


@dataclass(frozen=True, slots=True, kw_only=True)
class Losses:
    """Numbers of sub-questions and of those lost at each stage; of one question or summed over many.

    Attributes:
        answerable: Sub-questions that the oracle passages answer.
        retrieved: Of those, answered by the context.
        used: Of the retrieved, answered by the answer.
        written: Answered by the answer, retrieved or not.
    """

    answerable: int
    retrieved: int
    used: int
    written: int

    @property
    def context_coverage(self) -> float | None:
        """The share of the answerable that the context answers; None where nothing is answerable."""
        return share(self.retrieved, self.answerable)

    @property
    def answer_coverage(self) -> float | None:
        """The share of the answerable that the answer answers; None where nothing is answerable."""
        return share(self.written, self.answerable)

    @property
    def lost_in_retrieval(self) -> float | None:
        """The share of the answerable that the context does not have."""
        return share(self.answerable - self.retrieved, self.answerable)

    @property
    def lost_in_writing(self) -> float | None:
        """The share of the answerable that the context has and the answer does not."""
        return share(self.retrieved - self.used, self.answerable)


def losses(answerable: Iterable[int], retrieved: Collection[int], written: Collection[int]) -> Losses:
    """Compare, for one question, what could be answered, what was retrieved and what was written."""
    answerable_set = frozenset(answerable)
    in_context, in_answer = answerable_set & frozenset(retrieved), answerable_set & frozenset(written)
    return Losses(
        answerable=len(answerable_set),
        retrieved=len(in_context),
        used=len(in_context & in_answer),
        written=len(in_answer),
    )


def losses_of(context: Score, answer: Score) -> Losses | None:
    """Compare the `context-crux` and the `answer-crux` score of one answer.

    Returns:
        None where either has no value, or the two depend on different sub-questions.
    """
    if context.score is None or answer.score is None:
        return None
    alike = all(_listed(context, name) == _listed(answer, name) for name in ("sub_questions", "answerable"))
    if not alike:
        return None
    answerable, retrieved = (_places(context, name) for name in ("answerable", "answered"))
    return losses(answerable, retrieved, _places(answer, "answered"))


def _places(score: Score, name: str) -> list[int]:
    return [place for place in _listed(score, name) if isinstance(place, int)]


def _listed(score: Score, name: str) -> list[object]:
    value = score.details.get(name)
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else []


def total(per_question: Iterable[Losses]) -> Losses:
    """Sum over questions; questions without an answerable sub-question add nothing."""
    several = tuple(per_question)
    return Losses(
        answerable=sum(entry.answerable for entry in several),
        retrieved=sum(entry.retrieved for entry in several),
        used=sum(entry.used for entry in several),
        written=sum(entry.written for entry in several),
    )
