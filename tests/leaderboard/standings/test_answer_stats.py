"""Systems with too few answers have no rank; missing answers and declines are counted."""

from __future__ import annotations

import csv
import io
import json
from itertools import combinations

import pytest
from statsmodels.stats.proportion import proportion_confint

from leaderboard.export.tables import standings_file
from leaderboard.ratings import Settings, rate
from leaderboard.standings.answer_stats import AnswerFact, BoardQuestion, declines_of, too_few_answers
from leaderboard.standings.build import build_standings
from leaderboard.standings.model import About, Standings
from leaderboard.vocabulary import BoardForm
from tests.battle_tables import encoded

ABOUT = About(name="b", title="B", facts={"judge": "lexical"})
QUICK = Settings(bootstrap=50, seed=3)
Row = tuple[str, str, str, str, str]


def battles(answered: dict[str, int], reference: str = "") -> list[Row]:
    return [
        (
            f"q{number}",
            f"d{number % 2}",
            first,
            second,
            "model_b" if number % 5 == 0 and "a short" not in {first, second} else "model_a",
        )
        for first, second in combinations(sorted(answered, key=lambda name: (name == reference, name)), 2)
        for number in range(min(answered[first], answered[second]))
    ]


def facts(answered: dict[str, int]) -> dict[str, list[AnswerFact]]:
    return {
        system: [
            AnswerFact(question=f"q{number}", domain=f"d{number % 2}", words=9) for number in range(count)
        ]
        for system, count in answered.items()
    }


ANSWERED = {"a short": 5, "b": 56, "c": 56, "d": 30}


@pytest.fixture(scope="module")
def standings() -> Standings:
    return build_standings(encoded(battles(ANSWERED)), ABOUT, settings=QUICK, answers=facts(ANSWERED))


def test_system_with_few_answers_is_last_without_rating(standings: Standings) -> None:
    """It won all its battles, and is last with the reason in every domain."""
    assert [line.system for line in standings.lines["overall"]] == ["b", "c", "d", "a short"]
    for lines in standings.lines.values():
        line = lines[-1]
        assert (line.system, line.rating) == ("a short", None)
        assert line.unranked == "It answered 5 of 56 questions, too few for a rank."
        assert line.rate is not None
        assert line.rate.win_rate == 1
        assert not any(other.unranked for other in lines[:-1])


def test_battles_of_unranked_systems_enter_no_rating(standings: Standings) -> None:
    rest = [row for row in battles(ANSWERED) if "a short" not in row]
    separate = rate(encoded(rest), bootstrap=50, seed=3)
    lines = standings.lines["overall"][:-1]
    assert [line.rating for line in lines] == list(separate.ratings)
    named = json.dumps(standings.as_json()["differences"])
    assert "a short" not in named
    assert "a short" in json.dumps(standings.as_json()["head_to_head"])


@pytest.mark.parametrize(
    ("count", "of", "short"),
    [
        (4, 10, True),
        (5, 10, False),
        (5, 26, True),
        (20, 100, False),
        (19, 100, True),
        (3, 4, False),
        (1, 1, False),
    ],
)
def test_rank_requires_5_answers_and_fifth_of_questions(count: int, of: int, *, short: bool) -> None:
    answered = {"one": count, "other": of, "third": of}
    result = too_few_answers(encoded(battles(answered)), facts(answered))
    assert ("one" in result) is short
    assert not {"other", "third"} & result.keys()


def test_questions_of_battles_count_if_answers_are_unknown() -> None:
    answered = {"one": 3, "other": 20, "third": 20}
    assert too_few_answers(encoded(battles(answered)), {}).keys() == {"one"}


def test_only_answers_to_board_questions_count() -> None:
    answered = {"one": 250, "other": 1000, "third": 1000}
    questions = frozenset({"q0", "q1", *(f"q{number}" for number in range(500, 508))})
    rows = [row for row in battles({**answered}) if row[0] in questions]
    known = {
        name: [fact for fact in part if fact.question in questions] for name, part in facts(answered).items()
    }
    assert too_few_answers(encoded(rows), known, questions=questions) == {
        "one": "It answered 2 of 10 questions, too few for a rank."
    }


