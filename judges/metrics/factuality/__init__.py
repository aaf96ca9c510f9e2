"""Factuality: the share of an answer's claims that the passages support, even if passages disagree."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from judges.metrics.registry import Column, Measure, MetricInfo, Need, lazy_build, stored

MANY_RELATIONS = 300
"""Minimum number of relations of an answer for which FR3 warns."""


def _relations(details: Mapping[str, Any]) -> tuple[int, int, int]:
    """Count the relations that FR3 requests for an answer, its claims and its contexts."""
    claims, contexts = (
        len(rows) if isinstance(rows := details.get(name), list) else 0 for name in ("claims", "contexts")
    )
    return claims * contexts + contexts * (contexts - 1), claims, contexts


def _many_relations(answers: Sequence[Mapping[str, Any]]) -> str:
    relations, claims, contexts = max(map(_relations, answers), default=(0, 0, 0))
    if relations < MANY_RELATIONS:
        return ""
    return (
        f"factuality-fr3 relates up to {claims:,} claims and {contexts:,} contexts with all contexts: "
        f"{relations:,} requests for one answer. factuality-fr2 saves {contexts * (contexts - 1):,} of them."
    )


_FR1 = MetricInfo(
    name="factuality-fr1",
    title="FactReasoner, each claim against its own contexts",
    build=lazy_build(f"{__name__}.metric"),
    needs="passages or contexts",
    symbol="Pr",
    measures=(
        stored("supported", "#S"),
        stored("contradicted", "#C"),
        stored("undecided", "#U"),
        Measure(name="recall_at_k", symbol="R@K"),
        Measure(name="f1_at_k", symbol="F1@K"),
        stored("entropy", "E"),
        stored("entropy_repaired", "E repaired"),
        stored("mean_context_posterior", "mean P(c)"),
    ),
    searches=True,
    rates_claims=True,
)
_SUPPORTED = "Share of the claims that are supported, "
FACTUALITY = "factuality-fr3"
"""The metric of boards."""
METRICS = (
    _FR1,
    replace(_FR1, name="factuality-fr2", title="FactReasoner, claims against all contexts"),
    replace(
        _FR1,
        name=FACTUALITY,
        title="FactReasoner, claims and contexts against all contexts",
        inputs=(Need.PASSAGES,),
        label="Factuality",
        column=Column(
            heading="Factual",
            help="Mean share of its claims that the passages support, as an LLM read them, in per cent.",
            usual=True,
            prefix="factuality-",
            llm_only=True,
        ),
        lexical_label="Factual precision (lexical)",
        lexical="Factual precision here is lexical: a claim counts as supported if enough of its words are "
        "close together in a passage, so that it depends on wording. Compare systems by the claims that "
        "passages contradict, or have an LLM score them.",
        warn=_many_relations,
    ),
    replace(_FR1, name="factuality-factscore", title=f"{_SUPPORTED}FactScore's way"),
    replace(_FR1, name="factuality-factverify", title=f"{_SUPPORTED}FactVerify's way"),
    replace(_FR1, name="factuality-veriscore", title=f"{_SUPPORTED}VeriScore's way"),
    replace(_FR1, name="factuality-direct", title=f"{_SUPPORTED}all evidence weighed at once"),
)
