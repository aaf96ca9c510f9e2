"""Layouts of a text give the same verdict, score and sentences."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.models import MetricItem, OrderPolicy, Passage, Preference, Question
from judges.base import JudgeInput
from judges.catalogue import load_spec
from judges.lexical import LexicalJudge
from judges.metrics.reference.facts import facts_of
from judges.metrics.registry import build_metric
from judges.text.sentences import read_sentences, split_sentences, stating
from tests.cases import cases

TEXTS = (
    ("Hops are the flowers of a climbing vine.", "Cork floats on water.", "Wine keeps for forty years."),
    ("The iron bridge opened in 1905.", "It cost 3.5 million dollars, i.e. a lot.", "Dr. Ann Lee built it."),
    ("Basil likes warm soil.", "Water it at 6 a.m. every day."),
    (
        "“Copper conducts,” he wrote.",
        "Glass does not.",
        "Wool is warm (and light).",
        "Ice melts at 0 degrees.",
    ),
)


def laid_out(
    layout: str, gap: str = " ", before: str = "", after: str = ""
) -> Callable[[tuple[str, ...]], str]:
    def part(n: int, s: str) -> str:
        last = s.rsplit(maxsplit=1)[-1]
        return layout.format(
            s=s,
            n=n,
            bare=s[:-1],
            stop=s[-1],
            head=s.removesuffix(last).rstrip(),
            last=last,
            start=s[:2],
            rest=s[2:],
            letter="abcd"[n - 1],
            numeral=("i", "ii", "iii", "iv")[n - 1],
            raised="¹²³⁴"[n - 1],
            circled="①②③④"[n - 1],
        )

    return lambda text: before + gap.join(map(part, count(1), text)) + after


LAYOUTS: Mapping[str, Callable[[tuple[str, ...]], str]] = {
    **{name: laid_out(*fields) for name, fields in cases(__file__, "LAYOUTS").items()},
    "wrapped": lambda text: LAYOUTS["citation behind the stop"](text).replace(" ", "\n", 1),
}
"""Text of cited sentences in each layout."""


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("text", TEXTS)
def test_sentences_do_not_depend_on_layout(text: tuple[str, ...], layout: str) -> None:
    rows = [row for row in read_sentences(LAYOUTS[layout](text)) if not row.heading]
    assert [(row.text, row.numbers) for row in rows] == [(s, (at,)) for at, s in enumerate(text, start=1)]


PLAIN = "citation behind the stop"
JUDGE = LexicalJudge(load_spec("lexical").model_copy(update={"order": OrderPolicy.PAPER}))
WORDS = st.lists(
    st.sampled_from(["hops", "iron", "3.5", "e.g.", "Dr.", "Oslo", "é", "“so”", "5 %", "a-b"]), max_size=7
)
SENTENCES = st.builds(
    lambda first, words, last, stop: " ".join((first, *words, last)) + stop,
    st.sampled_from(["The", "It all", "Ümit", "He", "No"]),
    WORDS,
    st.sampled_from(["vine", "water", "years"]),
    st.sampled_from([".", "!", "?", "...", "!!", "…", "."]),
)


TUPLES = st.lists(SENTENCES, min_size=2, max_size=4).map(tuple[str, ...])


@given(text=TUPLES, layout=st.sampled_from(sorted(LAYOUTS)))
def test_any_sentences_do_not_depend_on_layout(text: tuple[str, ...], layout: str) -> None:
    rows = [row for row in read_sentences(LAYOUTS[layout](text)) if not row.heading]
    plain = read_sentences(LAYOUTS[PLAIN](text))
    assert [(row.text.rstrip(".!?…"), row.numbers) for row in rows] == [
        (row.text.rstrip(".!?…"), row.numbers) for row in plain
    ]
    assert split_sentences("\n\n".join(row.text for row in rows)) == tuple(row.text for row in rows)


LOOKALIKES = cases(__file__, "LOOKALIKES")
"""Texts that resemble marks, with their sentences separated by a bar."""


@pytest.mark.parametrize("line", LOOKALIKES)
def test_text_that_looks_like_markup_is_unchanged(line: str) -> None:
    expected = tuple(sentence.replace("`", "") for sentence in line.split(" | "))
    assert split_sentences(line.replace(" | ", " ")) == expected
    assert split_sentences(line.replace(" | ", "\n\n")) == expected


MARKUP = ["\n", " ", "[a]: https://a.b", "[1]:", "[1]", "[^a]:", "[^a]", "```", "~~~", "|", "# ", "Sources:"]


@given(st.lists(st.sampled_from(MARKUP), max_size=8).map("".join))
def test_texts_with_words_stay_nonempty(text: str) -> None:
    assert split_sentences(f"{text} Paris")


def item_of(text: tuple[str, ...], answer: str) -> MetricItem:
    """Return a question whose reference lacks the first sentence of a text."""
    passages = tuple(Passage(f"p{at}", sentence) for at, sentence in enumerate(text, start=1))
    return MetricItem(
        id="q",
        question="What is true?",
        answer=answer,
        reference=" ".join((*text[1:], "The moon is not made of old green cheese.")),
        passages=(*passages, Passage("p9", "The moon is made of rock and of dust.")),
        contexts=passages,
        aspects=text[:2],
        sub_questions=(f"Is it so: {text[0]}", "Why is the moon round?"),
    )


@lru_cache
def scores(text: tuple[str, ...], answer: str) -> dict[str, object]:
    rows: dict[str, object] = {}
    for name in METRICS:
        score = asyncio.run(build_metric(name).score(item_of(text, answer)))
        rows[name] = (score.outcome, score.reason, score.score, score.details.get("counts"))
    return rows


METRICS = (
    "citation-support",
    "reference-coverage",
    "factuality-fr1",
    "comprehensiveness-nli",
    "coverage-icat-a",
    "answer-crux",
)


LEADS = {
    "heading": "## Facts\n\n{}",
    "bold heading": "**What we know**\n\n{}",
    "underlined heading": "Facts\n=====\n{}",
    "HTML heading": "<h2>Facts</h2>{}",
    "lead-in": "The facts are:\n\n{}",
    "announcement": "There are several reasons.\n\n{}",
    "question": "What do we know?\n\n{}",
    "table": "| Fact | Source |\n|---|---|\n{}",
}


@pytest.mark.parametrize("lead", LEADS)
def test_headings_and_lead_ins_are_not_facts(lead: str) -> None:
    for text in TEXTS[:2]:
        plain = LAYOUTS["table" if lead == "table" else "dashes"](text)
        led = LEADS[lead].format(plain)
        assert [row.text for row in stating(read_sentences(led))] == list(text)
        assert scores(text, led) == scores(text, plain)
        assert [fact.text for fact in facts_of(led)] == [fact.text for fact in facts_of(plain)]
        if lead != "question":
            assert_tie(item_of(text, led), plain)


@pytest.mark.parametrize("text", ["# Paris", "**Paris**", "Which one?", "It has several parts."])
def test_text_of_only_headings_is_fact(text: str) -> None:
    assert len(stating(read_sentences(text))) == 1


def assert_tie(item: MetricItem, plain: str) -> None:
    for reference in (item.reference, None):
        question = Question(
            id="q", domain="d", question=item.question, reference=reference, passages=item.passages
        )
        battle = JudgeInput(battle_id="b", question=question, answer_a=plain, answer_b=item.answer)
        verdict = asyncio.run(JUDGE.judge(battle))
        assert (verdict.preference, verdict.judgments[0].margin) == (Preference.TIE, 0)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_scores_and_verdicts_do_not_depend_on_layout(layout: str) -> None:
    for text in TEXTS[:2]:
        plain, answer = LAYOUTS[PLAIN](text), LAYOUTS[layout](text)
        assert scores(text, answer) == scores(text, plain)
        assert_tie(item_of(text, answer), plain)
        uncited = {**scores(text, " ".join(text)), "citation-support": None}
        assert uncited == {**scores(text, plain), "citation-support": None}
