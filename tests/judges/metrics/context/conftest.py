from __future__ import annotations

from collections.abc import Callable
from typing import Any

from data.models import MetricItem, Passage

TEXTS = {
    "p1": "The tower was built in 1889 for the World's Fair. It was meant to stand for twenty years.",
    "p2": "Its height is 330 metres, which made it the tallest structure of its day.",
    "p3": "The tower is repainted by hand about every seven years with sixty tonnes of paint.",
    "p4": "Croissants are best eaten fresh in the morning.",
}
SUB_QUESTIONS = (
    "In which year was the tower built?",
    "How high is the tower?",
    "How often is the tower repainted?",
    "Who owns the tower today?",
)
ANSWERS = {"built": "1889", "high": "330", "repainted": "seven years", "owns": "owned by"}


PASSAGES = tuple(Passage(name, text) for name, text in TEXTS.items())
ITEM = MetricItem(
    id="t-1",
    question="Tell me about the Eiffel tower.",
    answer="The tower was built in 1889 and is 330 metres high.",
    passages=PASSAGES,
    reference="The tower was built in 1889. It is 330 metres high. It is repainted every seven years.",
    contexts=(PASSAGES[0], PASSAGES[3]),
    sub_questions=SUB_QUESTIONS,
)
"""Question with four passages, which answer three of its four sub-questions."""


def rating_llm(scripted_llm: Callable[..., Any], **script: object) -> Any:  # noqa: ANN401 - the server's own type
    """Start a scripted LLM that rates 5 where a passage has the answer's words, else 0."""

    def rate(ask: Any) -> object:  # noqa: ANN401 - the scripted server's own type
        question, passage = ask.tagged("sub_question")[0], ask.tagged("passage")[0]
        key = next(word for word in ANSWERS if word in question)
        return {"rating": 5 if ANSWERS[key] in passage else 0}

    server = scripted_llm(**script)
    server.handlers["rate_answerability"] = rate
    server.handlers["generate_sub_questions"] = lambda _: {"sub_questions": list(SUB_QUESTIONS)}
    return server
