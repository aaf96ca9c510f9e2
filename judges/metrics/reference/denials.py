"""Facts of a reference that one answer contradicts, by the rules of the embedded judge."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from data.models import GroundTruth
from judges.lexical.conflicts import conflicts, has_figure
from judges.lexical.ground_truth import LexicalGroundTruth, Texts, read_ground_truth
from judges.lexical.reading import Sentence, begins_alike, read_text
from judges.lexical.scoring import AnswerAnalysis, agreement, analyse, contradictions_of
from judges.lexical.settings import LexicalSettings
from judges.metrics.reference.facts import CACHE_SIZE
from judges.text.contradictions import Contradiction
from judges.text.languages import ENGLISH
from judges.text.statements import MarkKind
from judges.text.tokens import measured_terms

SETTINGS = LexicalSettings()
RESTATED = 0.7
"""Minimum share of a fact in a sentence that exchanges two of its terms."""


def stance(question: str, facts: Sequence[str], answer: str) -> tuple[int, Mapping[str, str]]:
    """Return how an answer relates to the facts of a reference.

    Returns:
        1 if it gives the reference's Yes or No, -1 if it gives the opposite, else 0; and the facts that it
        contradicts, each with the sentence that does so.
    """
    reference = "\n\n".join(facts)
    known = _read(question, reference)
    if known is None:
        return (1 if begins_alike(answer, reference) else -1), {}
    truth, other = known
    text = read_text(answer)
    own = AnswerAnalysis(text, contradictions=contradictions_of(text, truth))
    facts_denied = [
        (truth.points[at].sentence, row) for at, row in conflicts(own, other, truth, SETTINGS).items()
    ]
    denials = {fact.text: row.statement.text for fact, row in facts_denied if _proves(row, fact)}
    return agreement(text, truth), denials


@lru_cache(maxsize=CACHE_SIZE)
def _read(question: str, reference: str) -> tuple[LexicalGroundTruth, AnswerAnalysis] | None:
    """Read a reference as ground truth and as an answer; None if it has no content words."""
    texts = Texts(question, reference, (), ENGLISH)
    truth = read_ground_truth(texts, preferred=GroundTruth.REFERENCE, settings=SETTINGS)
    return None if truth is None else (truth, analyse(read_text(reference), truth, SETTINGS))


def _proves(row: Contradiction, fact: Sentence) -> bool:
    """Return whether a contradiction holds without another answer: names may be aliases, words synonyms."""
    lost = set(fact.terms).difference(measured_terms(row.statement.text))
    if row.kind is MarkKind.WORDING and not row.word:
        return len(lost) <= (1 - RESTATED) * len(set(fact.terms))
    if row.kind not in {MarkKind.QUANTITY, MarkKind.WORDING} or " / " in row.word:
        return True
    return has_figure(lost) and (row.kind is MarkKind.QUANTITY or has_figure(row.word.split()))
