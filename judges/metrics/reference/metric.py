"""Reference coverage: embedded, or by an LLM with one request per answer."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from math import fsum
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from data.declines import declines
from data.models import Json, MetricItem, Outcome, Score, unscored
from judges.llm.requests import CallFailure
from judges.llm.tasks import Task, TaskRunner
from judges.llm.templates import Input, Tagged
from judges.metrics.dry_run import ids, says, texts
from judges.metrics.reference import REFERENCE_COVERAGE
from judges.metrics.reference.denials import SETTINGS, stance
from judges.metrics.reference.facts import Fact, facts_of
from judges.metrics.registry import Metric, refuse_options
from judges.metrics.shortening import GuardedMetric
from judges.pairwise.cleaning import clean
from judges.text.sentences import split_sentences
from judges.text.tokens import measured_terms, words

COVERED_FROM, PARTLY_FROM = 0.6, 0.3
"""Shares of a fact from which the embedded version grades it as covered, and as partly covered."""
DENIED_FROM = 0.6
"""Share of a fact in a sentence of the answer from which the sentence may contradict it."""
SHORT = 8
"""Number of terms up to which an answer counts with the words of its question, which hardly weigh."""
NO_REFERENCE = "The question has no reference."
NO_FACTS = "The reference states nothing."
UNDECIDED = "The LLM omitted {left} of {all} facts, or gave quotes for them that are not in the answer."


class State(StrEnum):
    """State of a fact in an answer: stated in full, in part, or not."""

    COVERED = "covered"
    PARTLY = "partly"
    MISSING = "missing"


CREDIT: Mapping[State, float] = MappingProxyType({State.COVERED: 1.0, State.PARTLY: 0.5, State.MISSING: 0.0})
"""Credit of a fact by its state."""


@dataclass(frozen=True, slots=True)
class Grade:
    """Grade of a fact in an answer: its state, its share (0–1) and a quote of the answer."""

    state: State
    share: float
    evidence: str = ""


MISSING = Grade(State.MISSING, 0.0)


class GradedFact(BaseModel):
    """A fact with its grade."""

    model_config = ConfigDict(frozen=True)

    fact: str = Field(description="The id of the fact.")
    state: State
    quote: str = Field(description="The answer's own words that state it, or a part of it; empty if missing.")


class FactsReply(BaseModel):
    """The reply to `grade_facts`."""

    model_config = ConfigDict(frozen=True)

    facts: tuple[GradedFact, ...]


def _stub(inputs: Mapping[str, Input]) -> Mapping[str, Any]:
    (answer,) = texts(inputs["answer"])
    first = next(iter(split_sentences(answer)), answer)
    return {
        "facts": [
            {"fact": key, "state": "covered", "quote": first}
            if says(answer, text)
            else {"fact": key, "state": "missing", "quote": ""}
            for key, text in zip(ids(inputs["facts"]), texts(inputs["facts"]), strict=True)
        ]
    }


GRADING = Task(name="grade_facts", reply=FactsReply, max_tokens=4_096, stub=_stub)


class LexicalGrader:
    """Grades by the words that two neighbouring sentences share with a fact.

    Names and figures count twice, words of the question hardly. A fact is not covered without all of its
    figures, and missing if the answer contradicts it.
    """

    async def grade(
        self, item: MetricItem, answer: str, facts: Sequence[Fact]
    ) -> Sequence[Grade | None] | CallFailure:
        """Compare every fact with every pair of neighbouring sentences."""
        sentences = {text: measured_terms(text) for text in split_sentences(answer)}
        short = sum(map(len, sentences.values())) <= SHORT
        about = frozenset(measured_terms(item.question))
        topic = about if short else frozenset()
        rows = [_Overlap(fact, topic, sentences) for fact in facts]
        near = {(row.fact.text, text) for row in rows for text in row.nearest}
        agreement, denials = stance(item.question, [fact.text for fact in facts], answer, near)
        grades = [row.grade(about, denials.get(row.fact.text)) for row in rows]
        if agreement:
            opening = next(iter(sentences), answer)
            state = State.PARTLY if set(measured_terms(facts[0].text)) - topic else State.COVERED
            if agreement < 0:
                grades[0] = Grade(State.MISSING, 0.0, opening)
            elif CREDIT[state] > CREDIT[grades[0].state]:
                grades[0] = Grade(state, max(CREDIT[state], grades[0].share), opening)
        return grades


class _Overlap:
    """Terms of a fact in each sentence of an answer, with their share of its weight."""

    def __init__(self, fact: Fact, topic: frozenset[str], sentences: Mapping[str, Sequence[str]]) -> None:
        self.fact, self._topic = fact, topic
        factor = 1.0 if fact.terms <= topic else SETTINGS.topic
        self._weights = {
            term: (1 + (term in fact.key)) * (factor if term in topic else 1) for term in fact.terms
        }
        self._total = fsum(self._weights.values())
        self._stated = [fact.stated_in(sentence) for sentence in sentences.values()]
        self._shares = dict(zip(sentences, map(self._share, self._stated), strict=True))
        most = max((*self._shares.values(), PARTLY_FROM if topic else DENIED_FROM))
        self.nearest = [text for text, share in self._shares.items() if share == most]
        """Sentences with the largest share, if it is enough for a contradiction."""

    def _share(self, overlap: frozenset[str]) -> float:
        return fsum(self._weights[term] for term in overlap) / self._total

    def grade(self, about: frozenset[str], denial: str | None) -> Grade:
        """Grade the fact; a `denial` is a sentence that contradicts it."""
        fact, shares = self.fact, self._shares
        if not any(self._stated):
            return MISSING
        if denial in self.nearest:
            return Grade(State.MISSING, shares[denial], denial)
        new = fact.terms - about
        if new and new <= fact.key and not any(overlap & new for overlap in self._stated):
            return MISSING
        best = max([a | b for a, b in pairwise(self._stated)] or self._stated, key=self._share)
        share = self._share(best)
        if share < PARTLY_FROM:
            return Grade(State.MISSING, share)
        covered = share >= COVERED_FROM and fact.figures - self._topic <= best
        return Grade(State.COVERED if covered else State.PARTLY, share, max(shares, key=shares.__getitem__))


class LlmGrader:
    """Asks about all facts at once, and again about undecided facts."""

    def __init__(self, runner: TaskRunner) -> None:
        self._runner = runner

    async def grade(
        self, item: MetricItem, answer: str, facts: Sequence[Fact]
    ) -> Sequence[Grade | None] | CallFailure:
        """Ask for grades; a quote that is not in the answer leaves its fact undecided (None)."""
        grades: dict[int, Grade | None] = dict.fromkeys(range(len(facts)))
        for _ in range(2):
            left = [at for at, grade in grades.items() if grade is None]
            if not left:
                break
            keys = {f"f{at + 1}": at for at in left}
            reply = await self._runner.run(
                GRADING,
                {
                    "question": item.question,
                    "answer": Tagged("answer", answer),
                    "facts": [Tagged("fact", facts[at].text, key) for key, at in keys.items()],
                },
            )
            if isinstance(reply, CallFailure):
                return reply
            replies: dict[str, set[GradedFact]] = {}
            for fact in reply.facts:
                replies.setdefault(fact.fact, set()).add(fact)
            for key, at in keys.items():
                grades[at] = _decide(replies.get(key, set()), answer)
        return list(grades.values())


def _decide(replies: set[GradedFact], answer: str) -> Grade | None:
    if len(replies) != 1:
        return None
    (reply,) = replies
    if reply.state is State.MISSING:
        return MISSING
    if not _quotes(reply.quote, answer):
        return None
    return Grade(reply.state, CREDIT[reply.state], reply.quote.strip())


def _quotes(quote: str, answer: str) -> bool:
    text = f" {' '.join(words(answer))} "
    pieces = [" ".join(words(piece)) for piece in quote.replace("…", "...").split("...")]
    return any(pieces) and all(f" {piece} " in text for piece in pieces if piece)


class ReferenceCoverage:
    """Scores an answer by the facts of the reference that it covers."""

    name = REFERENCE_COVERAGE

    def __init__(self, grader: LexicalGrader | LlmGrader) -> None:
        self._grader = grader

    async def score(self, item: MetricItem) -> Score:
        """Score one answer by the share of covered facts; partly covered facts count half.

        An empty answer or a refusal scores 0 without a request.

        Returns:
            The score with `details`: `facts` (`text`, `state`, `share` 0–1, `evidence`: the answer's words),
            `completeness`, `lowest` (share of a fact), and `counts` (`facts`, `covered`, `partly`,
            `missing`). Unreadable without a reference, or if an LLM leaves a fact undecided.
        """
        if not (item.reference or "").strip():
            return unscored(item, REFERENCE_COVERAGE, Outcome.UNREADABLE, NO_REFERENCE)
        reference = item.reference or ""
        facts = () if declines(reference, item.question) else facts_of(reference)
        if not facts:
            return unscored(item, REFERENCE_COVERAGE, Outcome.UNREADABLE, NO_FACTS)
        answer = clean(item.answer)
        results: Sequence[Grade | None] | CallFailure = [MISSING] * len(facts)
        if not declines(answer, item.question):
            results = await self._grader.grade(item, answer, facts)
        if isinstance(results, CallFailure):
            return unscored(item, REFERENCE_COVERAGE, results.outcome, results.detail)
        grades = [grade for grade in results if grade is not None]
        if len(grades) < len(facts):
            reason = UNDECIDED.format(left=len(facts) - len(grades), all=len(facts))
            return unscored(item, REFERENCE_COVERAGE, Outcome.UNREADABLE, reason)
        return _scored(item, facts, grades)


def _scored(item: MetricItem, facts: Sequence[Fact], grades: Sequence[Grade]) -> Score:
    counts = Counter(grade.state for grade in grades)
    rows: list[Json] = [
        {
            "text": fact.text,
            "state": grade.state.value,
            "share": round(grade.share, 4),
            "evidence": grade.evidence,
        }
        for fact, grade in zip(facts, grades, strict=True)
    ]
    return Score(
        id=item.id,
        metric=REFERENCE_COVERAGE,
        outcome=Outcome.JUDGED,
        score=fsum(CREDIT[grade.state] for grade in grades) / len(grades),
        details={
            "facts": rows,
            "completeness": completeness(grades),
            "lowest": min(grade.share for grade in grades),
            "counts": {"facts": len(grades), **{state.value: counts[state] for state in State}},
        },
    )


def completeness(grades: Sequence[Grade]) -> float:
    """Return 1 / (1 + Σ (1 − share)²) over the facts, 0–1; 0 if all are missing.

    It detects answers that lack information; see docs/method/reference-coverage.md.
    """
    if all(grade.state is State.MISSING for grade in grades):
        return 0.0
    return 1 / (1 + fsum((1 - grade.share) ** 2 for grade in grades))


def build(name: str, *, runner: TaskRunner | None, options: Mapping[str, Json]) -> Metric:
    """Build `reference-coverage`; without a runner, the embedded version."""
    refuse_options(name, options)
    if runner is None:
        return GuardedMetric(ReferenceCoverage(LexicalGrader()))
    return ReferenceCoverage(LlmGrader(runner))
