import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.declines import declines
from judges.pairwise.cleaning import NO_ANSWER, clean
from judges.spec import Cleaning

LFRQA = Path(__file__).parents[3] / "../shared/data/lfrqa"


@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [
        ("<thinking>Short.</thinking> Yes, it is.", "Yes, it is."),
        ("<think>\nlong\n</think>\n\n<answer>Yes.</answer>", "Yes."),
        ("reasoning without an opening tag</think>\nYes.", "Yes."),
        ("Thinking: it says so. Answer: Yes.", "Yes."),
        ("**Thoughts:** it says so.\n\n**Answer:** Yes.", "Yes."),
        ("Answer: Yes. The answer: it depends.", "Yes. The answer: it depends."),
        ("<answer>Yes.", "Yes."),
        ("FAIL TO GENERATE ANS.", NO_ANSWER),
        ("  Yes.\n", "Yes."),
        ("The tag <answer> opens; `</answer>` closes.", "The tag <answer> opens; `</answer>` closes."),
        ("To think: therefore to be.", "To think: therefore to be."),
    ],
)
def test_standard_cleaning_strips_wrappers_alone(raw: str, cleaned: str) -> None:
    assert clean(raw) == cleaned


@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [
        ("Before <thinking>why</thinking> Yes.", "Yes."),
        ("why</thinking> Yes.", "why</thinking> Yes."),
        ("<thinking>a</thinking> b </thinking> c", "b </thinking> c"),
        ("x Thinking: why Answer: Yes. Answer: No.", "Yes. No."),
        ("Thoughts: a\nAnswer: Yes.", "Yes."),
        ("Thought: a Answer:\nYes.", "Thought: a Yes."),
        ("Answer:\nYes.", "Yes."),
        ("The Answer: 4 <answer>Yes.</answer>", "The 4 Yes."),
        ("<answer> Yes. </answer>", " Yes. "),
        ("FAIL TO GENERATE ANS.", NO_ANSWER),
        ("  FAIL TO GENERATE ANS.\n", NO_ANSWER),
        ("FAIL TO GENERATE ANS", "FAIL TO GENERATE ANS"),
        ("answer: yes", "answer: yes"),
    ],
)
def test_compat_cleaning_repeats_the_papers_steps(raw: str, cleaned: str) -> None:
    assert clean(raw, Cleaning.COMPAT) == cleaned


@given(st.text(max_size=200))
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@pytest.mark.parametrize("inner", ["", " ", "?!", "FAIL TO GENERATE ANS.", NO_ANSWER, "N/A", "Paris.", "∑"])
@pytest.mark.parametrize(
    "wrapper", ["{}", "<think>why</think>{}", "<answer>{}</answer>", "<think>{}", "Answer: {}"]
)
def test_cleaning_changes_no_decline(wrapper: str, inner: str) -> None:
    assert declines(clean(wrapper.format(inner)), "Who?") is declines(wrapper.format(inner), "Who?")


def test_human_written_references_stay_as_they_are() -> None:
    path = LFRQA / "annotations_science_with_citation.jsonl"
    if not path.is_file():
        pytest.skip(f"no real answers at {path}")
    answers = [json.loads(line)["answer"] for line in path.read_text(encoding="utf-8").splitlines()]
    assert [answer for answer in answers if clean(answer) != answer.strip()] == []
