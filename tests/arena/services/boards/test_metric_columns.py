from __future__ import annotations

import pytest

from arena.services.boards.metric_columns import usual_metrics

BOTH = ("reference-coverage", "comprehensiveness-nli")


@pytest.mark.parametrize(
    ("reference_by", "scored", "column"),
    [
        ("people", BOTH, "reference-coverage"),
        ("people", BOTH[1:], "comprehensiveness-nli"),
        ("GPT-4", BOTH, "comprehensiveness-nli"),
        ("", BOTH, "comprehensiveness-nli"),
    ],
)
def test_facts_of_human_references_precede_passages(
    reference_by: str, scored: tuple[str, ...], column: str
) -> None:
    usual = [info.name for info in usual_metrics(reference_by, scored) if info.name in BOTH]
    assert usual == [column]
