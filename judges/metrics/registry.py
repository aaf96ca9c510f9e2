"""What every metric takes and gives, and where the metrics are found by name.

A family of metrics is a package of this room, one of whose modules has a function
`build(name, *, runner, options) -> Metric`; that module is imported when one of its metrics is built, so that
listing them costs nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

from data.errors import NotFoundError, SpecError
from data.records import Json, MetricItem, Score

if TYPE_CHECKING:
    from judges.metrics.coverage.sources import Source


NO_OPTIONS: Mapping[str, Json] = MappingProxyType({})


class RetrieverKind(StrEnum):
    """How evidence is retrieved."""

    BM25 = "bm25"
    """In a corpus, by the words that a claim and a chunk share."""
    DENSE = "dense"
    """In a corpus, by the similarity of vectors."""
    WEB = "web"
    """By a web search."""


@runtime_checkable
class Metric(Protocol):
    """Scores one answer at a time. Failures are outcomes, not exceptions."""

    @property
    def name(self) -> str:
        """The name under which the metric is built and its scores are kept."""
        ...

    async def score(self, item: MetricItem) -> Score:
        """Score one answer.

        Raises:
            JudgeError: Scoring as a whole cannot go on (circuit open, replay miss, budget gone).
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricInfo:
    """What is known of a metric without loading it.

    Attributes:
        name: As in `arena metrics score --metric`.
        family: The module that builds it.
        title: For people, one phrase.
        needs: What an item must carry beside question and answer.
        embedded: Whether it runs without an LLM.
        searches: Whether it can look for evidence elsewhere than in an item's own passages.
        takes_judgments: Whether it needs judgments of people on passages by aspect.
        bounds: The lowest and highest score there can be.
    """

    name: str
    family: str
    title: str
    needs: str
    embedded: bool = True
    searches: bool = False
    takes_judgments: bool = False
    bounds: tuple[float, float] = (0.0, 1.0)


COMPREHENSIVENESS = "judges.metrics.comprehensiveness.build"
FACTUALITY = "judges.metrics.factuality.assembly"
COVERAGE = "judges.metrics.coverage.metric"
CONTEXT = "judges.metrics.context.metric"
CITATION = "judges.metrics.citation.metric"
NUGGETS = "judges.metrics.nuggets.metric"
PASSAGES = "passages or a reference"

METRICS: tuple[MetricInfo, ...] = (
    MetricInfo(
        name="comprehensiveness-nli",
        family=COMPREHENSIVENESS,
        title="Share of the relevant claims of the passages that the answer entails",
        needs=PASSAGES,
    ),
    MetricInfo(
        name="comprehensiveness-qa",
        family=COMPREHENSIVENESS,
        title="Share of the passages' answers to mined questions that the answer gives too",
        needs=PASSAGES,
        embedded=False,
    ),
    MetricInfo(
        name="comprehensiveness-end-to-end",
        family=COMPREHENSIVENESS,
        title="Share of the relevant statements of the passages that one reading finds covered",
        needs=PASSAGES,
    ),
    MetricInfo(
        name="factuality-fr1",
        family=FACTUALITY,
        title="FactReasoner, each claim against its own contexts",
        needs="passages or contexts",
        searches=True,
    ),
    MetricInfo(
        name="factuality-fr2",
        family=FACTUALITY,
        title="FactReasoner, claims against all contexts",
        needs="passages or contexts",
        searches=True,
    ),
    MetricInfo(
        name="factuality-fr3",
        family=FACTUALITY,
        title="FactReasoner, claims and contexts against all contexts",
        needs="passages or contexts",
        searches=True,
    ),
    MetricInfo(
        name="factuality-factscore",
        family=FACTUALITY,
        title="Share of the claims that are supported, FactScore's way",
        needs="passages or contexts",
        searches=True,
    ),
    MetricInfo(
        name="factuality-factverify",
        family=FACTUALITY,
        title="Share of the claims that are supported, FactVerify's way",
        needs="passages or contexts",
        searches=True,
    ),
    MetricInfo(
        name="factuality-veriscore",
        family=FACTUALITY,
        title="Share of the claims that are supported, VeriScore's way",
        needs="passages or contexts",
        searches=True,
    ),
    MetricInfo(
        name="factuality-direct",
        family=FACTUALITY,
        title="Share of the claims that are supported, all evidence weighed at once",
        needs="passages or contexts",
        searches=True,
    ),
    MetricInfo(
        name="coverage-icat-m",
        family=COVERAGE,
        title="ICAT with given aspects and given relevance",
        needs="aspects, passages and judgments (--judgments)",
        searches=True,
        takes_judgments=True,
    ),
    MetricInfo(
        name="coverage-icat-s",
        family=COVERAGE,
        title="ICAT with given aspects, aligned by the judge",
        needs="aspects and passages",
        searches=True,
    ),
    MetricInfo(
        name="coverage-icat-a",
        family=COVERAGE,
        title="ICAT with aspects and alignment by the judge",
        needs="passages",
        searches=True,
    ),
    MetricInfo(
        name="context-crux",
        family=CONTEXT,
        title="Share of the sub-questions that the context answers",
        needs="sub-questions and contexts",
    ),
    MetricInfo(
        name="answer-crux",
        family=CONTEXT,
        title="Share of the sub-questions that the answer answers",
        needs="sub-questions",
    ),
    MetricInfo(
        name="citation-support",
        family=CITATION,
        title="Sentences that their citations support, and citations that support theirs (F1)",
        needs="citations in brackets, and contexts or passages",
    ),
    MetricInfo(
        name="nuggets",
        family=NUGGETS,
        title="Share of the nuggets that the answer states, okay ones and partial support counting half",
        needs="nuggets",
    ),
)


