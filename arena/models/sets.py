"""Question sets, their questions."""

from arena.models.base import Value
from data.models import Passage


class Question(Value):
    """A question, without anything that a reference or its makers say of it."""

    id: str
    domain: str
    question: str
    split: str
    passages: tuple[Passage, ...]


class SetStatistics(Value):
    """The questions of one domain, or all; means and shares are null where there is nothing to count.

    Means and shares over documents, short answers and passages are of the questions that have some.
    """

    domain: str
    """Its id, or `overall`."""
    questions: int
    references: int
    """Number of questions with a reference."""
    reference_words: float | None
    """Mean words of the references."""
    words_a_question: float | None
    """The same, questions without a reference counting 0."""
    question_words: float | None
    documents: float | None
    """Mean documents that a reference was written from."""
    several_documents: float | None
    """Share of those of two documents or more."""
    many_documents: float | None
    """Share of those of ten or more."""
    most_documents: int | None
    sentences: int
    """Sentences of references whose citations are known."""
    documents_a_sentence: list[float]
    """Shares of them that cite 0, 1, 2, 3, 4, and 5 or more documents."""
    short_answers: float | None
    short_answer_words: float | None
    passages: float | None
    passage_words: float | None

    @property
    def sentences_of_several(self) -> float | None:
        """Share of the sentences that cite two documents or more."""
        return sum(self.documents_a_sentence[2:]) if self.sentences else None
