"""Access to the texts of one question set: its questions, references and answers."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from arena.services.accounts.auth import Caller
from arena.services.accounts.redaction import placeholder, redacted_question, submission_visibility
from arena.services.accounts.visibility import Kind, Resource, Visibility, visibility_of
from data.models import Question, Submission

if TYPE_CHECKING:
    # These load tables that lists of sets do not need.
    from data.store import Store
    from data.store.question_stats import QuestionRecord, QuestionStats

Line = TypeVar("Line", "QuestionStats", "QuestionRecord")
FORBIDDING = ("all rights reserved", "proprietary", "confidential", "no redistribution", "internal use")


def why_withheld(licence: str, *, public: bool) -> str:
    """Return the reason why a set's texts are not public; empty if they are."""
    if not public:
        return "its texts are not public (`public_texts = false`)"
    word = next((word for word in FORBIDDING if word in licence.casefold()), "")
    return f"its licence says {word!r}" if word else ""


class SetAccess:
    """Access of a caller to a set's texts, with the current policy and rights.

    Attributes:
        withheld: Reason why the set's texts are not public; empty if they are.
        hidden: True if the set hides the references of its test questions.
    """

    def __init__(self, store: "Store", caller: Caller, set_name: str) -> None:
        self._caller = caller
        self._set_name = set_name
        terms = store.sets.terms(set_name)
        self.hidden = terms.hidden_references
        self.withheld = why_withheld(terms.licence, public=terms.public_texts)
        self.domains = terms.domains

    @property
    def private(self) -> bool:
        """True if the set's texts are not public."""
        return bool(self.withheld)

    @property
    def sees_questions(self) -> bool:
        """True if the caller sees the questions and their passages."""
        return self._sees(Kind.QUESTION)

    @cached_property
    def hides_references(self) -> bool:
        """True if references of test questions are hidden from the caller."""
        return not self._sees(Kind.REFERENCE)

    @property
    def notice(self) -> str:
        """Notice on hidden texts; empty if the caller sees all."""
        if not self.private or not self.hides_references:
            return ""
        why = f"The texts of {self._set_name} are not public: {self.withheld}."
        if self.sees_questions:
            return f"{why} You see its questions and the answers of your team; organisers see everything."
        return (
            f"{why} Verdicts and figures are public; teams that sign in see the questions and their own "
            "answers; organisers see everything."
        )

    def question(self, question: Question) -> Question:
        """Return a question as the caller may see it."""
        if not self.hides_references:
            return question
        return redacted_question(self._caller, question, hidden=self.hidden, private=self.private)

    def redact_lines(self, questions: Iterable[Line]) -> tuple[Line, ...]:
        """Return lines of questions as the caller may see them."""
        if self.sees_questions:
            return tuple(questions)
        return tuple(replace(line, question=placeholder(line.id)) for line in questions)

    def answers(self, submission: Submission, *, published: bool) -> Visibility:
        """Return the caller's view of a submission's answers."""
        return submission_visibility(
            self._caller, submission, published=published, kind=Kind.ANSWERS, private=self.private
        )

    def _sees(self, kind: Kind) -> bool:
        resource = Resource(kind=kind, hidden=self.hidden, private=self.private)
        return visibility_of(self._caller, resource) is Visibility.FULL
