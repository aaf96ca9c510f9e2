"""What coverage found: statements, aspects, sub-questions, and what the retrieved passages cover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from data.store.boards.scores import ScoredAnswer
from judges.metrics.context.subsets import Use


class Standing(StrEnum):
    """How an answer relates to a statement of the passages, or to a fact of the reference."""

    BASIS = "misses"
    MISSING = "misses too"
    CONTRADICTED = "contradicts"
    PARTLY = "covers in part"
    COVERED = "covers"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementView:
    """A statement of the passages or a fact of the reference.

    Where it is from, what the answer says instead, if anything, and the answer's words for it, if known.
    """

    text: str
    passages: tuple[str, ...]
    standing: Standing
    instead: str = ""
    evidence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactCell:
    """What one answer does with a fact of the reference, and its words for it; empty where there are none."""

    system: str
    standing: Standing
    evidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FactRow:
    """A fact of the reference with every answer that was scored."""

    text: str
    cells: tuple[FactCell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectCell:
    """Whether one answer covers one aspect, by which grounded claims, from which passages."""

    system: str
    covered: bool
    claims: tuple[str, ...]
    passages: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectRow:
    """An aspect with every answer that was scored."""

    text: str
    cells: tuple[AspectCell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubQuestionCell:
    """Whether one answer, and the context behind it, answer a sub-question; None where that is not known."""

    system: str
    answer: bool | None
    context: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubQuestionRow:
    """A sub-question; those that the passages cannot answer count nowhere."""

    text: str
    answerable: bool
    cells: tuple[SubQuestionCell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextView:
    """What the passages of one system's context are good for, and which it lacks.

    Attributes:
        coverage: The share of the answerable sub-questions that the context answers.
        uses: Its passages by what they are good for.
        missing: Passages of the question that would answer what the context does not.
        why_not: Why nothing is known; empty where something is.
    """

    system: str
    coverage: float | None = None
    uses: Mapping[Use, tuple[str, ...]]
    missing: tuple[str, ...] = ()
    why_not: str = ""


STATES: Mapping[str, Standing] = MappingProxyType(
    {"missing": Standing.BASIS, "partly": Standing.PARTLY, "covered": Standing.COVERED}
)
"""Of the facts of a reference."""


def has_statements(details: Mapping[str, Any]) -> bool:
    """Whether the details of a score name statements that its answer covers or misses."""
    return "covered" in details or "facts" in details


def read_statements(details: Mapping[str, Any]) -> tuple[StatementView, ...]:
    """The statements behind a score, each once: contradicted, basis, missing, partly covered, covered."""
    if "facts" in details:
        facts = [
            StatementView(
                text=str(fact["text"]),
                passages=(),
                standing=STATES[fact["state"]],
                evidence=str(fact["evidence"]),
            )
            for fact in details["facts"]
        ]
        return tuple(fact for state in STATES.values() for fact in facts if fact.standing is state)
    basis = [_key(statement) for statement in details.get("basis", ())]
    missing = details.get("missing", ())
    contradicted_keys = {_key(statement) for statement in details.get("contradicted", ())}
    first = [
        _statement(statement, Standing.BASIS)
        for statement in missing
        if _key(statement) in basis and _key(statement) not in contradicted_keys
    ]
    rest = [
        _statement(statement, Standing.BASIS if not basis else Standing.MISSING)
        for statement in missing
        if _key(statement) not in basis and _key(statement) not in contradicted_keys
    ]
    contradicted = [
        _statement(statement, Standing.CONTRADICTED) for statement in details.get("contradicted", ())
    ]
    covered = [_statement(statement, Standing.COVERED) for statement in details.get("covered", ())]
    return (*contradicted, *first, *rest, *covered)


def fact_grid(scores: Sequence[ScoredAnswer]) -> tuple[FactRow, ...]:
    """The facts of the reference by answers, in its order, from the scores of one question's answers."""
    rows: dict[str, list[FactCell]] = {}
    for score in scores:
        for fact in score.details.get("facts", ()):
            cell = FactCell(
                system=score.system, standing=STATES[fact["state"]], evidence=str(fact["evidence"])
            )
            rows.setdefault(str(fact["text"]), []).append(cell)
    return tuple(FactRow(text=text, cells=tuple(cells)) for text, cells in rows.items())


def aspect_grid(scores: Sequence[ScoredAnswer]) -> tuple[AspectRow, ...]:
    """Aspects by answers, from the coverage scores of one question's answers."""
    rows: dict[str, list[AspectCell]] = {}
    for score in scores:
        claims = {claim["id"]: str(claim["text"]) for claim in score.details.get("claims", ())}
        for aspect in score.details.get("aspects", ()):
            rows.setdefault(str(aspect["text"]), []).append(
                AspectCell(
                    system=score.system,
                    covered=bool(aspect["covered"]),
                    claims=tuple(claims[name] for name in aspect["claims"] if name in claims),
                    passages=tuple(map(str, aspect["passages"])),
                )
            )
    return tuple(AspectRow(text=text, cells=tuple(cells)) for text, cells in rows.items())


def sub_question_grid(
    answers: Sequence[ScoredAnswer], contexts: Sequence[ScoredAnswer]
) -> tuple[SubQuestionRow, ...]:
    """Sub-questions by answers, from the CRUX scores of one question's answers and contexts."""
    answer_details = {score.system: score.details for score in answers if score.score is not None}
    context_details = {score.system: score.details for score in contexts if score.score is not None}
    texts: dict[str, bool] = {}
    for details in (*answer_details.values(), *context_details.values()):
        for number, text in enumerate(details["sub_questions"]):
            texts[str(text)] = texts.get(str(text), False) or number in details["answerable"]
    systems = tuple(dict.fromkeys((*answer_details, *context_details)))
    return tuple(
        SubQuestionRow(
            text=text,
            answerable=answerable,
            cells=tuple(
                SubQuestionCell(
                    system=system,
                    answer=_answered(answer_details.get(system), text),
                    context=_answered(context_details.get(system), text),
                )
                for system in systems
            ),
        )
        for text, answerable in texts.items()
    )


def read_context(score: ScoredAnswer) -> ContextView:
    """What a context score says of the passages that a system was given."""
    if score.score is None:
        return ContextView(system=score.system, uses={}, why_not=str(score.details.get("reason", "")))
    uses: dict[Use, list[str]] = {use: [] for use in Use}
    for entry in score.details.get("uses", ()):
        uses[Use(entry["use"])].append(str(entry["passage"]))
    return ContextView(
        system=score.system,
        coverage=score.score,
        uses={use: tuple(names) for use, names in uses.items()},
        missing=tuple(map(str, score.details.get("missing_passages", ()))),
    )


def _answered(details: Mapping[str, Any] | None, text: str) -> bool | None:
    if details is None or text not in details["sub_questions"]:
        return None
    return list(details["sub_questions"]).index(text) in details["answered"]


def _key(statement: Mapping[str, Any] | str) -> str:
    return statement if isinstance(statement, str) else str(statement.get("id") or statement.get("text", ""))


def _statement(statement: Mapping[str, Any] | str, standing: Standing) -> StatementView:
    if isinstance(statement, str):
        return StatementView(text=statement, passages=(), standing=standing)
    return StatementView(
        text=str(statement.get("text", "")),
        passages=tuple(map(str, statement.get("passages", ()))),
        standing=standing,
        instead=str(statement.get("answer", "")),
    )
