"""Comprehensiveness: the statements of the passages that an answer covers and omits.

Source: Dejl et al., "Comprehensiveness Metrics for Automatic Evaluation of Factual Recall in Text
Generation".
"""

from collections.abc import Iterator, Mapping
from typing import Any

from judges.metrics.registry import Column, Cut, Facts, MetricInfo, Need, ReadFact, lazy_build, stored


def _statements(details: Mapping[str, Any]) -> Iterator[ReadFact]:
    """Yield each statement of the passages; contradicted statements are not covered."""
    contradicted = {_key(row) for row in details.get("contradicted", ())}
    for row in details.get("contradicted", ()):
        yield _fact(row, covered=False, note="contradicts it")
    for row in details.get("missing", ()):
        if _key(row) not in contradicted:
            yield _fact(row, covered=False)
    for row in details.get("covered", ()):
        yield _fact(row, covered=True)


def _key(statement: Mapping[str, Any] | str) -> str:
    return statement if isinstance(statement, str) else str(statement.get("id") or statement.get("text", ""))


def _fact(statement: Mapping[str, Any] | str, *, covered: bool, note: str = "") -> ReadFact:
    if isinstance(statement, str):
        return ReadFact(text=statement, covered=covered, note=note)
    passages = tuple(map(str, statement.get("passages", ())))
    return ReadFact(text=str(statement.get("text", "")), covered=covered, passages=passages, note=note)


_BUILD = lazy_build(f"{__name__}.metric")
_NEEDS = "passages or a reference"
_MEASURES = tuple(stored(name, name, "counts", name) for name in ("covered", "missing", "basis"))
COMPREHENSIVENESS = "comprehensiveness-nli"
"""The metric of boards."""
METRICS = (
    MetricInfo(
        name=COMPREHENSIVENESS,
        title="Share of the relevant claims of the passages that the answer entails",
        build=_BUILD,
        inputs=(Need.GROUND_TRUTH,),
        needs=_NEEDS,
        label="Comprehensiveness",
        lexical="Comprehensiveness counts all that the passages say: on answers that people found lacking "
        "information it was no better than chance. Use the facts of the reference if there are any.",
        measures=_MEASURES,
        column=Column(
            heading="Comprehensiveness",
            help="Mean share of the ground truth's statements that its answers cover, in per cent. On "
            "answers that people found lacking information it was no better than chance.",
            usual=True,
            of_people=False,
            covers=True,
            prefix="comprehensiveness",
        ),
        facts=Facts(
            kind="statements of the passages",
            need=Need.PASSAGES,
            read=_statements,
            prefix="comprehensiveness-",
        ),
        cut=Cut.QUESTION,
    ),
    MetricInfo(
        name="comprehensiveness-qa",
        title="Share of the passages' answers to mined questions that the answer gives too",
        build=_BUILD,
        needs=_NEEDS,
        measures=_MEASURES,
        embedded=False,
        cut=Cut.QUESTION,
    ),
    MetricInfo(
        name="comprehensiveness-end-to-end",
        title="Share of the relevant statements of the passages that one LLM request finds covered",
        build=_BUILD,
        needs=_NEEDS,
        measures=_MEASURES,
        cut=Cut.QUESTION,
    ),
)
