"""Registry of metrics and their interface.

Each family, or a plugin, describes its metrics in `METRICS`, from which commands, boards, pages, API,
exports, plans and docs are derived. The implementation is imported when a metric is built.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from pydantic import BaseModel, ValidationError

from data.errors import JudgeError, NotFoundError, SpecError, StoppedError
from data.files.strict_json import in_words
from data.models import EMBEDDED_ENGINE, ENGINE, Json, MetricItem, Outcome, Score, unscored
from data.plugins import CODE, PluginEntries, PluginKind, code_of, describe_error, json_value, plugin_entries
from data.text import percent

if TYPE_CHECKING:
    from judges.metrics.coverage.sources import Source

NO_OPTIONS: Mapping[str, Json] = MappingProxyType({})


@runtime_checkable
class Metric(Protocol):
    """Scores one answer at a time. Failures are outcomes, not exceptions."""

    @property
    def name(self) -> str:
        """Name of the metric, also in stored scores."""
        ...

    async def score(self, item: MetricItem) -> Score:
        """Score one answer.

        Raises:
            JudgeError: All scoring must stop (circuit open, replay miss, budget spent).
        """
        ...


class Need(StrEnum):
    """Inputs of a metric in addition to question and answer."""

    PASSAGES = "passages"
    GROUND_TRUTH = "passages or references"
    REFERENCES = "references"
    ASPECTS = "aspects"
    SUB_QUESTIONS = "sub-questions"
    CONTEXTS = "contexts"
    CITATIONS = "citations"
    NUGGETS = "nuggets"


SCORE = "score"
SHARE = "share"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A number in the details of a score.

    Attributes:
        name: Name in JSON and of columns.
        symbol: Symbol in the paper.
        path: Path in the details of a score; empty if computed over several answers.
    """

    name: str
    symbol: str
    path: tuple[str, ...] = ()


