from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.models import Outcome, Reply
from judges.pairwise.parsing import SCAN_DISAGREES, Choice, read
from judges.spec import ReplyFormat
from tests.cases import cases


def reply(text: str, finish_reason: str = "stop", logprobs: str | None = None) -> Reply:
    return Reply(key="k", endpoint="e", model="m", text=text, finish_reason=finish_reason, logprobs=logprobs)


@pytest.mark.parametrize(("text", "finish", "outcome", "choice"), cases(__file__, "RATINGS"))
def test_only_complete_final_rating_counts(text: str, finish: str, outcome: str, choice: int | None) -> None:
    reading = read(reply(text, finish), ReplyFormat.RATING)
    assert (reading.outcome, reading.choice and reading.choice.value) == (Outcome(outcome), choice)
    assert reading.parser == "rating/2" or choice is None
    assert reading.detail or outcome != "unreadable"


@pytest.mark.parametrize(
    ("label", "choice", "margin"),
    [
        ("better", Choice.FIRST, -1.0),
        ("Slightly  better", Choice.FIRST, -0.5),
        ("not sure", Choice.NEITHER, 0.0),
        ("slightly worse", Choice.SECOND, 0.5),
        ("worse", Choice.SECOND, 1.0),
    ],
)
def test_five_grades_merge_into_three(label: str, choice: Choice, margin: float) -> None:
    reading = read(reply(f"<rating>{label}</rating>"), ReplyFormat.GRADES)
    assert (reading.choice, reading.margin) == (choice, margin)
    assert reading.grade == " ".join(label.lower().split())


@pytest.mark.parametrize(("text", "choice"), cases(__file__, "the_digit_scan_is_the_papers"))
def test_digit_scan_matches_paper(text: str, choice: int) -> None:
    """RAG-QA Arena takes the highest of 0, 1, 2 anywhere in the rating, else in the reply, else a tie."""
    reading = read(reply(text), ReplyFormat.DIGIT_SCAN)
    assert (reading.outcome, reading.choice) == (Outcome.JUDGED, Choice(choice))


def test_margin_follows_log_probabilities_at_rating() -> None:
    chances = {"1": -0.6931471806, "2": -1.3862943611, "0": -1.3862943611, "x": -9.0}
    rivals = [{"token": token, "logprob": chance} for token, chance in chances.items()]
    tokens = [
        {"token": "<thinking>2", "logprob": -0.1, "top_logprobs": [{"token": "2", "logprob": -0.1}]},
        {"token": "</thinking><rating>", "logprob": 0.0},
        {"token": "1", "logprob": -0.7, "top_logprobs": rivals},
        {"token": "</rating>", "logprob": 0.0, "top_logprobs": []},
    ]
    text = "".join(str(token["token"]) for token in tokens)
    reading = read(reply(text, logprobs=json.dumps(tokens)), ReplyFormat.LOGPROBS)
    assert reading.margin == pytest.approx(-0.25)
    assert reading.choice is Choice.FIRST


@pytest.mark.parametrize("logprobs", [None, "", "[]", "{", '[["a"]]', '{"content": 1}'])
def test_missing_log_probabilities_give_no_margin(logprobs: str | None) -> None:
    reading = read(reply("<rating>1</rating>", logprobs=logprobs), ReplyFormat.LOGPROBS)
    assert (reading.outcome, reading.margin) == (Outcome.JUDGED, None)


@given(st.text(max_size=120), st.sampled_from(list(ReplyFormat)))
def test_any_reply_is_parsed_without_exception(text: str, reply_format: ReplyFormat) -> None:
    reading = read(reply(text), reply_format)
    assert (reading.choice is not None) == (reading.outcome is Outcome.JUDGED)


@given(
    st.lists(
        st.sampled_from(
            ["<rating>1</rating>", "<rating>2</rating>", "<rating>0</rating>", "<RATING>1</RATING>",
             "<rating>", "</rating>", "<thinking>", "</thinking>", "1", "2", " ", "I can't"]
        ),
        max_size=6,
    )
)  # fmt: skip
def test_disagreement_with_digit_scan_is_noted(parts: list[str]) -> None:
    text = reply("".join(parts))
    strict = read(text, ReplyFormat.RATING)
    if strict.outcome is Outcome.JUDGED:
        scanned = read(text, ReplyFormat.DIGIT_SCAN)
        assert (SCAN_DISAGREES in strict.detail) == (scanned.choice is not strict.choice)


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("<answer 2 6b27f293>\nThe answer is 1.", Choice.FIRST),
        ("<question 22222223> I like answer 1 6b27f202 best", Choice.FIRST),
        ("</answer 1 22222222>", Choice.NEITHER),
        ("<rating><answer 2 6b27f293>1</rating>", Choice.FIRST),
        ("The answer is 2.", Choice.SECOND),
    ],
)
def test_digit_scan_ignores_our_marks(text: str, choice: Choice) -> None:
    assert read(reply(text), ReplyFormat.DIGIT_SCAN).choice is choice


TURN_ENDS = ("<|im_end|>", "<|eot_id|>", "</s>", "<end_of_turn>", "<\uff5cend\u2581of\u2581sentence\uff5c>")


@pytest.mark.parametrize("ending", [*TURN_ENDS, " \n<|end|>."])
def test_verdict_may_end_with_turn_mark(ending: str) -> None:
    assert read(reply(f"<rating>2</rating>{ending}"), ReplyFormat.RATING).choice is Choice.SECOND
    assert read(reply(f"<rating>2</rating>{ending}"), ReplyFormat.WORDS).choice is Choice.SECOND


@pytest.mark.parametrize("written", ["**1**", "`1`", " *1* ", "__1__", '"1"'])
def test_emphasis_around_rating_is_ignored(written: str) -> None:
    assert read(reply(f"<rating>{written}</rating>"), ReplyFormat.RATING).choice is Choice.FIRST
    both = read(reply(f"<rating>{written} or {written.replace('1', '2')}</rating>"), ReplyFormat.RATING)
    assert both.outcome is Outcome.UNREADABLE


def test_separate_reasoning_is_read() -> None:
    reply = Reply(key="k", endpoint="e", model="m", text="<rating>1</rating>", thinking="b misses the date")
    assert read(reply, ReplyFormat.RATING).rationale == "(apart from the reply) b misses the date"