def test_missing_answers_score_0_if_metric_exists() -> None:
    """`q3` has no score; `q4`, on which the set has no data, and `q5` have no answer."""
    questions = {
        f"q{at}": BoardQuestion(f"d{at % 2}", undefined=frozenset({"m"} if at == 4 else ()))
        for at in range(6)
    }
    scores = [1.0, 0.5, 1.0, None]
    whole = [
        AnswerFact(question=f"q{at}", domain=f"d{at % 2}", words=1, scores={"m": score})
        for at, score in enumerate(scores)
    ]
    answers = {"whole": whole, "part": whole[:1]}
    rows = [(f"q{at}", f"d{at % 2}", "whole", "part", "model_a" if at % 2 else "tie") for at in range(4)]
    board = build_standings(encoded(rows), ABOUT, settings=QUICK, answers=answers, questions=questions)
    lines = {line.system: line for line in board.lines["overall"]}
    means = {name: line.scores["m"] for name, line in lines.items()}
    assert means["whole"].mean == pytest.approx((1 + 0.5 + 1) / 4)
    assert means["part"].mean == pytest.approx(1 / 4)
    assert (means["part"].answers, means["part"].missing) == (1, 3)
    assert (lines["whole"].partial, lines["part"].partial) == ("partial (4 of 6)", "partial (1 of 6)")


def test_declines_are_counted_by_answerability() -> None:
    questions = {f"q{at}": BoardQuestion("d", answerable=at > 1) for at in range(6)}
    declines = [
        AnswerFact(question=f"q{at}", domain="d", words=1, no_answer=at in {0, 3}) for at in (0, 1, 2, 3)
    ]
    result = declines_of(declines, questions, marked=True)
    assert (result["count"], result["share"]) == (2, 0.5)
    lower, upper = proportion_confint(1, 4, method="wilson")
    assert result["answered_where_should"] == {
        "count": 1,
        "of": 4,
        "share": 0.25,
        "lower": pytest.approx(lower),
        "upper": pytest.approx(upper),
    }
    assert [result["where_should"][name] for name in ("count", "of", "share")] == [1, 2, 0.5]
    assert declines_of(declines, questions, marked=False)["where_should"] is None


def test_reference_with_few_answers_still_ranks_its_opponents() -> None:
    answered = {"one": 60, "other": 60, "right": 8}
    rows = battles(answered, "right")
    against = [row for row in rows if "right" in row]
    assert not too_few_answers(encoded(against), facts(answered), reference="right")
    result = too_few_answers(encoded(rows), facts(answered), reference="right")
    assert result.keys() == {"right"}


def test_board_files_have_reason_for_missing_rank(standings: Standings) -> None:
    content = {
        form: standings_file(standings.as_json(), form).decode() for form in (BoardForm.CSV, BoardForm.JSON)
    }
    rows = {
        row["system"]: row
        for row in csv.DictReader(io.StringIO(content[BoardForm.CSV]))
        if row["domain"] == "overall"
    }
    assert rows["a short"]["unranked"].startswith("It answered 5 of 56")
    assert rows["a short"]["rank_lower"] == rows["a short"]["rating"] == rows["b"]["unranked"] == ""
    line = json.loads(content[BoardForm.JSON])["lines"]["overall"][-1]
    assert (line["unranked"], line["rating"]) == (rows["a short"]["unranked"], None)


def test_reference_without_battles_is_not_listed() -> None:
    """Answers of the reference do not make it an entrant."""
    answered = {"b": 56, "c": 56}
    about = About(name="b", title="B", reference="right")
    board = build_standings(
        encoded(battles(answered)), about, settings=QUICK, answers=facts({**answered, "right": 56})
    )
    assert {line.system for lines in board.lines.values() for line in lines} == {"b", "c"}
    assert b"right," not in standings_file(board.as_json(), BoardForm.CSV)
