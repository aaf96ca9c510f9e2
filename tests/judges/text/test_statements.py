from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from judges.metrics.relations.entailment import classify, entailment_weights
from judges.metrics.relations.model import Entailment
from judges.text.contradictions import ContradictionFinder, TermWeights
from judges.text.quantities import quantities
from judges.text.sentences import split_clauses, split_sentences
from judges.text.statements import MarkKind, read_statement, read_statements
from judges.text.tokens import terms
from tests.cases import cases


def finder_of(text: str) -> ContradictionFinder:
    statements = read_statements(text)
    return ContradictionFinder(statements, TermWeights.fit([row.terms for row in statements]))


def conflicts(text: str, claim: str) -> list[str]:
    return [row.word for row in finder_of(text).conflicts(read_statement(claim))]


@pytest.mark.parametrize(
    ("text", "claim", "word"), cases(__file__, "changed_units_opposites_and_misplaced_figures_are_found")
)
def test_contradictions_are_detected(text: str, claim: str, word: str) -> None:
    assert conflicts(text, claim) == ([word] if word else [])


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Work below the knee hurts, eccentric work most.", "Eccentric work, above all, hurts the knee."),
        ("The walk takes at most two hours uphill.", "The walk takes at least two hours uphill."),
        ("The roots take up water in wet soil.", "The roots no longer take up water in dry sand."),
    ],
)
def test_idioms_do_not_contradict(text: str, claim: str) -> None:
    assert not {"above", "least", "longer"} & set(conflicts(text, claim))


def test_opposites_cancel_only_within_clause() -> None:
    text = "The journal prefers the active voice, as it is shorter; it allows the passive in the methods."
    assert conflicts("Long bonds fall more in price.", "Short bonds fall less in price.") == []
    claim = "The journal prefers the active voice, as it is longer; it forbids the passive in the methods."
    assert conflicts(text, claim) == ["longer", "forbids"]


def test_clauses_have_minimum_length() -> None:
    assert split_clauses("It is cold; wear a warm coat; or not") == (
        "It is cold",
        "wear a warm coat; or not"[:16] + " or not",
    )


@pytest.mark.parametrize(("a", "b"), cases(__file__, "terms_ignore_form"))
def test_terms_ignore_word_form(a: str, b: str) -> None:
    assert terms(a) == terms(b)


def test_scripts_without_spaces_are_compared_by_pairs() -> None:
    assert set(terms("東京都")) == {"東京", "京都"}
    assert set(terms("ภาษาไทย")) & set(terms("คนไทย"))


@pytest.mark.parametrize(("text", "expected"), cases(__file__, "quantities_come_in_one_unit_a_dimension"))
def test_quantities_are_converted_to_base_units(text: str, expected: list[tuple[float, str]]) -> None:
    read = quantities(text)
    assert [row.value for row in read] == pytest.approx([value for value, _ in expected], rel=1e-9)
    assert [row.dimension for row in read] == [dimension for _, dimension in expected]


GROUND_TRUTH = (
    "Molecules of air are far smaller than the wavelength of light. At the horizon the path of the light is "
    "almost forty times as long. Kidney beans are soaked overnight in cold water. Short bonds react little "
    "when rates rise, long bonds react strongly. Staying won 3,317 times, switching 6,683 times. The virus "
    "has no ribosomes of its own."
)


@pytest.mark.parametrize(
    ("claim", "kinds"),
    [
        ("Air molecules are far larger than the wavelength of light.", {MarkKind.DIRECTION}),
        ("At the horizon the path of the light is four times as long.", {MarkKind.QUANTITY}),
        ("Staying won 6,683 times and switching 3,317 times.", {MarkKind.QUANTITY}),
        ("Kidney beans are never soaked overnight in water.", {MarkKind.NEGATION}),
        ("Air molecules are much smaller than the wavelength.", set()),
        ("At the horizon the path is about 40 times as long.", set()),
        ("Something else happened in 1990 to 25 people.", set()),
    ],
)
def test_contradictions_have_types(claim: str, kinds: set[MarkKind]) -> None:
    expected = finder_of(GROUND_TRUTH).find(read_statement(claim))
    assert {row.kind for row in expected} == kinds


def test_inconsistent_ground_truth_is_not_contradicted() -> None:
    finder = finder_of("The bridge is 400 metres long. The bridge is 450 metres long.")
    assert not finder.find(read_statement("The old bridge is 450 metres long."))
    assert finder.find(read_statement("The old bridge is 600 metres long."))


QUESTION = "When was the Eiffel Tower finished and how tall is it?"


@pytest.mark.parametrize(
    ("premise", "hypothesis", "relation"),
    [
        ("1889.", "The Eiffel Tower was finished in 1889.", Entailment.ENTAILMENT),
        ("The tower is 0.33 km tall.", "The Eiffel Tower is 330 metres tall.", Entailment.ENTAILMENT),
        ("It has stood since 1889 and is painted brown.", "Basil needs sun.", Entailment.NEUTRAL),
        (
            "The Eiffel Tower was finished in 1925.",
            "The Eiffel Tower was finished in 1889.",
            Entailment.CONTRADICTION,
        ),
        ("It is not finished.", "The Eiffel Tower is finished.", Entailment.CONTRADICTION),
    ],
)
def test_claims_are_classified_by_entailment(premise: str, hypothesis: str, relation: Entailment) -> None:
    weights = entailment_weights([hypothesis, "The Eiffel Tower gets seven million visitors."], QUESTION)
    assert classify(read_statement(premise), read_statement(hypothesis), weights) is relation


@given(st.text(max_size=300))
def test_any_text_is_parsed(text: str) -> None:
    assert all(quantity.start >= 0 for quantity in quantities(text))
    assert all(statement.terms for statement in read_statements(text))


def test_weights_match_smoothed_idf() -> None:
    texts = ["Air scatters blue light.", "Blue light scatters more than red light.", "The sea is salty."]
    weights = TermWeights.fit([frozenset(terms(text)) for text in texts], "Why is the sea blue?")
    oracle = TfidfVectorizer(analyzer=terms, norm=None, binary=True).fit(texts)
    for term, at in oracle.vocabulary_.items():
        assert weights.of(term) == pytest.approx(oracle.idf_[at] * (0.5 if term in {"sea", "blue"} else 1.0))
    assert set(weights.known) == set(oracle.vocabulary_)
    query = frozenset(terms("blue salty light"))
    assert weights.share(query, frozenset(), frozenset()) == 0
    assert weights.share(query, query, frozenset()) == 1
    assert 0 < weights.share(query, frozenset({"blue"}), frozenset({"light"})) < 1


def test_splitting_does_not_depend_on_length() -> None:
    part = "The sea is salty. Rivers carry minerals into it."
    assert split_sentences("\n\n".join([part] * 600)) == split_sentences(part) * 600
