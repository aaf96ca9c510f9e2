from __future__ import annotations

from data.models import Passage
from judges.metrics.comprehensiveness.embedded import Ground, claims_of
from judges.metrics.comprehensiveness.graph import Claim


def test_claims_of_passages_are_clauses() -> None:
    text = "1961: Rowe becomes director; the board is dissolved. The valley has two towns: Orr and Ley Hill."
    assert claims_of(text) == (
        "1961: Rowe becomes director",
        "the board is dissolved.",
        "The valley has two towns",
        "Orr and Ley Hill.",
    )


def test_a_claim_is_rated_where_it_stands() -> None:
    passages = (
        Passage("p", "Ada Rowe kept a shop. She sold lamps there. In old age she was ill. She died in Orr."),
        Passage("far", "Basil wants warm soil and a sunny window."),
    )
    ground = Ground("When did Ada Rowe die?", passages)
    died = ground.rate(Claim("She died in Orr.", "p"))
    assert died > ground.rate(Claim("She sold lamps there.", "p")) >= 3.5
    assert ground.rate(Claim("Basil wants warm soil and a sunny window.", "far")) == 3.0
