"""Reference coverage: which facts of a question's reference an answer states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from judges.metrics.registry import Column, Facts, MetricInfo, Need, ReadFact, later, stored


def _facts(details: Mapping[str, Any]) -> Iterator[ReadFact]:
    for fact in details.get("facts", ()):
        note = "covers it in part" if fact["state"] == "partly" else ""
        yield ReadFact(text=str(fact["text"]), covered=fact["state"] != "missing", note=note)


REFERENCE_COVERAGE = "reference-coverage"
METRICS = (
    MetricInfo(
        name=REFERENCE_COVERAGE,
        title="How completely the answer states the facts of the reference: 1 / (1 + facts missing)",
        build=later(f"{__name__}.metric"),
        inputs=(Need.REFERENCES,),
        label="Facts covered",
        measures=(
            stored("share"),
            stored("lowest"),
            *(stored(name, name, "counts", name) for name in ("facts", "covered", "partly", "missing")),
        ),
        column=Column(
            heading="Facts covered",
            help="How completely its answers state the facts of the references: 100 where none is missing, "
            "50 where one is, 33 where two are; a fact stated in part counts less.",
            usual=True,
            of_people=True,
            covers=True,
        ),
        of_reference=False,
        facts=Facts(kind="facts of the reference", given=Need.REFERENCES, read=_facts),
    ),
)
