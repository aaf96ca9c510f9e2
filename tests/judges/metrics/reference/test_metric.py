from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from data.files.question_sets.registry import load_set
from data.models import MetricItem, Preference, Question, Score
from judges.base import JudgeInput
from judges.catalogue import load_spec
from judges.lexical import LexicalJudge
from judges.metrics.reference.facts import facts_of, states_fact
from judges.metrics.reference.metric import Grade, State, completeness
from judges.text.sentences import split_sentences
from tests.cases import cases
from tests.judges.asking import embedded, item_of

scored = partial(embedded, "reference-coverage")
DEMO = Path(__file__).parents[4] / "data/sets/demo"
SPANS = Path(__file__).parents[4] / "../shared/data/qa_feedback/spans.jsonl"
ITEM = MetricItem(
    id="q",
    question="Tell me about the iron bridge.",
    answer="The iron bridge at Hallen was opened in 1905. It is painted green.",
    reference="The iron bridge at Hallen was opened in 1905. Two stone towers carry its heavy chains. "
    "A ferry crossed the river until then and carried letters.",
)


def states(item: MetricItem) -> list[str]:
    details: Any = scored(item).details
    return [fact["state"] for fact in details["facts"]]


def test_sentences_and_independent_clauses_are_facts() -> None:
    text = (
        "The old water mill burned down in March 1911; the town council of Hallen paid for a new one. "
        "It was tall; very tall."
    )
    assert [fact.text for fact in facts_of(text)] == [
        "The old water mill burned down in March 1911",
        "the town council of Hallen paid for a new one.",
        "It was tall; very tall.",
    ]


def test_sentence_without_statement_is_not_fact() -> None:
    text = (
        "# What to expect\n\nBetter early? Expect changes in four areas. There are several reasons:\n\n"
        "**Costs**\n- Rents rise by 4 % a year.\n- Wages stay as they are.\n"
    )
    assert [fact.text for fact in facts_of(text)] == ["Rents rise by 4 % a year.", "Wages stay as they are."]


def test_reference_of_introductions_is_unchanged() -> None:
    assert [fact.text for fact in facts_of("**Oslo**")] == ["Oslo"]
    assert facts_of(" \n ") == ()


def test_names_and_figures_count_twice() -> None:
    (fact,) = facts_of("The iron bridge at Hallen was opened in 1905.")
    assert fact.key == {"hallen", "#1905"}
    assert fact.figures == {"#1905"}


def test_answer_is_compared_with_every_fact() -> None:
    """One fact is stated, two are not: 1 / (1 + 1 + 1), with the answer's sentence as evidence."""
    result = scored(ITEM)
    details: Any = result.details
    assert states(ITEM) == ["covered", "missing", "missing"]
    assert details["facts"][0]["evidence"] == "The iron bridge at Hallen was opened in 1905."
    assert details["counts"] == {"facts": 3, "covered": 1, "partly": 0, "missing": 2}
    assert result.score == pytest.approx(1 / 3, abs=0.02)


def test_fact_without_figure_is_partly_covered() -> None:
    vague = replace(ITEM, answer="The iron bridge at Hallen was opened long ago.")
    details: Any = scored(vague).details
    assert (states(vague)[0], details["facts"][0]["share"]) == ("partly", pytest.approx(8 / 13, abs=0.01))


@pytest.mark.parametrize(("reference", "question", "right", "wrong"), cases(__file__, "facts_and_denials"))
def test_contradicted_fact_is_not_covered(reference: str, question: str, right: str, wrong: str) -> None:
    source = Question(id="q", domain="d", question=question, reference=reference)
    scores = [scored(item_of(source, answer)).score or 0.0 for answer in (right, wrong)]
    assert scores[0] > scores[1] < 1
    battle = JudgeInput(battle_id="", question=source, answer_a=right, answer_b=wrong)
    assert LexicalJudge(load_spec("lexical")).settle(battle).preference is Preference.A


@pytest.mark.slow
def test_copied_passages_score_low() -> None:
    questions = load_set(DEMO).questions.questions[::8]
    dumps = []
    for question in questions:
        answer = "\n\n".join(passage.text for passage in question.passages)
        dumps.append(scored(item_of(question, answer)).score or 0.0)
    assert np.mean(dumps) < 0.3


def test_completeness_matches_formula() -> None:
    """Covered, half covered and missing: 1 / (1 + ¼ + 1)."""
    grades = [Grade(State.COVERED, 1.0), Grade(State.PARTLY, 0.5), Grade(State.MISSING, 0.0)]
    assert completeness(grades) == pytest.approx(1 / 2.25)


@pytest.mark.parametrize(("covered", "score"), [(10, 1.0), (9, 0.9), (8, 0.8), (5, 0.5), (0, 0.0)])
def test_score_is_share_of_facts(covered: int, score: float) -> None:
    facts = split_sentences(
        "Granite cools slowly underground. Cheese ripens in caves. Lightning heats air. Violins need rosin. "
        "Paper yellows under sunlight. Honey keeps for centuries. Rubber comes from trees. Salt melts ice. "
        "Wool felts when washed hot. Ink fades."
    )
    item = replace(ITEM, reference=" ".join(facts), answer=" ".join(facts[:covered]) or "It rained all day.")
    result = scored(item)
    assert result.score == pytest.approx(score)
    assert result.details["completeness"] == pytest.approx(0 if not covered else 1 / (1 + missing(result)))


def missing(result: Score) -> float:
    details: Any = result.details
    return float(sum((1 - fact["share"]) ** 2 for fact in details["facts"]))


@pytest.mark.slow
def test_completeness_separates_incomplete_answers() -> None:
    """The AUC on half of QA-Feedback is at least .70; a plain computation gives the same scores."""
    if not SPANS.exists():
        pytest.skip("the shared data is not here")
    rows = [json.loads(line) for line in SPANS.read_text(encoding="utf-8").splitlines()]
    values, lacking = [], []
    for row in rows:
        item = MetricItem(
            id=row["id"], question=row["question"], answer=row["answer"], reference=row["reference"]
        )
        result = scored(item)
        details: Any = result.details
        if result.score is None:
            continue
        values.append(details["completeness"])
        lacking.append(bool(row["missing"]))
    scores, labels = np.array(values, dtype=float), np.array(lacking)
    above = mannwhitneyu(scores[~labels], scores[labels]).statistic
    assert above / labels.sum() / (~labels).sum() >= 0.7


@pytest.mark.parametrize(("sentence", "is_fact"), cases(__file__, "reports_list_what_states_a_fact"))
def test_reports_list_facts(sentence: str, *, is_fact: bool) -> None:
    assert states_fact(sentence) is is_fact
