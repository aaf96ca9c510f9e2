from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from data.models import Reply
from judges.llm.replies import split_reasoning
from judges.llm.tasks import read_reply
from judges.metrics.coverage.settings import ASPECTS
from judges.pairwise.parsing import read
from judges.spec import ReplyFormat

PARTS = (
    "<think>",
    "</think>",
    "<thinking>",
    "</Thinking>",
    "<rating>",
    "</rating>",
    "1",
    "2",
    "0",
    " ",
    "x",
    "\n",
)
TEXTS = st.lists(st.sampled_from(PARTS), max_size=14).map("".join)
SAME_NAME = re.compile(r"<(think(?:ing)?)>(.*?)</\1>", re.DOTALL | re.IGNORECASE)
EITHER = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
SCANNED = re.compile(r"<rating>.*\d+.*</rating>", re.DOTALL)


@given(TEXTS)
def test_blocks_are_those_of_the_patterns(text: str) -> None:
    """A3: a block closed by its own name, or by either name, is the one that the old patterns took."""
    assert split_reasoning(text, same_name=True) == (
        [found[1] for found in SAME_NAME.findall(text)],
        SAME_NAME.sub("", text),
    )
    assert split_reasoning(text, same_name=False)[1] == EITHER.sub("", text)


@given(TEXTS)
def test_the_digit_scan_reads_as_its_pattern_did(text: str) -> None:
    """A3: RAG-QA Arena's digit scan takes the highest digit of the rating that its pattern finds."""
    found = SCANNED.findall(text)
    digit = max((digit for digit in "012" if digit in (found[0] if found else text)), default="0")
    reading = read(Reply(key="k", endpoint="e", model="m", text=text), ReplyFormat.DIGIT_SCAN)
    assert reading.choice is not None
    assert reading.choice.value == int(digit)


def test_a_rating_may_stand_in_any_space() -> None:
    """A3: a rating with much space about it is read; one of more than 40 characters is not."""
    wide = f"<rating>{' ' * 100_000}1{' ' * 100_000}</rating>"
    long = f"<rating>1{' ' * 100}1</rating>"
    answers = [
        read(Reply(key="k", endpoint="e", model="m", text=text), ReplyFormat.RATING) for text in (wide, long)
    ]
    assert [answer.choice is not None for answer in answers] == [True, False]


def test_braces_that_never_close_are_no_object() -> None:
    """A3: a reply of nested braces ends as a malformed reply, and an object before them is still read."""
    nest = '{"a":' * 20_000
    said = read_reply(ASPECTS, Reply(key="k", endpoint="e", model="m", text=nest))
    assert isinstance(said, str)
