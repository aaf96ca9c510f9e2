"""Submissions, questions and judgments with everything taken out that somebody may not see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from arena.services.accounts.auth import Caller
from arena.services.accounts.visibility import Kind, Resource, Visibility, visibility_of
from data.records import BattleEvidence, Judgment, Question, Split, Submission, SubmissionState, SystemCard

NAMELESS = "Anonymous-"
WITHHELD = "Not shown: it quotes texts that are not public."


def stand_in(question_id: str) -> str:
    """What stands for the text of a question that is not shown."""
    return f"{question_id} (text not public)"


def submission_visibility(
    caller: Caller,
    submission: Submission,
    *,
    published: bool,
    kind: Kind = Kind.SUBMISSION,
    private: bool = False,
) -> Visibility:
    """How much of a submission, or of what belongs to it, somebody sees.

    `private` says that the texts of its set are not for everybody.
    """
    return visibility_of(
        caller,
        Resource(
            kind=kind,
            team=submission.team,
            checked=submission.submitted_at is None,
            withdrawn=submission.state is SubmissionState.WITHDRAWN,
            anonymous=submission.anonymous,
            published=published,
            private=private,
        ),
    )


def redacted(
    caller: Caller, submission: Submission, *, published: bool, places: Mapping[str, int]
) -> tuple[Submission, Visibility] | None:
    """A submission as somebody sees it, and how much that is; None where they must not know of it.

    `published` says whether it is, or was, on a published board; hidden systems are called by their
    `places`.
    """
    seen = submission_visibility(caller, submission, published=published)
    contact = (
        submission_visibility(caller, submission, published=published, kind=Kind.CONTACT) is Visibility.FULL
    )
    if seen is Visibility.NONE:
        return None
    if seen is Visibility.NAMELESS:
        name = f"{NAMELESS}{places[submission.system]}"
        return replace(submission, system=name, team="", card=SystemCard(), content_hash=""), seen
    if seen is Visibility.TOMBSTONE:
        return replace(submission, card=SystemCard(), content_hash=""), seen
    return (submission if contact else replace(submission, card=replace(submission.card, contact=""))), seen


def redacted_question(caller: Caller, question: Question, *, hidden: bool, private: bool = False) -> Question:
    """A question without its reference, and what was made of it, where its set hides that.

    Passages stay: systems and readers need them. Of a set whose texts are not for everybody (`private`) they
    and the question itself are for those who take part.
    """
    takes_part = visibility_of(caller, Resource(kind=Kind.QUESTION, private=private)) is Visibility.FULL
    tested = is_hidden(question)
    private = private and (tested or not takes_part)
    resource = Resource(kind=Kind.REFERENCE, hidden=hidden and tested, private=private)
    if visibility_of(caller, resource) is Visibility.FULL:
        return question
    shown = question if takes_part else replace(question, question=stand_in(question.id), passages=())
    return without_answers(shown)


def without_answers(question: Question) -> Question:
    """A question without its reference and what was made of it."""
    return replace(
        question,
        reference=None,
        aspects=(),
        short_answers=(),
        sub_questions=(),
        gold_doc_ids=(),
        citation_numbers=(),
        citations=(),
        nuggets=(),
    )


def is_hidden(question: Question) -> bool:
    """Whether a question is one whose reference a set may hide: those that are tested on."""
    return question.split is Split.TEST


def without_words(evidence: BattleEvidence) -> BattleEvidence:
    """A battle whose judgments lose what quotes texts that somebody may not see; verdicts stay."""
    return replace(evidence, judgments=tuple(map(_without_words, evidence.judgments)))


def _without_words(judgment: Judgment) -> Judgment:
    return replace(judgment, rationale=WITHHELD, detail="", reply=None)
