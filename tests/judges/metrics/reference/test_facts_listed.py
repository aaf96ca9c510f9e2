from __future__ import annotations

import json
from pathlib import Path

import pytest

from judges.metrics.reference.facts import states_fact
from judges.pairwise.cleaning import clean
from judges.text.sentences import split_sentences

DEMO = Path(__file__).parents[4] / "data" / "sets" / "demo"
NO_FACTS = (
    "Expect changes in four areas.",
    "Is the loss real?",
    "Several things came together.",
    "Two examples show the result.",
    "Start with the smell, because it tells you what is wrong:",
    "It is true, and for two reasons.",
    "Newer evidence disagrees:",
    "Losing the phone can go two ways.",
    "For money there are two exact options:",
    "So check:",
    "In practice:",
    "I couldn't find an answer.",
    "I would treat any number as approximate.",
    "But what is fever, and why do we get it?",
    "So how much is too much?",
    "There are many ways to sign in to a website, and each of them has strengths and weaknesses.",
    "Luckily there are a number of things you can try, and some of them are free.",
    "For a first baby blanket you have three options.",
    "Better early?",
    "We stopped drying laundry in there.",
)
FACTS = (
    "Our eyes are weak at seeing violet.",
    "Rents rise by 4 % a year",
    "The iron bridge at Hallen was opened in 1905.",
    "Two relativistic effects slow the clock by 7 microseconds and speed it up by 45 a day.",
)


@pytest.mark.parametrize("sentence", NO_FACTS)
def test_no_report_lists_what_states_nothing(sentence: str) -> None:
    assert not states_fact(sentence)


@pytest.mark.parametrize("sentence", FACTS)
def test_facts_are_listed(sentence: str) -> None:
    assert states_fact(sentence)


def test_few_sentences_of_the_demo_are_left_out() -> None:
    sentences = [
        sentence
        for path in sorted(DEMO.glob("answers/*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
        for sentence in split_sentences(clean(json.loads(line)["answer"]))
    ]
    left_out = sum(not states_fact(sentence) for sentence in sentences)
    assert 0 < left_out < len(sentences) / 20
