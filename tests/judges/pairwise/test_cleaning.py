import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.declines import declines
from judges.pairwise.cleaning import NO_ANSWER, clean
from judges.spec import Cleaning
from tests.cases import cases

LFRQA = Path(__file__).parents[3] / "../shared/data/lfrqa"


@pytest.mark.parametrize(("raw", "cleaned"), cases(__file__, "standard_cleaning_strips_wrappers_alone"))
def test_standard_cleaning_strips_only_wrappers(raw: str, cleaned: str) -> None:
    assert clean(raw) == cleaned


@pytest.mark.parametrize(("raw", "cleaned"), cases(__file__, "compat_cleaning_repeats_the_papers_steps"))
def test_compat_cleaning_matches_paper(raw: str, cleaned: str) -> None:
    assert clean(raw, Cleaning.COMPAT) == cleaned


@given(st.text(max_size=200))
def test_cleaning_is_idempotent(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@pytest.mark.parametrize("inner", ["", " ", "?!", "FAIL TO GENERATE ANS.", NO_ANSWER, "N/A", "Paris.", "∑"])
@pytest.mark.parametrize("wrapper", ["{}", "[THINK]w[/THINK]{}", "<answer>{}", "<think>{}", "Answer: {}"])
def test_cleaning_preserves_refusals(wrapper: str, inner: str) -> None:
    assert declines(clean(wrapper.format(inner)), "Who?") is declines(wrapper.format(inner), "Who?")


def test_human_references_are_unchanged() -> None:
    path = LFRQA / "annotations_science_with_citation.jsonl"
    if not path.is_file():
        pytest.skip(f"no real answers at {path}")
    answers = [json.loads(line)["answer"] for line in path.read_text(encoding="utf-8").splitlines()]
    assert [answer for answer in answers if clean(answer) != answer.strip()] == []
