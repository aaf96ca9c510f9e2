"""Files for teams to start from: an answers template and a sample file for a question set."""

from __future__ import annotations

import json
from collections.abc import Iterator

from data.models import Question
from submissions.question_index import Questions

CARD_TEMPLATE = """\
# Every field is optional. Numbers need quotes.
model: ""         # the LLM that writes the answers
retriever: ""     # what finds the passages
passages: ""      # how many, and from where
organisation: ""
licence: ""
link: ""          # https://…
contact: ""
notes: ""
open_weights: ""  # yes or no
parameters: ""    # how many in all, such as 70B
released: ""      # 2026-05-01, 2026-05 or 2026
"""


def answers_template(questions: Questions) -> Iterator[str]:
    """Yield a JSONL line for each question, its answer and contexts empty.

    The question's text and domain stand in each line for the reader; a check compares the text and
    ignores the domain. References are never in it.
    """
    for question in questions.questions:
        yield _line(question, "", [])


def sample_answers(questions: Questions, *, number: int = 5) -> Iterator[str]:
    """Yield JSONL lines that pass a check: answers to a few questions, spread over the domains.

    Where a question has passages, its first one is the answer and the context; else a sentence that
    says it is a sample.
    """
    for question in _spread(questions, number):
        if question.passages:
            first = question.passages[0]
            context = {"id": first.id, "title": first.title, "text": first.text}
            yield _line(question, first.text, [context])
        else:
            yield _line(question, f"This sample is no real answer to: {question.question}", [])


def _spread(questions: Questions, number: int) -> list[Question]:
    by_domain: dict[str, list[Question]] = {}
    for question in questions.questions:
        by_domain.setdefault(question.domain, []).append(question)
    most = max(map(len, by_domain.values()), default=0)
    rounds = (group[place] for place in range(most) for group in by_domain.values() if place < len(group))
    return [question for _, question in zip(range(number), rounds, strict=False)]


def _line(question: Question, answer: str, contexts: list[dict[str, str]]) -> str:
    row = {
        "question_id": question.id,
        "domain": question.domain,
        "question": question.question,
        "answer": answer,
        "contexts": contexts,
    }
    return json.dumps(row, ensure_ascii=False)
