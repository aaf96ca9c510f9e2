from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.services.rounds.pairing import FEWER, Pairs, Plan, Sample, Scope, evenly, make_plan, proportionally
from data.errors import InputError
from data.models import JudgeKind, MissingRule, Outcome, Passage, Preference, Question
from data.models.judgments import NOT_HANDED_IN
from judges.catalogue import load_spec
from judges.pairwise.forecast import REFERENCE_PLAYS, cannot_decide
from judges.spec import JudgeSpec
from tests.arena.conftest import a_submission

DOMAINS = ("x", "y", "z")


def _questions(count: int, *, passages: bool = True) -> list[tuple[int, Question]]:
    texts = (Passage("p", "Text."),) * passages
    question = Question(id="q", domain="x", question="Why?", reference="So.", passages=texts)
    return [
        (number, replace(question, id=f"q{number}", domain=DOMAINS[min(number % 5, 2)]))
        for number in range(1, count + 1)
    ]


def _scope(
    questions: list[tuple[int, Question]], *, lacking: int = 0, missing: MissingRule = MissingRule.LOSE
) -> Scope:
    """Three systems and the reference; the last system lacks the first `lacking` questions."""
    sides = [a_submission(name, number) for number, name in enumerate(("one", "two", "three"), 1)]
    everything = frozenset(number for number, _ in questions)
    return Scope(
        set_hash="hash",
        questions=questions,
        entrants=sides,
        reference=a_submission("human", 9),
        answered={1: everything, 2: everything, 3: everything - set(range(1, lacking + 1)), 9: everything},
        missing=missing,
    )


def _plan(scope: Scope, pairs: str, *, judge: JudgeKind = JudgeKind.LLM, sample: str | None = None) -> Plan:
    return make_plan(
        scope,
        pairs=Pairs.parse(pairs),
        sample=Sample.parse(sample),
        seed=7,
        cannot=partial(cannot_decide, _spec(judge)),
    )


def _spec(judge: JudgeKind) -> JudgeSpec:
    spec = load_spec("lexical" if judge is JudgeKind.LEXICAL else "reference-free")
    assert spec.kind is judge
    return spec


def test_reference_pairs_every_system_with_reference() -> None:
    plan = _plan(_scope(_questions(10)), "reference")
    assert Counter((battle.a, battle.b) for battle in plan.battles) == {(1, 9): 10, (2, 9): 10, (3, 9): 10}


def test_complete_adds_every_pair_on_even_sample() -> None:
    questions = _questions(30)
    plan = _plan(_scope(questions), "reference,complete:6")
    extra = [battle for battle in plan.battles if battle.b != 9]
    assert len(extra) == 18
    domains = Counter(dict(questions)[battle.question].domain for battle in extra)
    assert domains == {"x": 6, "y": 6, "z": 6}


def test_all_pairs_include_decidable_reference() -> None:
    assert len(_plan(_scope(_questions(10)), "all", judge=JudgeKind.LEXICAL).battles) == 60
    bare = _plan(_scope(_questions(10, passages=False)), "all", judge=JudgeKind.LEXICAL)
    assert len(bare.battles) == 30
    assert bare.left_out == {"reference battles that the judge cannot decide": 30}


def test_plan_counts_undecidable_battles() -> None:
    """Explicit reference battles without a ground truth are planned and counted."""
    bare = _questions(10, passages=False)
    plan = _plan(_scope(bare, lacking=4), "reference,complete:10", judge=JudgeKind.LEXICAL)
    assert plan.undecidable == {REFERENCE_PLAYS: 26}
    assert not plan.left_out
    silent = replace(_scope(bare), silent={1: frozenset({1, 2, 3})})
    assert _plan(silent, "reference", judge=JudgeKind.LEXICAL).undecidable == {REFERENCE_PLAYS: 27}
    assert not _plan(_scope(_questions(10)), "reference", judge=JudgeKind.LEXICAL).undecidable
    assert not _plan(_scope(bare), "reference").undecidable