def stored(name: str, symbol: str = "", *path: str) -> Measure:
    """Return a measure in the details of a score, by default under its name."""
    return Measure(name=name, symbol=symbol or name.replace("_", " "), path=path or (name,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """The column of a metric in the standings.

    Attributes:
        usual: Whether it is a default column.
        prefix: Prefix of the names of metrics that may fill it; empty for only this metric.
        llm_only: Whether only scores by an LLM fill it.
        of_people: Whether it is a default only if people wrote the references (True), only if they did not
            (False), or in both cases (None).
        covers: Whether it is a measure of coverage, which rankings report next to ratings.
    """

    heading: str
    help: str
    usual: bool = False
    prefix: str = ""
    llm_only: bool = False
    of_people: bool | None = None
    covers: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFact:
    """A fact of the question, whether an answer covers it, and details."""

    text: str
    covered: bool
    passages: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The facts of a question in a metric's scores, by which pages compare answers.

    Attributes:
        need: Input that a question must have.
        read: Reads the facts from the details of a score.
        prefix: Prefix of the names of metrics with these details; empty for only this metric.
    """

    kind: str
    need: Need
    read: Callable[[Mapping[str, Any]], Iterable[ReadFact]]
    prefix: str = ""


class Cut(StrEnum):
    """Texts that guide the shortening of passages that are too long for an LLM."""

    QUESTION = "question"
    ANSWER = "question and answer"
    """For metrics without a ground truth that all systems share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricInfo:
    """Description of a metric.

    Attributes:
        name: Value of `arena metrics score --metric`.
        build: Factory of the metric (see `Build`, `lazy_build` and `of_function`).
        needs: Required inputs of an item, in words; by default from `inputs`.
        label: Name on pages; by default `name`.
        unit: Unit of scores: `share`, or what they count.
        symbol: Symbol of the score in papers.
        measures: Further numbers of scores.
        column: Column in standings; None if boards do not use the metric.
        of_reference: Whether boards also score the reference.
        lexical: Note for readers on means of the embedded version.
        lexical_label: Name of these means.
        facts: Facts of the question in its scores.
        warn: Returns a warning for a plan from the details of sampled scores, or an empty string.
        searches: Whether it can search for evidence beyond an item's own passages.
        takes_judgments: Whether it needs human judgments of passages by aspect.
        takes_ratings: Whether it accepts ratings of passages by sub-question.
        rates_claims: Whether it labels claims as supported or contradicted.
        cut: How long passages are shortened; None if the metric shortens them.
        bounds: Minimum and maximum score.
    """

    name: str
    title: str
    build: "Build"
    inputs: tuple[Need, ...] = ()
    needs: str = ""
    label: str = ""
    unit: str = SHARE
    symbol: str = SCORE
    measures: tuple[Measure, ...] = ()
    column: Column | None = None
    of_reference: bool = True
    lexical: str = ""
    lexical_label: str = ""
    facts: Facts | None = None
    warn: Callable[[Sequence[Mapping[str, Any]]], str] | None = None
    embedded: bool = True
    searches: bool = False
    takes_judgments: bool = False
    takes_ratings: bool = False
    rates_claims: bool = False
    cut: Cut | None = None
    bounds: tuple[float, float] = (0.0, 1.0)

    @property
    def called(self) -> str:
        """Its label, or else its name."""
        return self.label or self.name

    @property
    def is_share(self) -> bool:
        """True if its scores are shares, which pages display in per cent."""
        return self.unit == SHARE

    def text(self, value: float) -> str:
        """Format a score."""
        return percent(value) if self.is_share else f"{value:.4g} {self.unit}"

    def filling(self, names: Iterable[str]) -> str | None:
        """Select the scores for its column from a board's names (`METRIC` or `METRIC JUDGE`)."""
        column = self.column
        if column is None or not column.prefix:
            return self.name if self.name in names else None
        matches = sorted(
            name for name in names if name.startswith(column.prefix) and (" " in name or not column.llm_only)
        )
        own = [name for name in matches if column.llm_only and name.startswith(f"{self.name} ")]
        return next(iter(own or matches), None)

    @property
    def all_measures(self) -> tuple[Measure, ...]:
        """Measures of its scores, beginning with the score."""
        return (Measure(name=SCORE, symbol=self.symbol), *self.measures)

    def as_json(self) -> dict[str, Any]:
        """Return its entry in lists."""
        plain = {name: getattr(self, name) for name in LISTED}
        return {
            **plain,
            "label": self.called,
            "needs": self.needs or " and ".join(self.inputs),
            "column": self.column and self.column.heading,
            "measures": {measure.name: measure.symbol for measure in self.all_measures},
        }


LISTED = ("name", "title", "unit", "embedded", "searches", "takes_judgments", "bounds")


class Build(Protocol):
    """Factory of a metric."""

    def __call__(
        self,
        name: str,
        *,
        runner: object | None,
        options: Mapping[str, Json],
        **more: Any,  # noqa: ANN401 - `source: Source`, only for metrics that search
    ) -> Metric:
        """Build a metric; without a runner, its embedded version.

        Raises:
            SpecError: Invalid option, or no embedded version.
        """
        ...


def lazy_build(module: str) -> Build:
    """Return a factory that calls the function `build` of a module, imported on first use."""

    def build(name: str, *, runner: object | None, options: Mapping[str, Json], **more: Any) -> Metric:  # noqa: ANN401 - as in `Build`
        metric: Metric = import_module(module).build(name, runner=runner, options=options, **more)
        return metric

    return build


def of_function(function: Callable[[MetricItem], Any]) -> Build:
    """Return a factory for a metric without options from a plain or async function of an item.

    The function returns the score, a pair of score and details, or None for an undefined score.
    """

    def build(name: str, *, runner: object | None, options: Mapping[str, Json], **_more: Any) -> Metric:  # noqa: ANN401 - as in `Build`
        if runner is not None:
            raise SpecError(f"The metric {name} does not use an LLM.", advice="Leave out --judge.")
        refuse_options(name, options)
        return _FunctionMetric(name, function)

    return build


class _FunctionMetric:
    def __init__(self, name: str, function: Callable[[MetricItem], Any]) -> None:
        self.name = name
        self._function = function

    async def score(self, item: MetricItem) -> Score:
        result = self._function(item)
        value = await result if inspect.isawaitable(result) else result
        score, details = value if isinstance(value, tuple) else (value, {})
        if score is None:
            reason = str(dict(details).get("reason") or "The metric is undefined for this answer.")
            missing = unscored(item, self.name, Outcome.UNREADABLE, reason)
            return replace(missing, details={**missing.details, ENGINE: EMBEDDED_ENGINE})
        # Scores without a version count as scores of an earlier one.
        details = {**details, ENGINE: EMBEDDED_ENGINE}
        return Score(
            id=item.id, metric=self.name, outcome=Outcome.JUDGED, score=float(score), details=details
        )


class _PluginMetric:
    """A plugin's metric: an exception fails only its item, and scores are checked against bounds."""

    def __init__(self, metric: Metric, info: MetricInfo, *, embedded: bool) -> None:
        self.name = info.name
        self._metric = metric
        self._bounds = info.bounds
        self._version = {CODE: code_of(PluginKind.METRICS, info.name)}
        if embedded:
            self._version[ENGINE] = EMBEDDED_ENGINE

    async def score(self, item: MetricItem) -> Score:
        try:
            score = await self._metric.score(item)
            lowest, highest = self._bounds
            if score.score is not None and not lowest <= score.score <= highest:
                raise ValueError(f"{score.score:g} is not between {lowest:g} and {highest:g}")
            details = json_value(score.details)
        except (JudgeError, StoppedError):
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - plugins may raise anything
            reason = f"The plugin metric {self.name} failed: {describe_error(error)}."
            return unscored(item, self.name, Outcome.FAILED, reason)
        # Embedded scores without a version count as scores of an earlier one.
        return replace(score, details={**details, **self._version})


FAMILIES = ("reference", "comprehensiveness", "factuality", "coverage", "context", "citation", "nuggets")
"""Packages that describe metrics, in the order of lists and columns."""


@cache
def own_metrics() -> Mapping[str, MetricInfo]:
    """Return the arena's own metrics by name."""
    modules = [import_module(f".{family}", __package__) for family in FAMILIES]
    return MappingProxyType({info.name: info for module in modules for info in module.METRICS})


def added_metrics() -> PluginEntries[MetricInfo]:
    """Return the metrics of plugins."""
    return plugin_entries(PluginKind.METRICS, MetricInfo, own_metrics())


def metrics() -> tuple[MetricInfo, ...]:
    """Return all metrics, plugins last."""
    return (*own_metrics().values(), *added_metrics().entries)


def covering() -> Mapping[str, Column]:
    """Return the columns of coverage by metric."""
    return {info.name: info.column for info in metrics() if info.column is not None and info.column.covers}


def metric_info(name: str) -> MetricInfo:
    """Return a metric by name, or raise `NotFoundError`."""
    if name in own_metrics():
        return own_metrics()[name]
    plugins = added_metrics()
    for info in plugins.entries:
        if info.name == name:
            return info
    known = ", ".join(info.name for info in metrics())
    advice = " ".join((f"Choose one of: {known}.", *plugins.problems))
    raise NotFoundError(f"Unknown metric {name!r}.", advice=advice)


def build_metric(
    name: str,
    *,
    runner: object | None = None,
    options: Mapping[str, Json] = NO_OPTIONS,
    source: "Source | None" = None,
) -> Metric:
    """Build a metric by name.

    Args:
        name: One of `metrics()`.
        runner: Runs LLM tasks (`judges.llm.tasks`); None builds the embedded version.
        options: Constants that differ from the paper's (thresholds, priors).
        source: Searched for evidence instead of each item's own passages.

    Raises:
        NotFoundError: Unknown metric.
        SpecError: Invalid option, no embedded version, or the metric takes no source.
    """
    info = metric_info(name)
    if source is not None and not info.searches:
        known = ", ".join(metric.name for metric in metrics() if metric.searches)
        message = f"The metric {name} uses only the passages of its items, not a corpus or the web."
        raise SpecError(message, advice=f"Leave out the corpus, or choose one of: {known}.")
    more = {} if source is None else {"source": source}
    if name in own_metrics():
        return info.build(name, runner=runner, options=options, **more)
    try:
        metric = info.build(name, runner=runner, options=options, **more)
    except SpecError:
        raise
    except Exception as error:
        message = f"The plugin metric {name} cannot be built: {describe_error(error)}."
        raise SpecError(message, advice="Correct the plugin, or leave it out.") from error
    return _PluginMetric(metric, info, embedded=runner is None)


SEARCHED = "searched"


class SourcedMetric:
    """Adds the searched corpus, its content hash and the retriever to `details["searched"]` of scores."""

    def __init__(self, metric: Metric, about: Mapping[str, Json]) -> None:
        self.name = metric.name
        self._metric = metric
        self._about = dict(about)

    async def score(self, item: MetricItem) -> Score:
        """Score one answer."""
        score = await self._metric.score(item)
        return replace(score, details={**score.details, SEARCHED: self._about})


def refuse_options(name: str, options: Mapping[str, Json]) -> None:
    """Raise `SpecError` for any option."""
    if options:
        raise SpecError(f"The metric {name} takes no options.", advice=f"Leave out {', '.join(options)}.")


Model = TypeVar("Model", bound=BaseModel)


def read_options(model: type[Model], name: str, options: Mapping[str, Json]) -> Model:
    """Validate the options of a metric and fill in defaults, or raise `SpecError`."""
    try:
        return model.model_validate(dict(options))
    except ValidationError as error:
        problems = "; ".join(in_words(error))
        message = f"Invalid options of the metric {name}: {problems}."
        raise SpecError(message, advice=f"Known: {', '.join(model.model_fields)}.") from error
