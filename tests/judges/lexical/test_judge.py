from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from data.errors import SpecError
from data.files.question_sets.registry import load_set
from data.models import (
    OrderPolicy,
    Outcome,
    Passage,
    Preference,
    Presentation,
    Question,
    QuestionSet,
    Verdict,
)
from judges.base import JudgeInput
from judges.catalogue import load_spec
from judges.lexical import LexicalJudge
from judges.lexical.judge import in_both_orders
from judges.spec import JudgeSpec
from tests.cheap_tricks import DAMAGED, MADE, Material, families, play
from tests.narrow import known


def spec_of(**changes: Any) -> JudgeSpec:  # noqa: ANN401 - fields of the spec
    return load_spec("lexical").model_copy(update={"order": OrderPolicy.PAPER, **changes})


PASSAGES = (
    Passage(
        "p1",
        "The Eiffel Tower was finished in 1889 for the World's Fair. It is 330 metres tall. "
        "Gustave Eiffel's company designed it.",
        "Eiffel Tower",
    ),
    Passage(
        "p2", "About seven million people visit the tower each year. The paint is renewed every seven years."
    ),
    Passage("p3", "Basil likes warm soil. Water it in the morning."),
)
QUESTION = Question(
    id="q1",
    domain="travel",
    question="What should I know about the Eiffel Tower?",
    passages=PASSAGES,
    reference="The Eiffel Tower, finished in 1889, is 330 metres tall with seven million visitors a year.",
)
WITHOUT_PASSAGES = Question(
    id="q2", domain="travel", question=QUESTION.question, reference=QUESTION.reference
)
COMPLETE = (
    "Finished in 1889 for the World's Fair, the Eiffel Tower is 330 metres tall. It was designed by Gustave "
    "Eiffel's company, is painted every seven years, and about seven million people visit it each year."
)
SHORT = "The Eiffel Tower is 330 metres tall."
WRONG = COMPLETE.replace("1889", "1925").replace("330", "210")
NONE = "I couldn't find an answer."


@lru_cache(maxsize=1)
def judge() -> LexicalJudge:
    return LexicalJudge(spec_of())


def settle(a: str, b: str, question: Question = QUESTION, side: str | None = None) -> Verdict:
    judge_input = JudgeInput(battle_id="x", question=question, answer_a=a, answer_b=b, reference_side=side)
    return judge().settle(judge_input)


@pytest.mark.parametrize(
    ("better", "worse"),
    [(COMPLETE, SHORT), (COMPLETE, WRONG), (SHORT, NONE), (SHORT, ""), (SHORT, " \n"), (WRONG, "…")],
)
@pytest.mark.parametrize("question", [QUESTION, WITHOUT_PASSAGES])
def test_more_complete_and_correct_answer_wins(better: str, worse: str, question: Question) -> None:
    first, second = settle(better, worse, question), settle(worse, better, question)
    assert (first.preference, second.preference) == (Preference.A, Preference.B)
    margin = known(second.judgments[0].margin)
    assert first.judgments[0].margin == -margin < 0


@pytest.mark.parametrize(("a", "b"), [("", NONE), (NONE, NONE), (COMPLETE, COMPLETE), (SHORT, f" {SHORT} ")])
def test_equal_and_empty_answers_tie(a: str, b: str) -> None:
    verdict = settle(a, b)
    assert verdict.preference is Preference.TIE
    assert verdict.judgments[0].margin == 0


SILENT = ("Unanswerable.", "Not found in provided context.", "I don't know.", "The passages do not say.")
INVENTED = "The mayor of Quill is Anna Petrov, who was elected in 2019."


@pytest.mark.parametrize("reference", SILENT)
def test_refusal_wins_if_reference_declines(reference: str) -> None:
    question = Question(id="q", domain="d", question="Who is the mayor of Quill?", reference=reference)
    for decline in (reference, NONE):
        assert settle(decline, INVENTED, question).preference is Preference.A
        assert settle(INVENTED, decline, question).preference is Preference.B
        assert settle(decline, "", question).preference is Preference.A
        assert settle(decline, SILENT[0], question).preference is Preference.TIE
    assert settle(INVENTED, "", question).preference is Preference.A
    # The reference as an opponent is correct too.
    assert settle(INVENTED, reference, question, side="b").preference is Preference.B


GOLDEN = Path(__file__).parents[2] / "golden"
CONTRADICTIONS = [json.loads(line) for line in (GOLDEN / "contradictions.jsonl").read_text().splitlines()]
"""Short answers that contradict a fact of the reference, longer ones that cover it; half are held out."""


