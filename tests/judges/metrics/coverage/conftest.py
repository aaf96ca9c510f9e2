from __future__ import annotations

from data.models import MetricItem, Passage

CLAIMS = (
    "Coffee lowers the risk of type 2 diabetes.",
    "Coffee disturbs sleep when taken late.",
    "Coffee makes people taller.",
)
ASPECTS = ("benefits for health", "risks for health", "how much is too much")


ITEM = MetricItem(
    id="q-1",
    question="Is coffee good for health?",
    answer=" ".join(CLAIMS),
    passages=(
        Passage("p1", "Studies find that coffee lowers the risk of type 2 diabetes by a third."),
        Passage("p2", "Taken late in the day, coffee disturbs sleep."),
        Passage("p3", "Tea is grown in the highlands of Asia."),
    ),
    aspects=ASPECTS,
)
"""Question with three passages and three aspects; the answer makes three claims, one unsupported."""
