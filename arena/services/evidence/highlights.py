"""Where in an answer its claims and covered statements are, and which sentence of a passage each depends on.

Scores store claims and statements as texts of their own. A sentence of an answer is marked by the claim whose
words it has most of, and by the covered statements likewise; the sentences of passages and reference are
numbered, so that what depends on one can name it. This is a reading aid, no part of any score.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from arena.services.evidence.claims import ClaimView, read_claims
from arena.services.evidence.coverage import Standing, StatementView, has_statements, read_statements
from data.models import Question
from data.store.boards.scores import ScoredAnswer
from judges.metrics.relations.verdicts import Verdict
from judges.text.sentences import split_sentences

WORD = re.compile(r"\w+")
LEAST_CLAIM = 0.6
"""Share of a claim's words that its sentence must have."""
LEAST_STATEMENT = 0.4
"""Share of a covered statement's words that its sentence must have: answers say it in other words."""
SHORT = 3
"""Words with fewer letters say little of what a sentence is about."""
CUT = "…"
REFERENCE = "reference"
"""The source of the reference's sentences, as judges name it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A part of a text with what is known of it.

    Attributes:
        text: The part; all parts together are the text.
        verdict: What its claim is called; None where it has no claim.
        posterior: Of that claim, 0–1.
        covers: Statements of the passages that it covers.
        instead: The statement that it contradicts; empty for none.
        places: The sentences of passages and reference that speak for or against it, by number.
    """

    text: str
    verdict: Verdict | None = None
    posterior: float | None = None
    covers: tuple[str, ...] = ()
    instead: str = ""
    places: tuple[int, ...] = ()

    @property
    def marked(self) -> bool:
        """Whether anything is known of it."""
        return self.verdict is not None or bool(self.covers) or bool(self.instead) or bool(self.places)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A part of a passage or reference: the systems that cover and that miss it, where it is a statement.

    `place` is the number of its sentence; None between sentences.
    """

    text: str
    covered: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    place: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A sentence of a source."""

    source: str
    text: str
    words: frozenset[str]


class Places:
    """The sentences of a question's passages and reference, numbered through."""

    def __init__(self, question: Question) -> None:
        sources = [(passage.id, passage.text) for passage in question.passages]
        self._places = [
            _Place(source=source, text=part, words=_words(part))
            for source, text in (*sources, (REFERENCE, question.reference or ""))
            for part in _parts(text)
            if part.strip()
        ]

    def of(self, text: str, sources: Collection[str] = ()) -> int | None:
        """The number of the sentence that a text was taken from, or else that has most of its words.

        Looked for in some sources, or in all of them; None where no sentence has enough of the words.
        """
        wanted = text.removesuffix(CUT).strip()
        if not wanted:
            return None
        numbers = [at for at, place in enumerate(self._places) if not sources or place.source in sources]
        for at in numbers:
            if wanted in self._places[at].text:
                return at
        best = _best([self._places[at].words for at in numbers], wanted, LEAST_CLAIM)
        return None if best is None else numbers[best]

    def in_source(self, source: str) -> tuple[int, ...]:
        """The numbers of a source's sentences, in order."""
        return tuple(at for at, place in enumerate(self._places) if place.source == source)

    def of_claim(self, claim: ClaimView) -> Iterator[int]:
        """The sentences that speak for or against a claim."""
        for witness in (*claim.support, *claim.against):
            place = self.of(witness.words, (witness.passage,)) if witness.words else None
            if place is not None:
                yield place

    def of_statement(self, statement: StatementView) -> Iterator[int]:
        """The sentence of each passage that makes a statement."""
        for passage in statement.passages:
            place = self.of(statement.text, (passage,))
            if place is not None:
                yield place


def mark_answer(
    text: str, scores: Sequence[ScoredAnswer], places: Places | None = None
) -> tuple[Stretch, ...]:
    """An answer in parts, each with its claim and the statements it covers or contradicts."""
    claims = [claim for score in scores for claim in read_claims(score.details)]
    statements = [statement for score in scores for statement in _statements(score)]
    parts = _parts(text)
    words = [_words(part) for part in parts]
    by_part = {_best(words, claim.text, LEAST_CLAIM): claim for claim in reversed(claims)}
    covers: dict[int | None, list[StatementView]] = {}
    contradicts: dict[int | None, StatementView] = {}
    for statement in statements:
        if statement.standing is Standing.COVERED:
            covers.setdefault(_best(words, statement.text, LEAST_STATEMENT), []).append(statement)
        elif statement.standing is Standing.CONTRADICTED and statement.instead:
            contradicts[_best(words, statement.instead, LEAST_CLAIM)] = statement
    return tuple(
        _stretch(part, by_part.get(at), covers.get(at, ()), contradicts.get(at), places)
        for at, part in enumerate(parts)
    )