@pytest.mark.parametrize(
    ("answer", "winner"),
    [
        ("The Eiffel Tower is 330 metres tall.", Preference.A),
        ("About seven million people visit it each year; Eiffel's company built it.", Preference.A),
        ("Its mayor, Anna Petrov, was elected in 2019 by a large majority.", Preference.TIE),
        ("It has 12 lifts made in Ohio.", Preference.TIE),
        ("You should know about the Eiffel Tower.", Preference.TIE),
    ],
)
def test_unsupported_answer_does_not_beat_refusal(answer: str, winner: Preference) -> None:
    question = replace(QUESTION, reference=None)
    assert settle(answer, NONE, question).preference is winner
    assert settle(NONE, answer, question).preference is winner.flipped
    assert settle(answer, "", question).preference is Preference.A
    assert settle(answer, NONE).preference is Preference.A


@pytest.mark.parametrize("half", ["built", "held"])
def test_covered_fact_beats_contradicted_fact(half: str) -> None:
    rows = [row for row in CONTRADICTIONS if row["half"] == half]
    assert len(rows) == 30
    wrong = []
    for row in rows:
        question = Question(id="q", domain="d", question=row["question"], reference=row["reference"])
        if settle(row["contradicts"], row["covers"], question).preference is not Preference.B:
            wrong.append(row["id"])
    assert len(wrong) <= 3, wrong


@pytest.mark.parametrize(
    ("better", "worse", "term"),
    [
        (COMPLETE, COMPLETE.replace("1889", "1925"), "contradictions"),
        (COMPLETE, SHORT, "facts covered"),
        (SHORT, f"{SHORT} Tickets can be bought online, and the queue is long in July.", "padding"),
        (COMPLETE, COMPLETE, ""),
    ],
)
def test_reasons_name_decisive_term(better: str, worse: str, term: str) -> None:
    for a, b in ((better, worse), (worse, better)):
        assert json.loads(settle(a, b).judgments[0].rationale)["decided_by"] == term


def test_correct_answer_wins_first_demo_question() -> None:
    questions, answers = _demo()
    assert questions.questions[0].id == "bio-1"
    assert _wins(0, answers[BEST]["bio-1"], answers[WORST]["bio-1"])


def test_two_more_covered_facts_outweigh_contradiction() -> None:
    facts = (
        "Adults may take 4 grams of paracetamol in one day.",
        "Overdose damages the liver without early symptoms.",
        "Alcohol makes the damage worse.",
        "Acetylcysteine is the antidote.",
    )
    question = Question(id="q", domain="d", question="What must users know?", reference=" ".join(facts))
    wrong = facts[0].replace("4", "8")
    right = f"{facts[0]} Pharmacies sell it in tablets, syrups and sachets of many brands and colours."
    listed = " ".join(sorted(str(question.reference).split()))
    assert settle(f"{wrong} {facts[1]}", right, question).preference is Preference.B
    assert settle(" ".join((wrong, *facts[1:])), right, question).preference is Preference.A
    # A list of words covers every fact without being an answer.
    assert settle(f"{wrong} {facts[1]}", listed, question).preference is Preference.A


def test_reference_cannot_be_opponent_and_ground_truth() -> None:
    verdict = settle(str(QUESTION.reference), SHORT, WITHOUT_PASSAGES, side="a")
    assert verdict.outcome is Outcome.UNREADABLE
    assert "opponent" in verdict.detail
    assert settle(str(QUESTION.reference), SHORT, side="a").outcome is Outcome.JUDGED


@pytest.mark.parametrize("reference", ["Yes.", "No", "Oui", "Zero."])
def test_reference_of_common_words_decides(reference: str) -> None:
    question = Question(id="q4", domain="d", question="Is Quill older than Orr?", reference=reference)
    assert settle(f"{reference.rstrip('.')}, it is said so.", "Perhaps it is.", question).preference == "a"
    assert settle(reference, reference.lower(), question).preference is Preference.TIE


@pytest.mark.parametrize("reference", [None, "", "?!"])
def test_question_without_ground_truth_is_unreadable(reference: str | None) -> None:
    bare = Question(id="q3", domain="d", question="Why?", reference=reference)
    verdict = settle(COMPLETE, SHORT, bare)
    assert verdict.outcome is Outcome.UNREADABLE
    assert verdict.detail


