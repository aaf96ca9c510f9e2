"""Share of a question's nuggets that an answer states."""

from collections.abc import Iterator, Mapping
from typing import Any

from judges.metrics.registry import Column, Facts, MetricInfo, Need, ReadFact, lazy_build, stored


def _nuggets(details: Mapping[str, Any]) -> Iterator[ReadFact]:
    for nugget in details.get("nuggets", ()):
        if (grade := nugget["assignment"]) is not None:
            note = "covers it in part" if grade == "partial_support" else ""
            yield ReadFact(text=str(nugget["text"]), covered=grade != "not_support", note=note)


METRICS = (
    MetricInfo(
        name="nuggets",
        title="Share of the nuggets that the answer states, okay ones and partial support counting half",
        build=lazy_build(f"{__name__}.metric"),
        inputs=(Need.NUGGETS,),
        label="Nuggets",
        symbol="W",
        measures=(
            stored("weighted_strict", "W strict"),
            stored("vital", "V"),
            stored("vital_strict", "V strict"),
            stored("all", "A"),
            stored("all_strict", "A strict"),
            *(
                stored(name, name.replace("_", " "), "counts", name)
                for name in ("support", "partial_support", "not_support", "undecided")
            ),
        ),
        column=Column(
            heading="Nuggets",
            help="Mean share of a question's nuggets that it states, in per cent; okay ones and partial "
            "support count half.",
        ),
        facts=Facts(kind="nuggets", need=Need.NUGGETS, read=_nuggets),
    ),
)
