"""Facts of a round for its board: answers, their style, order of presentation."""

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from arena.services.boards.metric_columns import HAS, column_metrics
from arena.services.rounds.models import questions_in
from arena.services.rounds.pairing import Sample, sampled
from data.declines import declines
from data.models import BattleColumns, JudgeKind, Round, SetSummary, Submission, SubmissionState
from data.models.questions import base_id
from data.store import Store
from data.store.scores import ScoredAnswer
from data.system_names import parameters_of
from judges.pairwise.cleaning import clean
from judges.pairwise.screening import has_content
from leaderboard.standings.answer_stats import AnswerFact, BoardQuestion
from leaderboard.standings.sections import TEXTS, Figure, Mean, SystemFacts
from leaderboard.standings.style import JudgeContext
from leaderboard.vocabulary import Covariate

EMBEDDED = "The embedded judge scores each answer separately, so the order cannot bias it."
UNREAD = "No LLM read a battle, so no order was used."
HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]++\S", re.MULTILINE)
BOLD = re.compile(r"\*\*[^*\n]++\*\*|__[^_\n]++__")
ITEM = re.compile(r"^[ \t]*+(?:[-*+•]|\d{1,3}[.)])[ \t]++\S", re.MULTILINE)
FENCED = re.compile(r"^ *(```|~~~).*?(?:\n *\1[^\n]*|\Z)", re.MULTILINE | re.DOTALL)
"""Fenced code; an unclosed fence lasts to the end."""


def style_features(text: str) -> Mapping[Covariate, int]:
    """Count headings, bold spans and list items in Markdown, outside fenced code.

    Source: Li, Angelopoulos & Chiang, "Does style matter?", LMSYS blog, 28 August 2024.
    """
    plain = FENCED.sub("", text)
    return _counts(
        len(HEADING.findall(plain)) if "#" in plain else 0,
        len(BOLD.findall(plain)) if "*" in plain or "_" in plain else 0,
        len(ITEM.findall(plain)) if "\n" in plain else int(ITEM.match(plain) is not None),
    )


def judge_context_of(store: Store, round_: Round, battles: BattleColumns) -> JudgeContext:
    """Return the order in which a round's judge read its judged battles."""
    if not any(_asks_llm(round_.judge)):
        return JudgeContext(no_position=EMBEDDED)
    position = store.verdicts.positions(round_.name)[battles.preference >= 0]
    # Battles that no LLM read, such as with an empty answer, have no order.
    return JudgeContext(
        position=None if np.isnan(position).all() else np.nan_to_num(position), no_position=UNREAD
    )


def _asks_llm(judge: Mapping[str, Any]) -> Iterator[bool]:
    yield judge["kind"] == JudgeKind.LLM
    for member in judge.get("members") or ():
        yield from _asks_llm(member)


@lru_cache(maxsize=4096)
def _counts(headings: int, bold: int, lists: int) -> Mapping[Covariate, int]:
    return MappingProxyType({Covariate.HEADINGS: headings, Covariate.BOLD: bold, Covariate.LISTS: lists})


ScoresByAnswer: TypeAlias = Mapping[tuple[int, str], Mapping[str, float | None]]
_NO_SCORES: Mapping[str, float | None] = MappingProxyType({})


def facts_of_systems(store: Store, entrants: Sequence[Submission]) -> Mapping[str, SystemFacts]:
    """Collect non-empty self-reported facts by system, without those of withdrawn submissions."""
    reports = {entrant.system: _self_reported(store, entrant) for entrant in entrants}
    return {name: facts for name, facts in sorted(reports.items()) if not facts.is_empty}


def _self_reported(store: Store, entrant: Submission) -> SystemFacts:
    if entrant.state is SubmissionState.WITHDRAWN:
        return SystemFacts()
    card = entrant.card
    figures = store.submissions.figures(entrant.id)
    return SystemFacts(
        texts={name: value for name in TEXTS if (value := getattr(card, name))},
        parameter_count=parameters_of(card.parameters),
        figures={
            Figure(name): Mean(mean, count) for name, (mean, count) in figures.items() if mean is not None
        },
        answers=entrant.answers,
    )


def questions_of(store: Store, round_: Round, summary: SetSummary) -> Mapping[str, BoardQuestion] | None:
    """Return the questions of a round's domains and sample by id; None for old rounds without a missing rule.

    A question whose reference declines counts as unanswerable.
    """
    if not round_.plan.get("missing"):
        return None
    numbered = questions_in(tuple(round_.plan.get("domains") or ()), summary, store.sets.numbered(summary.id))
    columns = column_metrics()

    @lru_cache
    def undefined(has: tuple[bool, ...]) -> frozenset[str]:
        available = dict(zip(HAS, has, strict=True))
        return frozenset(
            name
            for name, info in columns.items()
            if not all(available.get(need, True) for need in info.inputs)
        )

    return {
        base_id(question.id): BoardQuestion(
            domain=sys.intern(question.domain),
            answerable=question.answerable
            and not (question.reference and declines(question.reference, question.question)),
            undefined=undefined(tuple(has(question) for has in HAS.values())),
        )
        for _, question in sampled(numbered, Sample.parse(round_.plan.get("sample")), round_.seed)
    }


def facts_of_answers(
    store: Store, summary: SetSummary, entrants: Sequence[Submission]
) -> Mapping[str, Sequence[AnswerFact]]:
    """Return facts on the non-empty answers of systems and reference: length, form, scores."""
    sides = [store.submissions.reference(summary.name), *entrants]
    scores = _scores_by_answer(store.scores.of_submissions([side.id for side in sides]))
    # Share the ids between systems, since there are as many facts as answers.
    questions: dict[str, str] = {}
    return {side.system: list(_facts_of(store, side.id, scores, questions)) for side in sides}


def _facts_of(
    store: Store, number: int, scores: ScoresByAnswer, questions: dict[str, str]
) -> Iterator[AnswerFact]:
    for answer in store.submissions.facts(number):
        question = base_id(answer.question_id)
        question = questions.setdefault(question, question)
        text = clean(answer.text)
        if has_content(text):
            yield AnswerFact(
                question=question,
                domain=sys.intern(answer.domain),
                words=len(text.split()),
                no_answer=answer.no_answer,
                form=style_features(text),
                scores=scores.get((number, answer.question_id), _NO_SCORES),
            )


def _scores_by_answer(scored: Iterable[ScoredAnswer]) -> ScoresByAnswer:
    scores: dict[tuple[int, str], dict[str, float | None]] = defaultdict(dict)
    for answer in scored:
        name = score_label(answer.metric, answer.judge)
        scores[answer.submission, answer.question_id][name] = answer.score
    return scores


def score_label(metric: str, judge: str) -> str:
    """Return a metric's name on boards; an LLM's scores have their own, apart from embedded ones."""
    return f"{metric} {judge}".strip()