def test_reasons_list_covered_missed_and_extra_facts() -> None:
    judgment = settle(WRONG, SHORT, side="b").judgments[0]
    reasons = json.loads(judgment.rationale)
    assert reasons["yardstick"] == "passages"
    assert {fact["passage"] for fact in reasons["b"]["missed"]} >= {"p1", "p2"}
    assert {"text": "It is 330 metres tall.", "passage": "p1"} in reasons["b"]["covered"]
    assert reasons["a"]["beyond"]
    assert (judgment.model, judgment.presentation, judgment.calls) == ("lexical-7", Presentation.A_FIRST, 0)


@pytest.mark.parametrize(
    ("a", "b"), [(COMPLETE, SHORT), (SHORT, WRONG), (f"{SHORT} Basil likes rain.", SHORT)]
)
@pytest.mark.parametrize("side", [None, "b"])
def test_parts_sum_to_margin(a: str, b: str, side: str | None) -> None:
    judgment = settle(a, b, side=side).judgments[0]
    parts = json.loads(judgment.rationale)["parts"]
    assert judgment.margin is not None
    assert sum(part["b"] - part["a"] for part in parts) == pytest.approx(judgment.margin, abs=1e-9)


def test_judgment_stores_its_ground_truth() -> None:
    without_reference = Question(id="q4", domain="d", question=QUESTION.question, passages=PASSAGES)
    settled = (
        settle(COMPLETE, SHORT),
        settle(COMPLETE, SHORT, side="a"),
        settle(COMPLETE, SHORT, without_reference),
    )
    stored = [json.loads(verdict.judgments[0].settings)["yardstick"] for verdict in settled]
    assert stored == ["reference", "passages", "passages"]


def test_unsupported_language_reports_advice() -> None:
    korean = Question(id="q5", domain="d", question="왜?", reference="에펠탑은 330미터이다.", language="ko")
    verdict = settle("에펠탑은 330미터이다.", "모른다고 한다.", korean)
    assert verdict.outcome is Outcome.UNREADABLE
    assert "set.toml" in verdict.detail


def test_verdict_does_not_depend_on_earlier_verdicts() -> None:
    busy = LexicalJudge(spec_of())
    for other in ("Paris.", WRONG, NONE):
        busy.settle(JudgeInput(battle_id="y", question=QUESTION, answer_a=other, answer_b=SHORT))
    judge_input = JudgeInput(battle_id="x", question=QUESTION, answer_a=COMPLETE, answer_b=WRONG)
    assert busy.settle(judge_input) == LexicalJudge(spec_of()).settle(judge_input)


def test_both_orders_are_judged_if_requested() -> None:
    judge = LexicalJudge(spec_of(order=OrderPolicy.BOTH))
    once = LexicalJudge(spec_of())
    for side in (None, "a", "b"):
        judge_input = JudgeInput(
            battle_id="x", question=QUESTION, answer_a=COMPLETE, answer_b=WRONG, reference_side=side
        )
        verdict, plain = judge.settle(judge_input), once.settle(judge_input)
        first, again = verdict.judgments
        assert (verdict.preference, verdict.flipped) == (plain.preference, False)
        assert plain.flipped is None
        assert (first.presentation, again.presentation) == (Presentation.A_FIRST, Presentation.B_FIRST)
        assert again.preference is first.preference
        assert (again.margin, again.rationale) == (first.margin, first.rationale)


def test_disagreeing_orders_tie() -> None:
    verdict = in_both_orders(settle(COMPLETE, WRONG), settle(COMPLETE, WRONG))
    assert (verdict.preference, verdict.flipped) == (Preference.TIE, True)
    assert verdict.judgments[1].preference is Preference.B


@pytest.mark.parametrize("lexical", [{"balence": 1.0}, {"tie_band": -1}, {"scale": "wide"}])
def test_settings_are_checked(lexical: dict[str, float]) -> None:
    with pytest.raises(SpecError, match=next(iter(lexical))):
        LexicalJudge(spec_of(lexical=lexical))


BUILT, TALL = "The tower was built in 1889 by Gustave Eiffel.", "It is 330 metres tall."
STATED = replace(WITHOUT_PASSAGES, reference=f"Yes. {BUILT} {TALL}")
FALSE = (BUILT.replace("18", "19"), "Gustave Eiffel was built by the tower.")
LISTS = st.lists(st.sampled_from([BUILT, TALL, *FALSE, "It is.", "No."]), max_size=5)
PAIRS = LISTS.flatmap(lambda own: st.tuples(st.just(own), st.permutations(own) | LISTS))


