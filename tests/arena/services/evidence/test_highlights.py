from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from arena.services.evidence.highlights import Standing, mark_answer, read_statements
from data.store.scores import ScoredAnswer
from tests.arena.conftest import a_score

PASSAGE = "Bonds fall when rates rise. Holders to maturity lose nothing in money."


def _score(system: str, covered: list[str], missing: list[str]) -> ScoredAnswer:
    def listed(texts: list[str]) -> list[dict[str, Any]]:
        return [{"id": text, "text": text, "passages": ["p1"]} for text in texts]

    return a_score(system, covered=listed(covered), missing=listed(missing))


FIRST, SECOND = PASSAGE[:27], PASSAGE[28:]


def test_sentence_is_marked_by_matching_statement() -> None:
    answer = "It depends. Bonds lose value, they fall, when interest rates rise."
    parts = mark_answer(answer, [_score("s", [FIRST], [SECOND])])
    assert [part.covers for part in parts if part.marked] == [(FIRST,)]
    assert next(part.text for part in parts if part.marked).startswith("Bonds lose")


@given(st.text(max_size=200), st.lists(st.text(min_size=1, max_size=30), max_size=4))
def test_marking_preserves_text(text: str, statements: list[str]) -> None:
    scores = [_score("s", statements[::2], statements[1::2])]
    assert "".join(part.text for part in mark_answer(text, scores)) == text


def test_statements_have_contradicting_words() -> None:
    first, two, three, four = (
        {"id": f"c{text}", "text": text, "passages": ["p"]} for text in ("One.", "Two.", "Three.", "Four.")
    )
    wrong = [{**four, "answer": "Five."}]
    statements = read_statements(
        {"covered": [first], "missing": [two, three, four], "basis": [three], "contradicted": wrong}
    )
    assert [row.text for row in statements] == ["Four.", "Three.", "Two.", "One."]
    assert statements[0].instead == "Five."
    order = [Standing.CONTRADICTED, Standing.BASIS, Standing.MISSING, Standing.COVERED]
    assert [row.standing for row in statements] == order
