from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from judges.metrics.relations.entailment import StatementRelations, classify, entailment_weights
from judges.metrics.relations.model import Entailment
from judges.text.statements import Statement, read_statement

QUESTION = "How many visitors does the Eiffel Tower in Paris have, and is it growing?"
OWN = (
    "The Eiffel Tower gets 7 million visitors each year.",
    "Visitors to the tower in Paris rose by 5 % in 2019.",
    "It is 330 m high and was finished in 1889.",
    "The tower is not open at night.",
    "Prices of tickets fell in 1999 and rose in 2021.",
)
WORDS = [word for sentence in (*OWN, QUESTION) for word in sentence.rstrip(".?").split()]
SENTENCES = st.one_of(
    st.lists(st.sampled_from([*WORDS, "falling", "never", "6", "1000", "feet", "closed"]), min_size=1).map(
        lambda words: " ".join(words) + "."
    ),
    st.sampled_from(OWN),
    st.sampled_from(("The tower is 1083 feet high.", "Seven million.", "No.", "Visitors fell in 2019.")),
)


def _pairwise(own: list[Statement], answers: list[Statement]) -> dict[tuple[str, str], Entailment]:
    weights = entailment_weights([row.text for row in own], QUESTION)
    pairs = [
        *permutations(own, 2),
        *((a, b) for a in own for b in answers),
        *((b, a) for a in own for b in answers),
    ]
    relations = {
        (first.text, second.text): classify(first, second, weights)
        for first, second in pairs
        if first.text != second.text
    }
    return {pair: relation for pair, relation in relations.items() if relation is not Entailment.NEUTRAL}


@given(own=st.lists(SENTENCES, min_size=1, max_size=6), answers=st.lists(SENTENCES, max_size=4))
def test_batch_matches_pairwise_relations(own: list[str], answers: list[str]) -> None:
    mine = [statement for statement in map(read_statement, own) if statement.terms]
    theirs = [statement for statement in map(read_statement, answers) if statement.terms]
    relations = StatementRelations(mine, entailment_weights([row.text for row in mine], QUESTION))
    assert {**relations.own, **relations.of(theirs)} == _pairwise(mine, theirs)
