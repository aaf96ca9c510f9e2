"""Coverage of a question's aspects by the grounded claims of an answer (ICAT)."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from judges.metrics.registry import Column, Facts, MetricInfo, Need, ReadFact, lazy_build, stored


def _aspects(details: Mapping[str, Any]) -> Iterator[ReadFact]:
    for aspect in details.get("aspects", ()):
        passages = tuple(map(str, aspect["passages"]))
        yield ReadFact(text=str(aspect["text"]), covered=bool(aspect["covered"]), passages=passages)


_ICAT_M = MetricInfo(
    name="coverage-icat-m",
    title="ICAT with given aspects and given relevance",
    build=lazy_build(f"{__name__}.metric"),
    needs="aspects, passages and judgments (--judgments)",
    symbol="ICAT",
    measures=(stored("factuality", "S_fact"), stored("coverage", "S_cov")),
    searches=True,
    takes_judgments=True,
)
ASPECT_COVERAGE = "coverage-icat-s"
"""The metric of boards."""
METRICS = (
    _ICAT_M,
    replace(
        _ICAT_M,
        name=ASPECT_COVERAGE,
        title="ICAT with given aspects, aligned by the judge",
        inputs=(Need.ASPECTS, Need.PASSAGES),
        needs="aspects and passages",
        label="Aspects",
        column=Column(
            heading="Aspects",
            help="Mean share of a question's aspects that its grounded claims address, in per cent.",
        ),
        facts=Facts(kind="aspects", need=Need.ASPECTS, read=_aspects, prefix="coverage-icat"),
        takes_judgments=False,
    ),
    replace(
        _ICAT_M,
        name="coverage-icat-a",
        title="ICAT with aspects and alignment by the judge",
        needs="passages",
        takes_judgments=False,
    ),
)
