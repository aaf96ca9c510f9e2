"""What a system lacks, as rows of files: sub-questions lost, facts missed, doubtful claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.services.missed_facts import MissedFact
from arena.services.weaknesses import DoubtfulClaim
from judges.context.diagnosis import Losses

Row = Mapping[str, object]


def loss_rows(system: str, losses: Mapping[str, Losses]) -> Sequence[Row]:
    """Where sub-questions are lost, by domain; shares are 0–1."""
    return [
        {
            "system": system,
            "domain": domain,
            "sub_questions": one.answerable,
            "context_coverage": one.context_coverage,
            "answer_coverage": one.answer_coverage,
            "lost_in_retrieval": one.lost_in_retrieval,
            "lost_in_writing": one.lost_in_writing,
        }
        for domain, one in losses.items()
    ]


def missed_rows(system: str, facts: Sequence[MissedFact]) -> Sequence[Row]:
    """Facts that a system misses, in the page's order."""
    return [
        {
            "system": system,
            "question_id": one.question,
            "domain": one.domain,
            "fact": one.text,
            "passages": " ".join(one.passages),
            "contradicted": one.contradicted,
            "covered_by": one.covered_by,
            "missed_by": one.missed_by,
        }
        for one in facts
    ]


def claim_rows(system: str, claims: Sequence[DoubtfulClaim]) -> Sequence[Row]:
    """Claims that passages do not bear out, the least credible first; posteriors are 0–1."""
    return [
        {
            "system": system,
            "question_id": one.question,
            "domain": one.domain,
            "claim": one.text,
            "posterior": one.posterior,
            "reason": one.reason,
        }
        for one in claims
    ]
