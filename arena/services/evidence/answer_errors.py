"""Kinds of error that a system's answers have, question by question, as its scores and lengths say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median
from types import MappingProxyType

from arena.services.evidence.claims import read_claims
from data.store.boards.scores import ScoredAnswer
from data.store.submissions.answers import AnswerLength
from judges.metrics.context.diagnosis import losses_of
from judges.metrics.factuality.measures import EVEN, UNDECIDED
from judges.metrics.relations.verdicts import Verdict
from leaderboard.counterfactual import ErrorQuestions

LONGER = 1.5
"""How many times as long as the others' median a long answer is; a short one is as many times shorter."""
UNCITED_BELOW = 0.5
"""The F1 of citation support below which citations count as weak."""


class AnswerError(StrEnum):
    """A kind of error of an answer."""

    NO_ANSWER = "no-answer"
    MISSING_FACTS = "missing-facts"
    CONTRADICTED = "contradicted"
    UNCONFIRMED = "unconfirmed"
    WEAK_CITATIONS = "weak-citations"
    LOST_IN_RETRIEVAL = "lost-in-retrieval"
    LOST_IN_WRITING = "lost-in-writing"
    TOO_LONG = "long"
    TOO_SHORT = "short"


TITLES: Mapping[AnswerError, str] = MappingProxyType(
    {
        AnswerError.NO_ANSWER: "No answer found",
        AnswerError.MISSING_FACTS: "Fewer facts than others",
        AnswerError.CONTRADICTED: "Contradictions of the passages",
        AnswerError.UNCONFIRMED: "Claims that no passage confirms",
        AnswerError.WEAK_CITATIONS: "Weak citations",
        AnswerError.LOST_IN_RETRIEVAL: "Lost in retrieval",
        AnswerError.LOST_IN_WRITING: "Lost in writing",
        AnswerError.TOO_LONG: "Much longer than others",
        AnswerError.TOO_SHORT: "Much shorter than others",
    }
)
MEANINGS: Mapping[AnswerError, str] = MappingProxyType(
    {
        AnswerError.NO_ANSWER: "The answer says that none was found.",
        AnswerError.MISSING_FACTS: "It covers a smaller share of the passages' statements than the median of "
        "the other answers to the question.",
        AnswerError.CONTRADICTED: "A passage contradicts one of its claims, or it contradicts a statement of "
        "the passages.",
        AnswerError.UNCONFIRMED: "A claim of it is likelier false than true, without being contradicted.",
        AnswerError.WEAK_CITATIONS: "The F1 of its citations is below one half.",
        AnswerError.LOST_IN_RETRIEVAL: "A sub-question that the question's passages answer is not "
        "answered by what the system retrieved.",
        AnswerError.LOST_IN_WRITING: "A sub-question is answered by what the system retrieved, and not "
        "by its answer.",
        AnswerError.TOO_LONG: "More than 1.5 times as long as the median of the other answers.",
        AnswerError.TOO_SHORT: "Shorter than two thirds of the median of the other answers.",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFacts:
    """What is known of a system's answers, and of some others to the same questions.

    Attributes:
        submission: The store's number of the system's submission.
        lengths: Of its answers and of the others.
        coverage: Submission, question id and comprehensiveness (0–1) of its answers and of the others.
        statements: Its own comprehensiveness scores with details.
        claims: Its own factuality scores with details.
        citations: Its own scores of citation support.
        contexts: Its own scores of retrieved passages with details.
        answered: Its own scores of answered sub-questions with details.
    """

    submission: int
    lengths: Sequence[AnswerLength]
    coverage: Sequence[tuple[int, str, float]]
    statements: Sequence[ScoredAnswer]
    claims: Sequence[ScoredAnswer]
    citations: Sequence[tuple[int, str, float]]
    contexts: Sequence[ScoredAnswer]
    answered: Sequence[ScoredAnswer]


def answer_errors(facts: AnswerFacts) -> Mapping[AnswerError, ErrorQuestions]:
    """On which questions a system's answers have each kind of error, and on which they do not.

    An answer that says that none was found has that error alone. Kinds of which nothing is known are left
    out, and a question is in neither set of a kind where its answer was not scored for it.
    """
    own = {one.question_id: one for one in facts.lengths if one.submission == facts.submission}
    silent = {question for question, one in own.items() if one.no_answer}
    spoken = {
        error: {question: stands for question, stands in told.items() if question not in silent}
        for error, told in _findings(facts)
    }
    everything = {AnswerError.NO_ANSWER: {question: question in silent for question in own}, **spoken}
    return {
        error: ErrorQuestions(
            present=tuple(question for question, stands in told.items() if stands),
            absent=tuple(question for question, stands in told.items() if not stands),
        )
        for error, told in everything.items()
        if told
    }


def _findings(
    facts: AnswerFacts,
) -> Iterator[tuple[AnswerError, Mapping[str, bool]]]:
    """Each kind with whether it stands, by question."""
    shares = _beside_others(facts.submission, facts.coverage)
    yield AnswerError.MISSING_FACTS, {name: ours < others for name, (ours, others) in shares.items()}
    yield AnswerError.CONTRADICTED, _contradicted(facts)
    yield AnswerError.UNCONFIRMED, {score.question_id: _unconfirmed(score) for score in _scored(facts.claims)}
    yield (
        AnswerError.WEAK_CITATIONS,
        {question: value < UNCITED_BELOW for _, question, value in facts.citations},
    )
    yield from _lost(facts)
    spoken = [(one.submission, one.question_id, one.characters) for one in facts.lengths if not one.no_answer]
    lengths = _beside_others(facts.submission, spoken)
    yield AnswerError.TOO_LONG, {name: ours > LONGER * others for name, (ours, others) in lengths.items()}
    yield AnswerError.TOO_SHORT, {name: ours * LONGER < others for name, (ours, others) in lengths.items()}


def _beside_others(
    submission: int, values: Iterable[tuple[int, str, float]]
) -> Mapping[str, tuple[float, float]]:
    """Its value and the median of the others', by question; only where there are both."""
    own: dict[str, float] = {}
    others: dict[str, list[float]] = defaultdict(list)
    for number, question, value in values:
        if number == submission:
            own[question] = value
        else:
            others[question].append(value)
    return {
        question: (value, median(others[question])) for question, value in own.items() if others[question]
    }


def _contradicted(facts: AnswerFacts) -> Mapping[str, bool]:
    stands: dict[str, bool] = {}
    for score in _scored(facts.statements):
        stands[score.question_id] = bool(score.details.get("contradicted"))
    for score in _scored(facts.claims):
        told = any(claim.verdict is Verdict.CONTRADICTED for claim in read_claims(score.details))
        stands[score.question_id] = stands.get(score.question_id, False) or told
    return stands


def _unconfirmed(score: ScoredAnswer) -> bool:
    return any(
        claim.posterior < UNDECIDED - EVEN and claim.verdict is not Verdict.CONTRADICTED
        for claim in read_claims(score.details)
    )


def _lost(facts: AnswerFacts) -> Iterator[tuple[AnswerError, Mapping[str, bool]]]:
    contexts = {score.question_id: score for score in facts.contexts}
    losses = {
        score.question_id: found
        for score in facts.answered
        if score.question_id in contexts
        and (found := losses_of(contexts[score.question_id].as_score(), score.as_score())) is not None
    }
    yield (
        AnswerError.LOST_IN_RETRIEVAL,
        {question: (loss.lost_in_retrieval or 0) > 0 for question, loss in losses.items()},
    )
    yield (
        AnswerError.LOST_IN_WRITING,
        {question: (loss.lost_in_writing or 0) > 0 for question, loss in losses.items()},
    )


def _scored(scores: Iterable[ScoredAnswer]) -> Iterator[ScoredAnswer]:
    return (score for score in scores if score.score is not None)