class Family(Protocol):
    """The module that builds the metrics of a family."""

    def build(
        self,
        name: str,
        *,
        runner: object | None,
        options: Mapping[str, Json],
        **more: Any,  # noqa: ANN401 - `source: Source`, for metrics that search alone
    ) -> Metric:
        """Build one metric of the family."""
        ...


def metric_info(name: str) -> MetricInfo:
    """Return what is known of a metric.

    Raises:
        NotFoundError: No metric bears the name.
    """
    for info in METRICS:
        if info.name == name:
            return info
    message = f"There is no metric {name!r}."
    raise NotFoundError(message, advice=f"Choose one of: {', '.join(info.name for info in METRICS)}.")


def build_metric(
    name: str,
    *,
    runner: object | None = None,
    options: Mapping[str, Json] = NO_OPTIONS,
    source: Source | None = None,
) -> Metric:
    """Build a metric by name.

    Args:
        name: One of `METRICS`.
        runner: What asks an LLM (`judges.llm.tasks`); without one, the embedded version is built.
        options: The metric's constants where they differ from the paper's (thresholds, priors).
        source: Where evidence is looked for in place of each item's own passages.

    Raises:
        NotFoundError: No metric bears the name.
        SpecError: An option is unknown or out of bounds, the metric has no embedded version, or it takes
            no source.
    """
    info = metric_info(name)
    family = cast("Family", importlib.import_module(info.family))
    if source is None:
        return family.build(name, runner=runner, options=options)
    if not info.searches:
        known = ", ".join(each.name for each in METRICS if each.searches)
        message = f"The metric {name} looks at the passages of its items alone, not at a corpus or the web."
        raise SpecError(message, advice=f"Leave the corpus out, or choose one of: {known}.")
    return family.build(name, runner=runner, options=options, source=source)


SEARCHED = "searched"


class SourcedMetric:
    """Adds to every score, those without a value too, what was searched: `details["searched"]`.

    Args:
        metric: Scores.
        about: What it searches: a corpus with its content hash, the retriever, the model of embeddings.
    """

    def __init__(self, metric: Metric, about: Mapping[str, Json]) -> None:
        self._metric = metric
        self._about = dict(about)

    @property
    def name(self) -> str:
        """The metric's name."""
        return self._metric.name

    async def score(self, item: MetricItem) -> Score:
        """Score one answer.

        Raises:
            JudgeError: Scoring as a whole cannot go on.
        """
        score = await self._metric.score(item)
        return replace(score, details={**score.details, SEARCHED: self._about})
