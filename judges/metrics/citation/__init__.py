"""Support of an answer's sentences by their citations."""

from judges.metrics.registry import Column, Cut, MetricInfo, Need, lazy_build, stored

CITATION_SUPPORT = "citation-support"
METRICS = (
    MetricInfo(
        name=CITATION_SUPPORT,
        title="Sentences that their citations support, and citations that support theirs (F1)",
        build=lazy_build(f"{__name__}.metric"),
        inputs=(Need.CITATIONS,),
        needs="citations in brackets, and contexts or passages",
        label="Citations",
        symbol="F1",
        measures=(
            stored("precision", "P"),
            stored("recall", "R"),
            *(stored(name, name, "counts", name) for name in ("sentences", "uncited", "unsupported")),
        ),
        column=Column(
            heading="Citations",
            help="Mean of citation precision and recall (F1) over its answers, in per cent; an answer that "
            "cites nothing counts 0, and a dash means that none of its answers has citations.",
        ),
        of_reference=False,
        cut=Cut.ANSWER,
    ),
)
