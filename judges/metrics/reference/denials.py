"""Facts of a reference that one answer contradicts, by the rules of the embedded judge."""

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from data.models import GroundTruth
from judges.lexical.conflicts import conflicts, has_figure
from judges.lexical.ground_truth import LexicalGroundTruth, Texts, read_ground_truth
from judges.lexical.reading import Sentence, begins_alike, read_text
from judges.lexical.scoring import AnswerAnalysis, agreement
from judges.lexical.settings import LexicalSettings
from judges.metrics.reference.facts import CACHE_SIZE
from judges.text.contradictions import Contradiction
from judges.text.languages import ENGLISH
from judges.text.statements import MarkKind, read_statement
from judges.text.tokens import measured_terms

SETTINGS = LexicalSettings()
RESTATED = 0.7
"""Minimum share of a fact in a sentence that exchanges two of its terms."""


def stance(
    question: str, facts: Sequence[str], answer: str, near: Collection[tuple[str, str]]
) -> tuple[int, Mapping[str, str]]:
    """Return how an answer relates to the facts of a reference, comparing only pairs `near` in wording.

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
    close = {fact for fact, _ in near}
    at_issue = {at for at, point in enumerate(truth.points) if point.sentence.text in close}
    if not at_issue:
        return agreement(text, truth), {}
    may_deny = {line for _, line in near}
    lines = dict.fromkeys(sentence.text for sentence in text.sentences if sentence.text in may_deny)
    finder = truth.contradictions
    rows = [row for line in lines for row in finder.conflicts(read_statement(line))] if finder else []
    own = AnswerAnalysis(text, contradictions=tuple(rows))
    facts_denied = [
        (truth.points[at].sentence, row)
        for at, row in conflicts(own, other, truth, SETTINGS, at_issue).items()
    ]
    denials = {fact.text: row.statement.text for fact, row in facts_denied if _proves(row, fact)}
    return agreement(text, truth), denials


@lru_cache(maxsize=CACHE_SIZE)
def _read(question: str, reference: str) -> tuple[LexicalGroundTruth, AnswerAnalysis] | None:
    """Read a reference as ground truth and as an answer; None if it has no content words."""
    texts = Texts(question, reference, (), ENGLISH)
    truth = read_ground_truth(texts, preferred=GroundTruth.REFERENCE, settings=SETTINGS)
    if truth is None or truth.reference is None:
        return None
    return truth, AnswerAnalysis(truth.reference, shares=(1.0,) * len(truth.points))


def _proves(row: Contradiction, fact: Sentence) -> bool:
    """Return whether a contradiction holds without another answer: names may be aliases, words synonyms."""
    lost = set(fact.terms).difference(measured_terms(row.statement.text))
    if row.kind is MarkKind.WORDING and not row.word:
        return len(lost) <= (1 - RESTATED) * len(set(fact.terms))
    if row.kind not in {MarkKind.QUANTITY, MarkKind.WORDING} or " / " in row.word:
        return True
    return has_figure(lost) and (row.kind is MarkKind.QUANTITY or has_figure(row.word.split()))