def test_missing_answers_lose_without_judge_or_are_not_compared() -> None:
    lost = _plan(_scope(_questions(10), lacking=4), "all")
    assert (len(lost.battles), lost.without_judge, lost.missing) == (60, 12, 0)
    for battle in lost.battles:
        if battle.outcome is not None:
            assert 3 in {battle.a, battle.b}
            assert battle.preference is (Preference.B if battle.a == 3 else Preference.A)
            assert battle.detail == NOT_HANDED_IN
    skipped = _plan(_scope(_questions(10), lacking=4, missing=MissingRule.SKIP), "all")
    assert (len(skipped.battles), skipped.without_judge, skipped.missing) == (60, 0, 12)
    assert {(row.outcome, row.preference) for row in skipped.battles} == {
        (None, None),
        (Outcome.MISSING, None),
    }


def test_two_missing_answers_give_no_battle() -> None:
    scope = _scope(_questions(10), lacking=4)
    both = replace(scope, answered={**scope.answered, 2: scope.answered[3]})
    assert Counter((battle.a, battle.b) for battle in _plan(both, "all").battles)[2, 3] == 6


def test_battle_keys_are_unique() -> None:
    keys = [battle.key for battle in _plan(_scope(_questions(20)), "all").battles]
    assert len(set(keys)) == len(keys)
    assert keys == [battle.key for battle in _plan(_scope(_questions(20)), "all").battles]


@given(count=st.integers(1, 60), wanted=st.integers(1, 80), seed=st.integers(0, 3))
def test_samples_have_requested_size_and_are_fair(count: int, wanted: int, seed: int) -> None:
    """Even samples differ by at most one between domains that have enough; shares follow the sizes."""
    questions = _questions(count)
    sizes = Counter(question.domain for _, question in questions)
    even = Counter(question.domain for _, question in evenly(questions, wanted, seed))
    assert even.total() == min(wanted, count)
    roomy = [even[domain] for domain in sizes if even[domain] < sizes[domain]]
    assert max(even.values()) - min(roomy, default=max(even.values())) <= 1
    shared = Counter(question.domain for _, question in proportionally(questions, wanted, seed))
    assert shared.total() == min(wanted, count)
    for domain, size in sizes.items():
        assert abs(shared[domain] - min(wanted, count) * size / count) < 1


def test_sample_keeps_set_order_and_depends_on_seed() -> None:
    questions = _questions(60)
    drawn = evenly(questions, 9, seed=1)
    assert drawn == sorted(drawn, key=lambda entry: entry[0])
    assert drawn == evenly(questions, 9, seed=1)
    assert drawn != evenly(questions, 9, seed=2)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *((Pairs, text) for text in ("", "everybody", "complete:0", "complete:x", "all,reference")),
        *((Sample, text) for text in ("0", "0%", "101%", "-5", "half", "nan%")),
    ],
)
def test_invalid_pairs_and_samples_are_refused(kind: type[Pairs | Sample], text: str) -> None:
    with pytest.raises(InputError, match=r"reference|sample"):
        kind.parse(text)


def test_repeated_answers_are_sampled_with_their_question() -> None:
    questions = [
        (number + further, replace(question, id=question.id + end))
        for number, question in _questions(10)
        for further, end in ((0, ""), (100, "#answer-2"))
    ]
    scope = replace(_scope(questions), first={number + 100: number for number in range(1, 11)})
    everything = frozenset(number for number, _ in questions)
    answered = {**scope.answered, 2: everything - {103}, 3: everything - {4, 104}}
    plan = _plan(replace(scope, answered=answered), "all")
    assert plan.left_out[FEWER] == 3  # Two against the others and one against the reference.
    assert Counter(battle.question for battle in plan.battles if battle.outcome) == {4: 3, 104: 3}
    sampled = {battle.question for battle in _plan(scope, "all", sample="4").battles}
    assert len(sampled) == 8
    assert {number % 100 for number in sampled} == {number for number in sampled if number < 100}
