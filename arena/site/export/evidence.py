"""One question's evidence as plain values for a page without scripts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from arena.services.evidence.claims import read_claims, told_by
from arena.services.evidence.coverage import Standing, read_statements
from arena.services.evidence.highlights import mark_answer, mark_passage
from arena.services.evidence.questions import AnswerView, QuestionView
from arena.services.evidence.reasons import Facts, Side, read_reasons
from arena.site.questions.answers import (
    answer_text,
    claim_list,
    in_order,
    label_of,
    statement_facts,
)
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
from data.records import BattleEvidence
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

    @property
    def folds(self) -> bool:
        """Whether there is more than the title."""
        return bool(self.facts or self.claims)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownAnswer:
    """An answer: its text with marks as HTML, empty where it is empty."""

    system: str
    is_reference: bool
    record: str
    text: str
    thinking: str
    scores: tuple[ShownScore, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSide:
    """What the embedded judge says of one side of a battle."""

    system: str
    figures: str
    facts: tuple[Facts, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownJudgment:
    """One judgment; `repeated` where its reasons are those before, `prose` is for those without sides."""

    order: str
    said: str
    repeated: bool
    sides: tuple[ShownSide, ...]
    yardstick: str
    prose: str
    provenance: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownBattle:
    """A battle: what came of it, what to know of that, and each judgment."""

    sentence: str
    chip: str
    remarks: tuple[str, ...]
    judgments: tuple[ShownJudgment, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPassage:
    """A passage with marks as HTML."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownQuestion:
    """Everything that a question's page shows."""

    id: str
    text: str
    facts: tuple[tuple[str, str], ...]
    answers: tuple[ShownAnswer, ...]
    battles: tuple[ShownBattle, ...]
    passages: tuple[ShownPassage, ...]


def shown_question(view: QuestionView) -> ShownQuestion:
    """Prepare a question for its page."""
    decided = sum(evidence.battle.preference is not None for evidence in view.battles)
    scores = [score for answer in view.answers for score in answer.scores]
    return ShownQuestion(
        id=view.question.id,
        text=view.question.question,
        facts=(
            ("domain", view.domain_label),
            ("question", view.question.id),
            ("answers", f"{len(view.answers)}"),
            ("battles decided", f"{decided} of {len(view.battles)}"),
        ),
        answers=tuple(map(_answer, view.answers)),
        battles=tuple(map(_battle, view.battles)),
        passages=tuple(
            ShownPassage(
                id=passage.id,
                title=passage.title or "Passage",
                text=as_html(passage_text(mark_passage(passage.text, passage.id, scores))),
            )
            for passage in view.question.passages
        ),
    )


def _answer(view: AnswerView) -> ShownAnswer:
    text = view.answer.answer
    return ShownAnswer(
        system=view.system,
        is_reference=view.is_reference,
        record=f"{view.wins} won · {view.ties} tied · {view.losses} lost",
        text=as_html(answer_text(mark_answer(text, view.scores))) if text else "",
        thinking=view.answer.thinking or "",
        scores=tuple(map(_score, in_order(view.scores))),
    )


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


def _battle(evidence: BattleEvidence) -> ShownBattle:
    battle = evidence.battle
    return ShownBattle(
        sentence=sentence_of(battle),
        chip=as_html(verdict_chip(battle)),
        remarks=tuple(remarks_of(battle)),
        judgments=tuple(_judgments(evidence)),
    )


def _judgments(evidence: BattleEvidence) -> Iterator[ShownJudgment]:
    battle, before = evidence.battle, ""
    for judgment in evidence.judgments:
        repeated = bool(before) and judgment.rationale == before
        reasons = None if repeated else read_reasons(judgment.rationale)
        named = () if reasons is None else ((battle.system_a, reasons.a), (battle.system_b, reasons.b))
        yield ShownJudgment(
            order=order_of(battle, judgment),
            said=said_of(battle, judgment),
            repeated=repeated,
            sides=tuple(_side(system, side) for system, side in named),
            yardstick="" if reasons is None else reasons.yardstick,
            prose=judgment.rationale or judgment.detail or "The judge left no rationale.",
            provenance=provenance_of(judgment),
        )
        before = judgment.rationale


def _side(system: str, side: Side) -> ShownSide:
    figures = f"Coverage {percent(side.coverage)}, padding {percent(side.padding)}."
    return ShownSide(
        system=system, figures=f"It gives {side.says}." if side.says else figures, facts=side.facts
    )
