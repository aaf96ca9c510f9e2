from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from data.models import MetricItem, Passage
from tests.judges.asking import embedded

scored = partial(embedded, "citation-support")
BRIDGE = Passage("p1", "The iron bridge was opened in 1905. Two stone towers carry it.")
FERRY = Passage("p2", "A ferry crossed the river until 1904 and carried mail.")
ITEM = MetricItem(
    id="q",
    question="When was the iron bridge opened?",
    answer=(
        "The iron bridge was opened in 1905 [1]. A ferry crossed the river until 1904 [1][2]. It is loved."
    ),
    passages=(BRIDGE, FERRY),
)


def test_precision_and_recall_are_computed_by_sentence() -> None:
    score = scored(ITEM)
    details: Any = score.details
    assert (details["precision"], details["recall"]) == pytest.approx((2 / 3, 2 / 3))
    assert score.score == pytest.approx(2 / 3)
    assert details["uncited"] == ["It is loved."]
    assert details["unsupported"] == []
    first, second, third = details["sentences"]
    assert [(row["passage"], row["support"]) for row in second["citations"]] == [
        ("p1", "none"),
        ("p2", "full"),
    ]
    assert (first["weight"], third["weight"]) == (1.0, 0.0)


def test_numbers_refer_to_contexts() -> None:
    item = replace(
        ITEM, contexts=(Passage("p2", ""), BRIDGE), answer="The iron bridge was opened in 1905 [2, 9]."
    )
    details: Any = scored(item).details
    assert details["cites"] == "contexts"
    assert (details["precision"], details["recall"], details["counts"]["unknown"]) == (0.5, 1.0, 1)


def test_wrong_and_missing_citations_score_zero() -> None:
    wrong = scored(replace(ITEM, answer="The iron bridge was opened in 1905 [2]."))
    assert (wrong.score, wrong.details["unsupported"]) == (0, ["The iron bridge was opened in 1905."])
    silent = scored(replace(ITEM, answer="The iron bridge was opened in 1905."))
    assert (silent.score, silent.details["precision"], silent.details["recall"]) == (0, None, 0)
