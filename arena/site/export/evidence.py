"""What the page of a question says of the records that its template goes through."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from arena.services.evidence.claims import read_claims, told_by
from arena.services.evidence.coverage import Standing, read_statements
from arena.services.evidence.highlights import mark_answer, mark_passage
from arena.services.evidence.questions import AnswerView, QuestionView
from arena.services.evidence.reasons import Facts, read_reasons
from arena.site.questions.answers import answer_text, claim_list, in_order, label_of, statement_facts
from arena.site.questions.battles import (
    order_of,
    provenance_of,
    remarks_of,
    said_of,
    sentence_of,
    verdict_chip,
)
from arena.site.questions.sources import passage_text
from arena.site.ui.formats import percent
from arena.site.ui.markup import as_html
from data.records import BattleRecord, Passage
from data.store.boards.scores import ScoredAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownScore:
    """A score with what it rests on: facts by kind, or claims as HTML; neither where nothing is known.

    `note` says who told.
    """

    title: str
    note: str = ""
    facts: tuple[Facts, ...] = ()
    claims: str = ""


def _answer(view: AnswerView) -> str:
    """The answer with its marks; empty where it is empty."""
    text = view.answer.answer
    return as_html(answer_text(mark_answer(text, view.scores))) if text else ""


def _passage(passage: Passage, view: QuestionView) -> str:
    """A passage with what the answers cover of it marked."""
    scores = [score for answer in view.answers for score in answer.scores]
    return as_html(passage_text(mark_passage(passage.text, passage.id, scores)))


def _chip(battle: BattleRecord) -> str:
    return as_html(verdict_chip(battle))


def _scores(view: AnswerView) -> list[ShownScore]:
    return [_score(score) for score in in_order(view.scores)]


def _score(score: ScoredAnswer) -> ShownScore:
    if score.score is None:
        reason = str(score.details.get("reason", ""))
        return ShownScore(title=f"{label_of(score)}: no score ({score.outcome}). {reason}".strip())
    title = f"{label_of(score)} {percent(score.score)}"
    statements = read_statements(score.details) if "covered" in score.details else ()
    if statements:
        contradicted = any(statement.standing is Standing.CONTRADICTED for statement in statements)
        note = told_by(score).contradictions if contradicted else ""
        return ShownScore(title=title, note=note, facts=tuple(statement_facts(statements)))
    claims = read_claims(score.details)
    if not claims:
        return ShownScore(title=title)
    return ShownScore(title=title, note=told_by(score).right, claims=as_html(claim_list(claims)))


WORDS: Mapping[str, Callable[..., object]] = MappingProxyType(
    {
        "answer_html": _answer,
        "passage_html": _passage,
        "chip_html": _chip,
        "scores_of": _scores,
        "sentence_of": sentence_of,
        "remarks_of": remarks_of,
        "order_of": order_of,
        "said_of": said_of,
        "reasons_of": read_reasons,
        "provenance_of": provenance_of,
        "percent": percent,
    }
)
"""What the template asks, by the names that it has there; what ends in `_html` is escaped already."""
