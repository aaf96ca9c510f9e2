"""Where in an answer its claims and covered statements are, and where in a passage what was missed.

Scores store claims and statements as texts of their own. A sentence of an answer is marked by the claim whose
words it has most of, and by the covered statements likewise; this is a reading aid, no part of
any score.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from arena.services.evidence.claims import ClaimView, read_claims
from arena.services.evidence.coverage import Standing, StatementView, read_statements
from data.store.boards.scores import ScoredAnswer
from judges.metrics.factuality.measures import Label
from judges.text.sentences import split_sentences

WORD = re.compile(r"\w+")
LEAST_CLAIM = 0.6
"""Share of a claim's words that its sentence must have."""
LEAST_STATEMENT = 0.4
"""Share of a covered statement's words that its sentence must have: answers say it in other words."""
SHORT = 3
"""Words with fewer letters say little of what a sentence is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A part of a text with what is known of it.

    Attributes:
        text: The part; all parts together are the text.
        label: Whether its claim is supported; None where it has no claim.
        posterior: Of that claim, 0–1.
        covers: Statements of the passages that it covers.
        instead: The statement that it contradicts; empty for none.
    """

    text: str
    label: Label | None = None
    posterior: float | None = None
    covers: tuple[str, ...] = ()
    instead: str = ""

    @property
    def marked(self) -> bool:
        """Whether anything is known of it."""
        return self.label is not None or bool(self.covers) or bool(self.instead)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A part of a passage: a statement that so many answers cover and miss; both 0 for the rest."""

    text: str
    covered: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()


def mark_answer(text: str, scores: Sequence[ScoredAnswer]) -> tuple[Stretch, ...]:
    """An answer in parts, each with its claim and the statements it covers or contradicts."""
    claims = [claim for score in scores for claim in read_claims(score.details)]
    statements = [statement for score in scores for statement in _statements(score)]
    parts = _parts(text)
    words = [_words(part) for part in parts]
    by_part = {_best(words, claim.text, LEAST_CLAIM): claim for claim in reversed(claims)}
    covers: dict[int | None, list[str]] = {}
    contradicts: dict[int | None, str] = {}
    for statement in statements:
        if statement.standing is Standing.COVERED:
            covers.setdefault(_best(words, statement.text, LEAST_STATEMENT), []).append(statement.text)
        elif statement.standing is Standing.CONTRADICTED and statement.instead:
            contradicts[_best(words, statement.instead, LEAST_CLAIM)] = statement.text
    return tuple(
        _stretch(part, by_part.get(at), tuple(dict.fromkeys(covers.get(at, ()))), contradicts.get(at, ""))
        for at, part in enumerate(parts)
    )


def mark_passage(text: str, passage: str, scores: Sequence[ScoredAnswer]) -> tuple[Found, ...]:
    """A passage in parts: its statements with the systems that cover and that miss them."""
    covered: dict[str, list[str]] = {}
    missed: dict[str, list[str]] = {}
    for score in scores:
        for view in _statements(score):
            if passage in view.passages:
                side = covered if view.standing is Standing.COVERED else missed
                names = side.setdefault(view.text, [])
                if score.system not in names:
                    names.append(score.system)
    statements = sorted({*covered, *missed}, key=lambda wording: (text.find(wording), -len(wording)))
    parts: list[Found] = []
    done = 0
    for statement in statements:
        at = text.find(statement, done)
        if at < 0:
            continue
        if at > done:
            parts.append(Found(text=text[done:at]))
        done = at + len(statement)
        both = tuple(covered.get(statement, ())), tuple(missed.get(statement, ()))
        parts.append(Found(text=statement, covered=both[0], missed=both[1]))
    return (*parts, Found(text=text[done:])) if done < len(text) else tuple(parts)


def _statements(score: ScoredAnswer) -> tuple[StatementView, ...]:
    return read_statements(score.details) if "covered" in score.details else ()


def _stretch(part: str, claim: ClaimView | None, covers: tuple[str, ...], instead: str) -> Stretch:
    return Stretch(
        text=part,
        label=None if claim is None else claim.label,
        posterior=None if claim is None else claim.posterior,
        covers=covers,
        instead=instead,
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
