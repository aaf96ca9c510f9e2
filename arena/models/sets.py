"""Questions and statistics of question sets."""

from arena.models.base import Value
from data.models import Passage


class Question(Value):
    """Question without its reference and data derived from it."""

    id: str
    domain: str
    question: str
    split: str
    passages: tuple[Passage, ...]


class SetStatistics(Value):
    """Statistics of one domain, or all; means and shares are null without anything to count.

    Means over documents, short answers and passages are over questions that have them.
    """

    domain: str
    """Domain id, or `overall`."""
    questions: int
    references: int
    """Number of questions with a reference."""
    reference_words: float | None
    """Mean words of the references."""
    words_a_question: float | None
    """The same, counting 0 for questions without a reference."""
    question_words: float | None
    documents: float | None
    """Mean number of documents behind a reference."""
    several_documents: float | None
    """Share of those with two documents or more."""
    many_documents: float | None
    """Share of those with ten or more."""
    most_documents: int | None
    sentences: int
    """Sentences of references with known citations."""
    documents_a_sentence: list[float]
    """Shares of these sentences that cite 0, 1, 2, 3, 4, and 5 or more documents."""
    short_answers: float | None
    short_answer_words: float | None
    passages: float | None
    passage_words: float | None

    @property
    def sentences_of_several(self) -> float | None:
        """Share of the sentences that cite two documents or more."""
        return sum(self.documents_a_sentence[2:]) if self.sentences else None
