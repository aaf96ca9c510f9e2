import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from data.models import OrderPolicy, Outcome, Question, Verdict
from judges.base import JudgeInput
from judges.catalogue import build_judge, load_spec
from judges.llm.client import open_client
from judges.llm.settings import AccessSettings
from judges.spec import JudgeSpec

Make = Callable[..., Any]
ACCESS = AccessSettings(backoff=0.01, longest_backoff=0.05, timeout=2.0, attempts=3)


def inputs(count: int) -> list[JudgeInput]:
    return [
        JudgeInput(
            battle_id=str(number),
            question=Question(id=str(number), domain="d", question=f"what is number {number}"),
            answer_a=f"Number {number} is the one that comes after the one before it, and so on for ever.",
            answer_b=f"It is {number}.",
        )
        for number in range(count)
    ]


def decided(spec: JudgeSpec, battles: list[JudgeInput]) -> list[Verdict]:
    async def run() -> list[Verdict]:
        async with open_client(ACCESS) as client:
            judge = build_judge(spec, client=client)
            return list(await asyncio.gather(*(judge.judge(battle) for battle in battles)))

    return asyncio.run(run())


@pytest.mark.parametrize("name", ["reference-free", "preference", "compat", "panel"])
def test_bundled_judges_decide_over_http(name: str, scripted_llm: Make) -> None:
    server = scripted_llm(rule="longer")
    verdicts = decided(load_spec(name).at(server.url), inputs(6))
    assert Counter(verdict.preference for verdict in verdicts) == {"a": 6}
    assert all(judgment.reply is not None for verdict in verdicts for judgment in verdict.judgments)


def test_five_grades_are_read_or_unreadable(scripted_llm: Make) -> None:
    server = scripted_llm(rule="longer")
    verdicts = decided(load_spec("five-grade").at(server.url), inputs(2))
    assert {verdict.outcome for verdict in verdicts} == {Outcome.UNREADABLE}
    assert all(verdict.judgments[0].calls == 2 for verdict in verdicts)


def test_log_probabilities_reach_the_score(scripted_llm: Make) -> None:
    server = scripted_llm(rule="longer")
    (verdict,) = decided(load_spec("preference").at(server.url), inputs(1))
    assert verdict.score is not None
    assert verdict.score > 0.5
    assert all(judgment.margin is not None and judgment.margin < 0 for judgment in verdict.judgments)


def test_position_bias_is_counted_as_flips(scripted_llm: Make) -> None:
    server = scripted_llm(rule="first")
    spec = load_spec("reference-free").using(order=OrderPolicy.BOTH).at(server.url)
    verdicts = decided(spec, inputs(5))
    assert all(verdict.flipped and verdict.preference == "tie" for verdict in verdicts)


def test_the_books_balance_whatever_goes_wrong(scripted_llm: Make) -> None:
    faults = {
        "rate_limit_after": 0.1,
        "server_error": 0.1,
        "truncated": 0.1,
        "refusal": 0.1,
        "wrong_format": 0.1,
    }
    server = scripted_llm(rule="longer", faults=faults, retry_after=0.01)
    verdicts = decided(load_spec("reference-free").at(server.url), inputs(60))
    counts = Counter(verdict.outcome for verdict in verdicts)
    assert counts.total() == 60
    assert counts[Outcome.JUDGED] > 30
    assert all((verdict.preference == "a") == (verdict.outcome is Outcome.JUDGED) for verdict in verdicts)
