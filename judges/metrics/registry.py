"""Registry of metrics and their interface.

A module of this room, or a plugin, describes its metrics in `METRICS`; command line, boards, pages, API,
exports, planning and docs are made from that. What computes a metric is imported when it is built.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
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
        """The name under which the metric is built and its scores are kept."""
        ...

    async def score(self, item: MetricItem) -> Score:
        """Score one answer.

        Raises:
            JudgeError: Scoring as a whole cannot go on (circuit open, replay miss, budget gone).
        """
        ...


class Need(StrEnum):
    """Inputs that a board needs for the scores of a metric, besides question and answer."""

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
    """One number of a scored answer.

    Attributes:
        name: In JSON and as the name of a column.
        symbol: In its paper.
        path: Where the details of a score hold it; empty where it is computed over several answers.
    """

    name: str
    symbol: str
    path: tuple[str, ...] = ()


def stored(name: str, symbol: str = "", *path: str) -> Measure:
    """Return a measure that the details of a score hold, by default under its name."""
    return Measure(name=name, symbol=symbol or name.replace("_", " "), path=path or (name,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """The column of a metric in the standings.

    Attributes:
        usual: Whether it stands there until a reader chooses.
        begins: What the names of metrics begin with of which one may fill it; empty: this metric alone.
        asked: Whether an LLM's scores alone fill it.
        of_people: Whether it is usual only where people wrote the references (True), only where they did not
            (False), or whoever did (None).
        covers: Whether it says how much answers cover of what they should, as rankings give beside ratings.
    """

    heading: str
    help: str
    usual: bool = False
    begins: str = ""
    asked: bool = False
    of_people: bool | None = None
    covers: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFact:
    """Status of one fact of the question in an answer: covered or not, with details."""

    text: str
    covered: bool
    passages: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The facts of a question that a metric's scores tell of, as pages compare answers by them.

    Attributes:
        given: What a question must bring for them.
        read: From the details of a score.
        begins: What the names of metrics begin with whose details hold them; empty: this metric alone.
    """

    kind: str
    given: Need
    read: Callable[[Mapping[str, Any]], Iterable[ReadFact]]
    begins: str = ""


class Cut(StrEnum):
    """By what a passage that is too long for an LLM is cut before the metric."""

    QUESTION = "question"
    ANSWER = "question and answer"
    """Elsewhere passages are a ground truth that all systems share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricInfo:
    """Description of a metric, known without loading it.

    Attributes:
        name: As in `arena metrics score --metric`.
        build: Makes the metric (see `Build`); `later` and `of_function` give one.
        needs: What an item must carry beside question and answer, in words; by default the inputs.
        label: What pages call it; by default its name.
        unit: What a score is: `share`, or what its numbers count.
        symbol: What papers call the score itself.
        measures: What scores hold beside the score.
        column: Where standings show it; None where boards are not scored by it.
        of_reference: Whether boards score the reference too.
        lexical: What a reader must know of the embedded version's means; `lexical_label`, what they are
            called.
        facts: What it tells of a question's facts.
        warn: From the details of sampled scores, what a plan of a run must warn of; empty for nothing.
        searches: Whether it can look for evidence elsewhere than in an item's own passages.
        takes_judgments: Whether it needs judgments of people on passages by aspect.
        takes_ratings: Whether it takes ratings of passages by sub-question.
        rates_claims: Whether it says which claims are supported and which contradicted.
        cut: How its long passages are cut; None where it cuts them itself.
        bounds: The lowest and highest score there can be.
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
        """True if its scores are shares, which pages show in per cent."""
        return self.unit == SHARE

    def text(self, value: float) -> str:
        """Return a score as readers see it."""
        return percent(value) if self.is_share else f"{value:.4g} {self.unit}"

    def filling(self, names: Iterable[str]) -> str | None:
        """Of the names of scores that a board has (`METRIC` or `METRIC JUDGE`), the one for its column."""
        column = self.column
        if column is None or not column.begins:
            return self.name if self.name in names else None
        fitting = sorted(
            name for name in names if name.startswith(column.begins) and (" " in name or not column.asked)
        )
        own = [name for name in fitting if column.asked and name.startswith(f"{self.name} ")]
        return next(iter(own or fitting), None)

    @property
    def all_measures(self) -> tuple[Measure, ...]:
        """The measures of its scores, the score first."""
        return (Measure(name=SCORE, symbol=self.symbol), *self.measures)

    def as_json(self) -> dict[str, Any]:
        """Return its entry in lists."""
        plain = {one.name: getattr(self, one.name) for one in fields(self) if one.name in LISTED}
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
        **more: Any,  # noqa: ANN401 - `source: Source`, for metrics that search alone
    ) -> Metric:
        """Make the metric of a name; without a runner, its embedded version.

        Raises:
            SpecError: An option is unknown or out of bounds, or there is no embedded version.
        """
        ...


