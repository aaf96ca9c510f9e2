"""Claims of an answer, and statements of passages or facts of the reference that it covers or misses."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from data.models import ENGINE
from data.store.scores import ScoredAnswer
from judges.metrics.relations.model import Scorer, Verdict, scorer_of, verdict_of


class _Stored(BaseModel):
    """A part of a score's details, as the metric left it."""

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)


class Witness(_Stored):
    """A passage for or against a claim: how surely it says so, and its words."""

    passage: str
    probability: float
    words: str = Field(validation_alias="why")


class ClaimView(_Stored):
    """A claim of an answer with its posterior (0–1) and the reason in a sentence."""

    id: str
    text: str
    posterior: float
    reason: str
    support: tuple[Witness, ...] = Field(validation_alias="for")
    against: tuple[Witness, ...]

    @property
    def verdict(self) -> Verdict:
        """Supported or contradicted only where the scorer is sure of it."""
        return verdict_of(self.posterior)


def read_claims(details: Mapping[str, Any]) -> tuple[ClaimView, ...]:
    """Read the claims behind a factuality score; none where it has no posteriors."""
    return tuple(
        ClaimView.model_validate(claim) for claim in details.get("claims", ()) if "posterior" in claim
    )


def source_of(score: ScoredAnswer) -> Scorer:
    """Name the scorer of an answer, and how often it is right."""
    return scorer_of(score.judge, str(score.details.get(ENGINE) or ""))


class Standing(StrEnum):
    """Relation of an answer to a statement of the passages, or to a fact of the reference."""

    BASIS = "misses"
    MISSING = "misses too"
    CONTRADICTED = "contradicts"
    PARTLY = "covers in part"
    COVERED = "covers"


class StatementView(_Stored):
    """A statement with its passages, and the answer's words instead of it, if any."""

    text: str = ""
    passages: tuple[str, ...] = ()
    standing: Standing = Standing.COVERED
    instead: str = Field("", validation_alias="answer")


STATES: Mapping[str, Standing] = MappingProxyType(
    {"missing": Standing.BASIS, "partly": Standing.PARTLY, "covered": Standing.COVERED}
)


def read_statements(details: Mapping[str, Any]) -> tuple[StatementView, ...]:
    """Read the statements behind a score, each once: contradicted, basis, missing, in part, covered."""
    if "facts" in details:
        facts = [_statement(fact["text"], STATES[fact["state"]]) for fact in details["facts"]]
        return tuple(fact for state in STATES.values() for fact in facts if fact.standing is state)
    if "covered" not in details:
        return ()
    basis = {_key(statement) for statement in details.get("basis", ())}
    contradicted = {_key(statement) for statement in details.get("contradicted", ())}
    missing = [one for one in details.get("missing", ()) if _key(one) not in contradicted]
    first = [one for one in missing if not basis or _key(one) in basis]
    rest = [one for one in missing if basis and _key(one) not in basis]
    return (
        *(_statement(one, Standing.CONTRADICTED) for one in details.get("contradicted", ())),
        *(_statement(one, Standing.BASIS) for one in first),
        *(_statement(one, Standing.MISSING) for one in rest),
        *(_statement(one, Standing.COVERED) for one in details["covered"]),
    )


def _key(statement: Mapping[str, Any] | str) -> str:
    return statement if isinstance(statement, str) else str(statement.get("id") or statement.get("text", ""))


def _statement(statement: Mapping[str, Any] | str, standing: Standing) -> StatementView:
    fields = {"text": statement} if isinstance(statement, str) else dict(statement)
    return StatementView.model_validate({**fields, "standing": standing})
