"""Marks in an answer: its claims, and the statements that it covers.

Scores store claims and statements as texts of their own. A sentence of an answer is marked by the claim whose
words it has most of, and by the covered statements likewise. This is a reading aid, no part of any score.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from arena.services.evidence.statements import (
    ClaimView,
    Standing,
    StatementView,
    read_claims,
    read_statements,
)
from data.store.scores import ScoredAnswer
from judges.metrics.relations.model import Verdict
from judges.text.sentences import split_sentences

WORD = re.compile(r"\w+")
MIN_CLAIM = 0.6
"""Share of a claim's words that its sentence must have."""
MIN_STATEMENT = 0.4
"""Share of a covered statement's words that its sentence must have: answers say it in other words."""
SHORT = 3
"""Words with fewer letters say little of the content of a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A part of an answer, with its claim's verdict and posterior, and the statements it covers.

    `instead` is the statement that it contradicts; empty for none. All parts together are the text.
    """

    text: str
    verdict: Verdict | None = None
    posterior: float | None = None
    covers: tuple[str, ...] = ()
    instead: str = ""

    @property
    def marked(self) -> bool:
        """Whether anything is known of it."""
        return self.verdict is not None or bool(self.covers) or bool(self.instead)


def mark_answer(text: str, scores: Sequence[ScoredAnswer]) -> tuple[Stretch, ...]:
    """Part an answer, each part with its claim and the statements it covers or contradicts."""
    claims = [claim for score in scores for claim in read_claims(score.details)]
    parts = _parts(text)
    words = [_words(part) for part in parts]
    by_part = {_best(words, claim.text, MIN_CLAIM): claim for claim in reversed(claims)}
    covers: dict[int | None, list[str]] = {}
    contradicts: dict[int | None, StatementView] = {}
    for score in scores:
        for statement in read_statements(score.details):
            if statement.standing is Standing.COVERED:
                covers.setdefault(_best(words, statement.text, MIN_STATEMENT), []).append(statement.text)
            elif statement.standing is Standing.CONTRADICTED and statement.instead:
                contradicts[_best(words, statement.instead, MIN_CLAIM)] = statement
    return tuple(
        _stretch(part, by_part.get(at), covers.get(at, ()), contradicts.get(at))
        for at, part in enumerate(parts)
    )


def _stretch(
    part: str, claim: ClaimView | None, covers: Sequence[str], contradicts: StatementView | None
) -> Stretch:
    return Stretch(
        text=part,
        verdict=None if claim is None else claim.verdict,
        posterior=None if claim is None else claim.posterior,
        covers=tuple(dict.fromkeys(covers)),
        instead="" if contradicts is None else contradicts.text,
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
