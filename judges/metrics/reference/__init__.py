"""Reference coverage: the facts of a question's reference that an answer states."""

from collections.abc import Iterator, Mapping
from typing import Any

from judges.metrics.registry import Column, Facts, MetricInfo, Need, ReadFact, lazy_build, stored


def _facts(details: Mapping[str, Any]) -> Iterator[ReadFact]:
    for fact in details.get("facts", ()):
        note = "covers it in part" if fact["state"] == "partly" else ""
        yield ReadFact(text=str(fact["text"]), covered=fact["state"] != "missing", note=note)


REFERENCE_COVERAGE = "reference-coverage"
METRICS = (
    MetricInfo(
        name=REFERENCE_COVERAGE,
        title="Share of the reference's facts that the answer covers, half for those it covers partly",
        build=lazy_build(f"{__name__}.metric"),
        inputs=(Need.REFERENCES,),
        label="Facts covered",
        measures=(
            stored("completeness"),
            stored("lowest"),
            *(stored(name, name, "counts", name) for name in ("facts", "covered", "partly", "missing")),
        ),
        column=Column(
            heading="Facts covered",
            help="Mean share of the references' facts that its answers cover, in per cent; a fact covered "
            "partly counts half.",
            usual=True,
            of_people=True,
            covers=True,
        ),
        of_reference=False,
        facts=Facts(kind="facts of the reference", need=Need.REFERENCES, read=_facts),
    ),
)
