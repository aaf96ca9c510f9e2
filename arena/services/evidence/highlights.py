"""Claims and statements from metrics, and their places in answers."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from data.models import ENGINE
from data.store.scores import ScoredAnswer
from judges.metrics.relations.model import Scorer, Verdict, scorer_of, verdict_of
from judges.text.sentences import split_sentences


class _Stored(BaseModel):
    """Part of a score's stored details."""

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)


class Witness(_Stored):
    """Passage for or against a claim, with its probability and words."""

    passage: str
    probability: float
    words: str = Field(validation_alias="why")


class ClaimView(_Stored):
    """Claim of an answer with its posterior (0–1) and reason."""

    id: str
    text: str
    posterior: float
    reason: str
    support: tuple[Witness, ...] = Field(validation_alias="for")
    against: tuple[Witness, ...]

    @property
    def verdict(self) -> Verdict:
        """Verdict from the posterior."""
        return verdict_of(self.posterior)


def read_claims(details: Mapping[str, Any]) -> tuple[ClaimView, ...]:
    """Read the claims behind a factuality score that have posteriors."""
    return tuple(
        ClaimView.model_validate(claim) for claim in details.get("claims", ()) if "posterior" in claim
    )


def source_of(score: ScoredAnswer) -> Scorer:
    """Return the scorer of an answer with its accuracy."""
    return scorer_of(score.judge, str(score.details.get(ENGINE) or ""))


class Standing(StrEnum):
    """Relation of an answer to a statement of the passages, or to a fact of the reference."""

    BASIS = "misses"
    MISSING = "misses too"
    CONTRADICTED = "contradicts"
    PARTLY = "covers in part"
    COVERED = "covers"


class StatementView(_Stored):
    """Statement with its passages, and the contradicting words of the answer, if any."""

    text: str = ""
    passages: tuple[str, ...] = ()
    standing: Standing = Standing.COVERED
    instead: str = Field("", validation_alias="answer")


STATES: Mapping[str, Standing] = MappingProxyType(
    {"missing": Standing.BASIS, "partly": Standing.PARTLY, "covered": Standing.COVERED}
)


def read_statements(details: Mapping[str, Any]) -> tuple[StatementView, ...]:
    """Read the statements behind a score: contradicted, in the basis, missing, partly covered, covered."""
    if "facts" in details:
        facts = [_statement(fact["text"], STATES[fact["state"]]) for fact in details["facts"]]
        return tuple(fact for state in STATES.values() for fact in facts if fact.standing is state)
    if "covered" not in details:
        return ()
    basis = {_key(statement) for statement in details.get("basis", ())}
    contradicted = {_key(statement) for statement in details.get("contradicted", ())}
    missing = [row for row in details.get("missing", ()) if _key(row) not in contradicted]
    first = [row for row in missing if not basis or _key(row) in basis]
    rest = [row for row in missing if basis and _key(row) not in basis]
    return (
        *(_statement(row, Standing.CONTRADICTED) for row in details.get("contradicted", ())),
        *(_statement(row, Standing.BASIS) for row in first),
        *(_statement(row, Standing.MISSING) for row in rest),
        *(_statement(row, Standing.COVERED) for row in details["covered"]),
    )


def _key(statement: Mapping[str, Any] | str) -> str:
    return statement if isinstance(statement, str) else str(statement.get("id") or statement.get("text", ""))


def _statement(statement: Mapping[str, Any] | str, standing: Standing) -> StatementView:
    fields = {"text": statement} if isinstance(statement, str) else dict(statement)
    return StatementView.model_validate({**fields, "standing": standing})


WORD = re.compile(r"\w+")
CLOSED = re.compile("[.!?…\"'”’»)]*")
MAX_MARKS, MAX_BETWEEN = 60, 5
"""Maximum characters of markup or citations per word, and maximum words between two matches."""
MIN_CLAIM = 0.6
"""Minimum share of a claim's words that its sentence must contain."""
MIN_STATEMENT = 0.4
"""Minimum share of a covered statement's words in its sentence; answers paraphrase."""
SHORT = 3
"""Words with fewer letters are ignored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Part of an answer with its claim's verdict and posterior, and the statements that it covers.

    `instead` is the statement that it contradicts.
    """

    text: str
    verdict: Verdict | None = None
    posterior: float | None = None
    covers: tuple[str, ...] = ()
    instead: str = ""

    @property
    def marked(self) -> bool:
        """True if the part has a claim or statement."""
        return self.verdict is not None or bool(self.covers) or bool(self.instead)


def mark_answer(text: str, scores: Sequence[ScoredAnswer]) -> tuple[Stretch, ...]:
    """Split an answer into parts with their claims and statements; joined, they are the text."""
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
    parts: list[str] = []
    done = 0
    for sentence in split_sentences(text):
        at, end = _place(sentence, text, done)
        if at < 0:
            continue
        if at > done:
            parts.append(text[done:at])
        parts.append(text[at:end])
        done = end
    return [*parts, text[done:]] if done < len(text) else parts


def _place(sentence: str, text: str, start: int) -> tuple[int, int]:
    """Locate a sentence in a text, despite markup and citations between its words."""
    at = text.find(sentence, start)
    if at >= 0:
        return at, at + len(sentence)
    words = WORD.findall(sentence)
    written = list(WORD.finditer(text, start, start + len(sentence) + MAX_MARKS * (len(words) + 1)))
    for first, match in enumerate(written):
        place = first if words[:1] == [match[0]] else -2
        for word in words[1:] if place >= 0 else ():
            ahead = range(place + 1, min(place + 1 + MAX_BETWEEN, len(written)))
            place = next((number for number in ahead if written[number][0] == word), -2)
            if place < 0:
                break
        if place >= 0:
            closed = CLOSED.match(text, written[place].end())
            return match.start(), closed.end() if closed else written[place].end()
    return -1, -1


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in WORD.findall(text.casefold()) if len(word) >= SHORT or word.isdecimal())


def _best(parts: Sequence[frozenset[str]], text: str, least: float) -> int | None:
    """Return the part with the largest share of a text's words, if at least `least`."""
    claim_words = _words(text)
    if not claim_words or not parts:
        return None
    shares = [len(claim_words & part) / len(claim_words) for part in parts]
    best = max(range(len(parts)), key=shares.__getitem__)
    return best if shares[best] >= least else None
