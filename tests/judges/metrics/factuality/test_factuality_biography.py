from __future__ import annotations

import asyncio

import pytest

from data.models import MetricItem, Passage
from judges.metrics.factuality.reasoner import FactReasoner
from judges.metrics.registry import build_metric

QUESTION = "Tell me a biography of the film maker Edmund Harrowgate."
PASSAGES = (
    Passage(
        "life",
        "Edmund Joseph Harrowgate (11 March 1887 – 2 September 1954) was a Canadian film maker and "
        "surveyor who directed some of the first long documentaries. He was born in Sault Perrin, "
        "Ontario, the eldest of five children of the mining engineer Patrick Harrowgate and his wife "
        "Clara Moss. As a boy he went with his father to the iron camps and learnt to draw maps. He "
        "studied at the Ridley College of Mines for seven months and left without a degree.",
        "Edmund Harrowgate",
    ),
    Passage(
        "north",
        "In 1912 the railway builder Sir Alistair Wenlock hired Harrowgate to look for iron ore along "
        "Whale Sound. He made four expeditions between 1912 and 1917 and took a hand-cranked camera with "
        "him from the second on. Some 9,000 metres of film burned in his Montreal cutting room in 1918 "
        "when he dropped a cigarette, and he lost nearly all of the negative.",
        "Early expeditions",
    ),
    Passage(
        "film",
        "With money from the fur company Larrant Brothers he returned to Port Inglis in 1920 and lived "
        "for sixteen months with the hunter Tukkatuk and his family. The Winter House opened at the "
        "Orpheum in New York on 4 June 1923, ran for 82 minutes and earned 251,000 dollars in its first "
        "year. Critics praised it, though it became known later that several hunts had been staged for "
        "the camera.",
        "The Winter House",
    ),
    Passage(
        "later",
        "Harrowgate married the pianist Louise Aldern in 1914; they had three daughters. She edited five "
        "of his films and wrote their captions. In Ireland he filmed Sea Wall (1935), which won the "
        "Golden Laurel in Venice. His last film, Delta Story, was paid for by an oil company and shown in "
        "1949. He died of a stroke at his farm near Black River, Vermont, aged 67.",
        "Later life",
    ),
    Passage(
        "other",
        "Peter Wray Harrowgate (born 19 May 1921 in Leeds) is a British organist. He studied with Hubert "
        "Lane in Durham, recorded 40 albums and was made a Knight of the Order of Saint Cecilia in 1988.",
        "Peter Harrowgate",
    ),
)
TRUE = (
    "Edmund Harrowgate was born on 11 March 1887 in Sault Perrin, Ontario.",
    "He was a Canadian film maker who directed some of the first long documentaries.",
    "Harrowgate died of a stroke on 2 September 1954 at his farm in Vermont.",
    "His father, Patrick Harrowgate, was a mining engineer.",
    "He was the eldest of five children.",
    "He studied at the Ridley College of Mines but left without a degree.",
    "Sir Alistair Wenlock hired him in 1912 to look for iron ore along Whale Sound.",
    "Between 1912 and 1917 he made four expeditions.",
    "In 1918 a cigarette set fire to some 9,000 metres of his film in Montreal.",
    "The fur company Larrant Brothers paid for his return to Port Inglis in 1920.",
    "For sixteen months he lived with the hunter Tukkatuk and his family.",
    "The Winter House opened in New York on 4 June 1923.",
    "The film ran for 82 minutes.",
    "Several of the hunts in it had been staged for the camera.",
    "In 1914 he married the pianist Louise Aldern, with whom he had three daughters.",
    "His wife edited five of his films.",
    "Sea Wall, filmed in Ireland, won the Golden Laurel in Venice.",
    "Delta Story, his last film, was paid for by an oil company.",
)
WRONG_DATE = (
    "Edmund Harrowgate was born on 14 July 1891 in Sault Perrin, Ontario.",
    "Edmund Harrowgate was born on 11 March 1879.",
    "Harrowgate died of a stroke on 2 September 1961 at his farm in Vermont.",
    "Sir Alistair Wenlock hired him in 1905 to look for iron ore along Whale Sound.",
    "The Winter House opened in New York on 30 October 1926.",
    "He married the pianist Louise Aldern in 1908.",
)
WRONG_NAME = (
    "He was born in Winnipeg, Manitoba.",
    "His father, Thomas Harrowgate, was a mining engineer.",
    "Sir Gordon Blythe hired him in 1912 to look for iron ore along Whale Sound.",
    "The Winter House opened at the Orpheum in Chicago in 1923.",
    "In 1914 he married the pianist Margaret Quill.",
    "Sea Wall, filmed in Ireland, won the Golden Laurel in Cannes.",
)
WRONG_FIGURE = (
    "He was the eldest of nine children.",
    "Between 1912 and 1917 he made eleven expeditions.",
    "The film ran for 140 minutes.",
    "The Winter House earned 750,000 dollars in its first year.",
    "Some 2,000 metres of film burned in his Montreal cutting room in 1918.",
    "His wife edited twelve of his films.",
)
INVENTED = (
    "He taught photography at the University of Toronto for a decade.",
    "He served as a pilot in the First World War.",
    "His brother Walter became a minister in Ottawa.",
    "He was made a Knight of the Order of Saint George.",
)


@pytest.fixture(scope="module")
def posteriors() -> dict[str, float]:
    """Return FR2's belief in each claim, all being held against all passages."""
    claims = (*TRUE, *WRONG_DATE, *WRONG_NAME, *WRONG_FIGURE, *INVENTED)
    metric = build_metric("factuality-fr2")
    assert isinstance(metric, FactReasoner)
    item = MetricItem(id="b", question=QUESTION, answer=" ".join(claims), passages=PASSAGES)
    assessment = asyncio.run(metric.assess(item, claims))
    return {claim.text: assessment.posteriors.marginals[claim.id] for claim in assessment.claims}


def area(posteriors: dict[str, float], wrong: tuple[str, ...]) -> float:
    """The chance that a true claim is believed more than a wrong one; ties count half."""
    pairs = [(posteriors[true], posteriors[false]) for true in TRUE for false in wrong]
    return sum((true > false) + 0.5 * (true == false) for true, false in pairs) / len(pairs)


def test_true_claims_are_believed_more_than_wrong_ones(posteriors: dict[str, float]) -> None:
    assert area(posteriors, (*WRONG_DATE, *WRONG_NAME, *WRONG_FIGURE, *INVENTED)) >= 0.95


@pytest.mark.parametrize("claim", WRONG_DATE)
def test_a_wrong_date_is_not_supported(posteriors: dict[str, float], claim: str) -> None:
    assert posteriors[claim] <= 0.5


def test_true_claims_are_supported(posteriors: dict[str, float]) -> None:
    assert sum(posteriors[claim] > 0.5 for claim in TRUE) >= 0.9 * len(TRUE)
