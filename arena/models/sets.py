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
    """Mean words of the references, counting 0 for questions without one."""
    question_words: float | None
    documents: float | None
    """Mean number of documents behind a reference."""
    several_documents: float | None
    """Share of the references with at least two documents."""
    many_documents: float | None
    """Share of the references with at least ten documents."""
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
        """Share of the sentences that cite at least two documents."""
        return sum(self.documents_a_sentence[2:]) if self.sentences else None
