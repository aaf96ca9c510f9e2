"""Coverage of sub-questions by an answer's context and by the answer (CRUX)."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from judges.metrics.registry import (
    Column,
    Cut,
    Facts,
    Measure,
    MetricInfo,
    Need,
    ReadFact,
    lazy_build,
    stored,
)


def _sub_questions(details: Mapping[str, Any]) -> Iterator[ReadFact]:
    answered, answerable = details.get("answered", ()), details.get("answerable", ())
    for at, text in enumerate(details.get("sub_questions", ())):
        if at in answerable:
            yield ReadFact(text=str(text), covered=at in answered)


CONTEXT, ANSWER = "context-crux", "answer-crux"
_ANSWER = MetricInfo(
    name=ANSWER,
    title="Share of the sub-questions that the answer answers",
    build=lazy_build(f"{__name__}.metric"),
    inputs=(Need.SUB_QUESTIONS,),
    label="Sub-questions",
    symbol="Cov",
    measures=(stored("density", "Den"), stored("tokens")),
    column=Column(
        heading="Sub-questions",
        help="Mean share of a question's answerable sub-questions that it answers, in per cent.",
    ),
    facts=Facts(kind="sub-questions", need=Need.SUB_QUESTIONS, read=_sub_questions),
    takes_ratings=True,
    cut=Cut.QUESTION,
)
METRICS = (
    _ANSWER,
    replace(
        _ANSWER,
        name=CONTEXT,
        title="Share of the sub-questions that the context answers",
        inputs=(Need.SUB_QUESTIONS, Need.CONTEXTS),
        label="Context",
        measures=(Measure(name="alpha_ndcg", symbol="α-nDCG"), *_ANSWER.measures),
        column=Column(
            heading="Context",
            help="Mean share of the sub-questions that its retrieved passages answer, in per cent.",
        ),
        of_reference=False,
        facts=None,
    ),
)