def later(module: str) -> Build:
    """Return a factory of metrics that imports its module, with a function `build`, on first use."""

    def build(name: str, *, runner: object | None, options: Mapping[str, Json], **more: Any) -> Metric:  # noqa: ANN401 - as in `Build`
        metric: Metric = import_module(module).build(name, runner=runner, options=options, **more)
        return metric

    return build


def of_function(function: Callable[[MetricItem], Any]) -> Build:
    """Return a maker of a metric without options from a plain or async function of an item.

    The function returns the score, a pair of score and details, or None where the score is undefined.
    """

    def build(name: str, *, runner: object | None, options: Mapping[str, Json], **_more: Any) -> Metric:  # noqa: ANN401 - as in `Build`
        if runner is not None:
            raise SpecError(f"The metric {name} asks no LLM.", advice="Leave --judge out.")
        refuse_options(name, options)
        return _FunctionMetric(name, function)

    return build


class _FunctionMetric:
    def __init__(self, name: str, function: Callable[[MetricItem], Any]) -> None:
        self.name = name
        self._function = function

    async def score(self, item: MetricItem) -> Score:
        returned = self._function(item)
        value = await returned if inspect.isawaitable(returned) else returned
        score, details = value if isinstance(value, tuple) else (value, {})
        if score is None:
            reason = str(dict(details).get("reason") or "The metric is undefined for this answer.")
            missing = unscored(item, self.name, Outcome.UNREADABLE, reason)
            return replace(missing, details={**missing.details, ENGINE: EMBEDDED_ENGINE})
        # Without a version a score counts as that of a former one.
        details = {**details, ENGINE: EMBEDDED_ENGINE}
        return Score(
            id=item.id, metric=self.name, outcome=Outcome.JUDGED, score=float(score), details=details
        )


class _Added:
    """A plugin's metric: a failure fails the item alone, and scores are held to their bounds."""

    def __init__(self, metric: Metric, info: MetricInfo, *, embedded: bool) -> None:
        self.name = info.name
        self._metric = metric
        self._bounds = info.bounds
        self._version = {CODE: code_of(PluginKind.METRICS, info.name)}
        if embedded:
            self._version[ENGINE] = EMBEDDED_ENGINE

    async def score(self, item: MetricItem) -> Score:
        """Score one answer; whatever the plugin's own code raises, its scores have failed."""
        try:
            score = await self._metric.score(item)
            lowest, highest = self._bounds
            if score.score is not None and not lowest <= score.score <= highest:
                raise ValueError(f"{score.score:g} is not between {lowest:g} and {highest:g}")
            details = json_value(score.details)
        except (JudgeError, StoppedError):
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - others' code may raise anything
            why = f"The plugin metric {self.name} failed: {describe_error(error)}."
            return unscored(item, self.name, Outcome.FAILED, why)
        # Embedded scores without a version are taken for those of a former one.
        return replace(score, details={**details, **self._version})


