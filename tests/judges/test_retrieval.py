from __future__ import annotations

from data.models import Passage
from judges.retrieval import Hit, by_document


def test_document_gets_rank_of_its_best_chunk() -> None:
    hits = [Hit(Passage(name, "text"), 1.0 / place) for place, name in enumerate(("x#2", "y#1", "x#1"), 1)]
    assert [hit.passage.id for hit in by_document(hits, 5)] == ["x", "y"]
