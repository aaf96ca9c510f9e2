"""What a text must have to be kept as a reference, and what of its short answers it holds.

Source: Han et al. (2024), RAG-QA Arena, section 3.1: writers combine all highlighted answers into one
coherent answer, and cite the documents of each sentence.
"""

from __future__ import annotations

from dataclasses import replace

from arena.services.annotation.requests import NUL
from data.errors import InputError
from data.records import Question
from judges.text.citations import cited_sentences
from judges.text.tokens import terms_of, words

MOST_CHARACTERS = 20_000
NAMED = 3
INCLUDED_FROM = 0.8
"""Share of a short answer's terms that one sentence must have."""


def without_reference(question: Question) -> Question:
    """A question as somebody sees it who is to write its reference."""
    return replace(question, reference=None, citation_numbers=(), citations=(), gold_doc_ids=(), nuggets=())


def require_cited(text: str, passages: int) -> tuple[str, ...]:
    """The sentences of a reference, without citations.

    Args:
        text: With numbers in brackets.
        passages: How many may be cited, from 1.

    Raises:
        InputError: It is empty or too long, a sentence cites nothing, or a number that no passage has.
    """
    if len(text) > MOST_CHARACTERS or NUL in text:
        raise InputError(
            "The text cannot be kept.",
            advice=f"Use at most {MOST_CHARACTERS:,} characters, none of them NUL.",
        )
    sentences = cited_sentences(text)
    if not sentences:
        raise InputError("The text has no sentence.", advice="Write the answer.")
    wrong = sorted({number for one in sentences for number in one.numbers if not 1 <= number <= passages})
    if wrong:
        named = ", ".join(f"[{number}]" for number in wrong)
        raise InputError(f"No passage has the number {named}.", advice=f"There are 1 to {passages}.")
    uncited = [one.text for one in sentences if not one.numbers]
    if uncited:
        shown = ", ".join(f"“{sentence[:60].rstrip('.')}”" for sentence in uncited[:NAMED])
        message = f"{len(uncited)} of {len(sentences)} sentences cite no passage: {shown}."
        raise InputError(message, advice="End each with the numbers of its passages, as [1] or [2, 3].")
    return tuple(one.text for one in sentences)


def holds(text: str, short: str) -> bool:
    """Whether a text holds a short answer: its words without a gap, or most of its terms."""
    sought, there = words(short), words(text)
    if not sought:
        return True
    if f" {' '.join(sought)} " in f" {' '.join(there)} ":
        return True
    wanted = set(terms_of(sought))
    return bool(wanted) and len(wanted & set(terms_of(there))) >= INCLUDED_FROM * len(wanted)
