"""Comprehensiveness: what an answer leaves out of its passages, and where it stands.

Source: Dejl et al., "Comprehensiveness Metrics for Automatic Evaluation of Factual Recall in Text
Generation".
"""

from __future__ import annotations

from judges.metrics.comprehensiveness.build import build
from judges.metrics.comprehensiveness.graph import (
    Coverage,
    Edge,
    FactGraph,
    Node,
    NodeKind,
    Relation,
    analyse,
    coverage_json,
    read_graphs,
)
from judges.metrics.comprehensiveness.meta_evaluation import (
    MetaEvaluation,
    evaluate_conflictbank,
    evaluate_wikicontradict,
)
from judges.metrics.comprehensiveness.meta_files import (
    is_conflict_bank,
    read_conflictbank,
    read_wikicontradict,
)

__all__ = [
    "Coverage",
    "Edge",
    "FactGraph",
    "MetaEvaluation",
    "Node",
    "NodeKind",
    "Relation",
    "analyse",
    "build",
    "coverage_json",
    "evaluate_conflictbank",
    "evaluate_wikicontradict",
    "is_conflict_bank",
    "read_conflictbank",
    "read_graphs",
    "read_wikicontradict",
]