def mark_passage(
    text: str, passage: str, scores: Sequence[ScoredAnswer], places: Places | None = None
) -> tuple[Found, ...]:
    """A passage in parts: its statements with the systems that cover and that miss them."""
    statements = tuple(_statement_spans(text, passage, scores))
    sentences = tuple(_sentence_spans(text, passage, places))
    ends = ((span.start, span.end) for span in (*statements, *sentences))
    cuts = sorted({0, len(text), *(cut for both in ends for cut in both)})
    parts = []
    for start, end in pairwise(cuts):
        statement = next((span for span in statements if span.start <= start < span.end), NOTHING)
        sentence = next((span for span in sentences if span.start <= start < span.end), NOTHING)
        parts.append(replace(statement.found, text=text[start:end], place=sentence.found.place))
    return tuple(parts)


@dataclass(frozen=True, slots=True)
class _Span:
    """Where in a text something was found."""

    start: int
    end: int
    found: Found


NOTHING = _Span(0, 0, Found(text=""))


def _statement_spans(text: str, passage: str, scores: Sequence[ScoredAnswer]) -> Iterator[_Span]:
    covered: dict[str, list[str]] = {}
    missed: dict[str, list[str]] = {}
    for score in scores:
        for view in _statements(score):
            if passage in view.passages:
                side = covered if view.standing is Standing.COVERED else missed
                names = side.setdefault(view.text, [])
                if score.system not in names:
                    names.append(score.system)
    done = 0
    for wording in sorted({*covered, *missed}, key=lambda wording: (text.find(wording), -len(wording))):
        at = text.find(wording, done)
        if at < 0 or not wording:
            continue
        done = at + len(wording)
        both = tuple(covered.get(wording, ())), tuple(missed.get(wording, ()))
        yield _Span(at, done, Found(text=wording, covered=both[0], missed=both[1]))


def _sentence_spans(text: str, source: str, places: Places | None) -> Iterator[_Span]:
    numbers = iter(() if places is None else places.in_source(source))
    done = 0
    for part in _parts(text):
        start, done = done, done + len(part)
        place = next(numbers, None) if part.strip() else None
        if place is not None:
            yield _Span(start, done, Found(text=part, place=place))


def _statements(score: ScoredAnswer) -> tuple[StatementView, ...]:
    return read_statements(score.details) if has_statements(score.details) else ()


def _stretch(
    part: str,
    claim: ClaimView | None,
    covers: Sequence[StatementView],
    contradicts: StatementView | None,
    places: Places | None,
) -> Stretch:
    found: list[int] = []
    if places is not None:
        found += () if claim is None else places.of_claim(claim)
        for statement in (*covers, *(() if contradicts is None else (contradicts,))):
            found += places.of_statement(statement)
    return Stretch(
        text=part,
        verdict=None if claim is None else claim.verdict,
        posterior=None if claim is None else claim.posterior,
        covers=tuple(dict.fromkeys(statement.text for statement in covers)),
        instead="" if contradicts is None else contradicts.text,
        places=tuple(dict.fromkeys(found)),
    )


def _parts(text: str) -> list[str]:
    """Sentences with the text between them: together they are the text."""
    parts: list[str] = []
    done = 0
    for sentence in split_sentences(text):
        at = text.find(sentence, done)
        if at < 0:
            continue
        if at > done:
            parts.append(text[done:at])
        parts.append(sentence)
        done = at + len(sentence)
    return [*parts, text[done:]] if done < len(text) else parts


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in WORD.findall(text.casefold()) if len(word) >= SHORT or word.isdecimal())


def _best(parts: Sequence[frozenset[str]], text: str, least: float) -> int | None:
    """The part that has most of a text's words; None where none has enough."""
    claim_words = _words(text)
    if not claim_words or not parts:
        return None
    shares = [len(claim_words & part) / len(claim_words) for part in parts]
    best = max(range(len(parts)), key=shares.__getitem__)
    return best if shares[best] >= least else None