FAMILIES = ("reference", "comprehensiveness", "factuality", "coverage", "context", "citation", "nuggets")
"""The modules of this room that describe metrics, in the order of lists and columns."""


@cache
def own_metrics() -> Mapping[str, MetricInfo]:
    """Return the arena's own metrics by name."""
    modules = [import_module(f".{family}", __package__) for family in FAMILIES]
    return MappingProxyType({info.name: info for module in modules for info in module.METRICS})


def added_metrics() -> PluginEntries[MetricInfo]:
    """Return the metrics of plugins."""
    return plugin_entries(PluginKind.METRICS, MetricInfo, own_metrics())


def metrics() -> tuple[MetricInfo, ...]:
    """Every metric, those of plugins last."""
    return (*own_metrics().values(), *added_metrics().entries)


def covering() -> Mapping[str, Column]:
    """Return the columns that say how much answers cover, by the names of their metrics."""
    return {info.name: info.column for info in metrics() if info.column is not None and info.column.covers}


def metric_info(name: str) -> MetricInfo:
    """Return what is known of a metric.

    Raises:
        NotFoundError: No metric bears the name.
    """
    if name in own_metrics():
        return own_metrics()[name]
    found = added_metrics()
    for info in found.entries:
        if info.name == name:
            return info
    known = ", ".join(info.name for info in metrics())
    raise NotFoundError(
        f"There is no metric {name!r}.", advice=" ".join((f"Choose one of: {known}.", *found.problems))
    )


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
        runner: What asks an LLM (`judges.llm.tasks`); without one, the embedded version is built.
        options: The metric's constants where they differ from the paper's (thresholds, priors).
        source: Where evidence is looked for in place of each item's own passages.

    Raises:
        NotFoundError: No metric bears the name.
        SpecError: An option is unknown or out of bounds, the metric has no embedded version, or it takes
            no source.
    """
    info = metric_info(name)
    if source is not None and not info.searches:
        known = ", ".join(each.name for each in metrics() if each.searches)
        message = f"The metric {name} looks at the passages of its items alone, not at a corpus or the web."
        raise SpecError(message, advice=f"Leave the corpus out, or choose one of: {known}.")
    more = {} if source is None else {"source": source}
    if name in own_metrics():
        return info.build(name, runner=runner, options=options, **more)
    try:
        metric = info.build(name, runner=runner, options=options, **more)
    except SpecError:
        raise
    except Exception as error:
        message = f"The plugin metric {name} cannot be made: {describe_error(error)}."
        raise SpecError(message, advice="Correct the plugin, or leave it out.") from error
    return _Added(metric, info, embedded=runner is None)


SEARCHED = "searched"


class SourcedMetric:
    """Adds to every score, those without a value too, what was searched: `details["searched"]`.

    That is a corpus with its content hash, and the retriever.
    """

    def __init__(self, metric: Metric, about: Mapping[str, Json]) -> None:
        self.name = metric.name
        self._metric = metric
        self._about = dict(about)

    async def score(self, item: MetricItem) -> Score:
        """Score one answer."""
        score = await self._metric.score(item)
        return replace(score, details={**score.details, SEARCHED: self._about})


def refuse_options(name: str, options: Mapping[str, Json]) -> None:
    """Refuse any option of a metric that has none."""
    if options:
        raise SpecError(f"The metric {name} takes no options.", advice=f"Leave out {', '.join(options)}.")


Model = TypeVar("Model", bound=BaseModel)


def read_options(model: type[Model], name: str, options: Mapping[str, Json]) -> Model:
    """Check the options of a metric, filling in the defaults.

    Raises:
        SpecError: An option is unknown or out of bounds.
    """
    try:
        return model.model_validate(dict(options))
    except ValidationError as error:
        problems = "; ".join(in_words(error))
        message = f"The metric {name} cannot use its options: {problems}."
        raise SpecError(message, advice=f"Known: {', '.join(model.model_fields)}.") from error