@given(
    st.lists(st.text(max_size=200), min_size=2, max_size=2) | PAIRS.map(lambda pair: [*map(" ".join, pair)])
)
@example([f"{BUILT} No. {TALL}", f"{TALL} No. {BUILT}"])
@example(["It is.", f"No. {FALSE[0]} {FALSE[0]}"])
def test_any_two_texts_get_mirrored_verdicts(texts: list[str]) -> None:
    for question in (QUESTION, STATED):
        flipped = settle(texts[1], texts[0], question).preference
        assert flipped is not None
        assert settle(texts[0], texts[1], question).preference is flipped.flipped


TRANSLATED = json.loads((GOLDEN / "translated.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("code", ["de", "es", "fr", "ja"])
def test_correct_answers_win_in_each_language(code: str) -> None:
    """Over poor answers, answers to other questions, and lists of the reference's words."""
    rows = TRANSLATED[code]
    assert len(rows) == 8
    for row, other in zip(rows, [*rows[1:], rows[0]], strict=True):
        text = row["reference"]
        listed = " ".join(reversed(text.split())) if " " in text else text[::-1]
        question = Question(id="q", domain="d", question=row["question"], reference=text, language=code)
        for worse in (row["poor"], other["good"], listed):
            assert settle(row["good"], worse, question).preference is Preference.A, (row["id"], worse)


DEMO = Path(__file__).parents[3] / "data/sets/demo"
BEST = "meridian"
WORST = "slipshod"
MAX_WINS = 0.05
FURTHER = 7
"""Questions between an answer and the question that it is paired with."""


@lru_cache(maxsize=1)
def _demo() -> tuple[QuestionSet, Mapping[str, Mapping[str, str]]]:
    files = (DEMO / "answers").glob("*.jsonl")
    rows = {file.stem: map(json.loads, file.read_text(encoding="utf-8").splitlines()) for file in files}
    answers = {name: {row["question_id"]: row["answer"] for row in group} for name, group in rows.items()}
    return load_set(DEMO).questions, answers


def _wins(number: int, text: str, opponent: str, *, reference: bool = False) -> bool:
    question = _demo()[0].questions[number]
    return settle(text, opponent, question, "b" if reference else None).preference is Preference.A


@pytest.mark.slow
def test_judge_agrees_with_careful_readers_on_demo_set() -> None:
    """At least 86 % of the 511 pairs are decided as the authors of the answers noted."""
    questions, answers = _demo()
    places = {question.id: number for number, question in enumerate(questions.questions)}
    agreements = []
    for line in (GOLDEN / "demo_expected.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        number = places[row["question_id"]]
        own = {name: texts[row["question_id"]] for name, texts in answers.items()}
        own["reference"] = str(questions.questions[number].reference)
        for winner, loser in row["pairs"]:
            # The reference wins if the other side does not.
            turned = winner == "reference"
            first, second = (loser, winner) if turned else (winner, loser)
            question = questions.questions[number]
            side = "b" if second == "reference" else None
            expected = Preference.B if turned else Preference.A
            agreements.append(settle(own[first], own[second], question, side).preference is expected)
    assert len(agreements) == 511
    assert sum(agreements) / len(agreements) >= 0.86


@pytest.mark.slow
@pytest.mark.parametrize("family", families())
def test_cheap_tricks_do_not_win(family: str) -> None:
    questions, answers = _demo()
    against_best = against_reference = honest = 0
    for number, question in enumerate(questions.questions):
        following = questions.questions[(number + FURTHER) % len(questions.questions)]
        best = answers[BEST][question.id]
        material = Material(
            question=question,
            honest=best,
            wrong=answers[WORST][question.id],
            other=answers[BEST][following.id],
            foreign=tuple(passage.text for other in questions.questions[:8] for passage in other.passages),
            seed=question.id,
        )
        text = play(family, material)
        if text:
            reference = str(question.reference)
            against_best += _wins(number, text, best)
            against_reference += _wins(number, text, reference, reference=True)
            honest += _wins(number, best, reference, reference=True)
    most = MAX_WINS * len(questions.questions)
    assert family in {*MADE, *DAMAGED}
    assert against_best <= most
    assert against_reference <= (honest if family in DAMAGED else most)


@pytest.mark.slow
@pytest.mark.parametrize(("weaker", "least"), [("rambler", 52), ("hesitant", 52), ("slipshod", 52)])
def test_best_demo_system_beats_weaker_systems(weaker: str, least: int) -> None:
    questions, answers = _demo()
    wins = sum(
        _wins(number, answers[BEST][question.id], answers[weaker][question.id])
        for number, question in enumerate(questions.questions)
    )
    assert wins >= least
