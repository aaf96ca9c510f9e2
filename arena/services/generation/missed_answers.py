"""Replies that say "no answer" after an answer was found in the thinking before it.

Source: RAG-QA Arena, section 6.3 and figures 8 and 9: GPT-4o put an answer into its thinking in 16 of 20 of
them, and went on to say that it could not find one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from data.no_answer import is_no_answer
from data.records import Answer, Question
from judges.pairwise.cleaning import clean, split_thinking
from judges.text.tokens import terms_of, words

LEAST_TERMS = 2
"""Terms of its own, beside the question's, that thinking needs before it counts as having found something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedAnswer:
    """A reply that says "no answer".

    Attributes:
        question_id: The question.
        domain: Of the question.
        question: Its text.
        thinking: What stood before the reply; may be empty.
        found: Whether the thinking states something, by its form: it does not itself say that nothing was
            found, and has terms that the question does not have.
        short_answer: The first of the question's short answers that the thinking holds; None without one.
        in_reference: Share of the thinking's own terms that the reference has, 0–1; None without terms or
            reference.
    """

    question_id: str
    domain: str
    question: str
    thinking: str
    found: bool
    short_answer: str | None
    in_reference: float | None


def missed_answer_of(question: Question, answer: Answer) -> MissedAnswer | None:
    """Read a reply; None where it answers.

    Args:
        question: What was asked; its reference and short answers tell how good what was found is.
        answer: The reply; thinking that stands in its text counts too.
    """
    inside, rest = split_thinking(answer.answer)
    if not is_no_answer(rest):
        return None
    thinking = answer.thinking or inside
    asked = set(terms_of(words(question.question)))
    own = set(terms_of(words(thinking))) - asked
    reference = set(terms_of(words(question.reference or "")))
    return MissedAnswer(
        question_id=question.id,
        domain=question.domain,
        question=question.question,
        thinking=thinking,
        found=len(own) >= LEAST_TERMS and not is_no_answer(clean(thinking)),
        short_answer=next((short for short in question.short_answers if _holds(thinking, short)), None),
        in_reference=len(own & reference) / len(own) if own and reference else None,
    )


def missed_answers_json(rows: Iterable[tuple[Question, Answer]]) -> dict[str, Any]:
    """Count the "no answer" replies of a system, and list those whose thinking found something.

    Those with a short answer come first, then by the share of the thinking that the reference has.
    """
    answers = 0
    missed = list[MissedAnswer]()
    for question, answer in rows:
        answers += 1
        missed_answer = missed_answer_of(question, answer)
        if missed_answer is not None:
            missed.append(missed_answer)
    found = sorted((missed_answer for missed_answer in missed if missed_answer.found), key=_promise)
    return {
        "answers": answers,
        "no_answers": len(missed),
        "no_answer_share": len(missed) / answers if answers else None,
        "with_thinking": sum(bool(missed_answer.thinking) for missed_answer in missed),
        "found_in_thinking": len(found),
        "with_short_answer": sum(missed_answer.short_answer is not None for missed_answer in found),
        "by_domain": _by_domain(missed),
        "examples": [asdict(missed_answer) for missed_answer in found],
    }


def _by_domain(missed: Iterable[MissedAnswer]) -> Mapping[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {}
    for missed_answer in missed:
        row = counts.setdefault(missed_answer.domain, {"no_answers": 0, "found_in_thinking": 0})
        row["no_answers"] += 1
        row["found_in_thinking"] += missed_answer.found
    return counts


def _promise(missed_answer: MissedAnswer) -> tuple[bool, float, str]:
    return missed_answer.short_answer is None, -(missed_answer.in_reference or 0.0), missed_answer.question_id


def _holds(text: str, part: str) -> bool:
    """Whether the words of a part stand in a text, in their order and without a gap."""
    sought = " ".join(words(part))
    return bool(sought) and f" {sought} " in f" {' '.join(words(text))} "
