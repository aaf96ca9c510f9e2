"""A board as records of Every Eval Ever, in the tree of files that its datastore takes.

Source: EvalEval Coalition, Every Eval Ever, version 0.2.2, README and `eval.schema.json`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from leaderboard.export.eval_records import (
    ConfidenceInterval,
    Details,
    Evaluation,
    Library,
    LlmScoring,
    MetricConfig,
    ModelInfo,
    Result,
    ScoreDetails,
    SourceData,
    SourceMetadata,
    StandardError,
    Uncertainty,
)
from leaderboard.vocabulary import OVERALL

LIBRARY = "answer-arena"
RATES = (
    ("win_rate", "Win rate", "won", "lower", "upper"),
    ("win_tie_rate", "Win + tie rate", "won or tied", "win_tie_lower", "win_tie_upper"),
)
_UNSAFE = re.compile(r"[^\w.+-]+")

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """What is said of a system beside its figures: its model, who made it, what else its card says."""

    model: str = ""
    organisation: str = ""
    details: Details = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardSource:
    """Where a board's figures are from.

    Attributes:
        name: The board's name.
        content_hash: sha256 of the standings.
        published_at: When it was published.
        imported: Whether it holds published counts that were not judged here.
        organisation: Who runs the arena.
        address: The arena's site; empty where it has none.
        version: Of the library that judged.
        scoring: The LLMs that judge; None where none does.
        entrants: What is said of systems, by name.
    """

    name: str
    content_hash: str
    published_at: datetime
    imported: bool
    organisation: str
    version: str
    address: str = ""
    scoring: LlmScoring | None = None
    entrants: Mapping[str, Entrant] = field(default_factory=dict)


def evaluations(standings: Json, source: BoardSource) -> Iterator[tuple[str, Evaluation]]:
    """Every system of a board but its reference, as one record each, in the order of the board.

    Returns:
        Pairs of the record and its place in the tree that the format asks for:
        `data/BOARD/DEVELOPER/SYSTEM/UUID.json`.
    """
    scale = _rating_scale(standings)
    for line in standings["lines"][OVERALL]:
        system = line["system"]
        if system == standings.get("reference"):
            continue
        entrant = source.entrants.get(system, Entrant())
        model = _model(system, entrant)
        results = [
            result
            for domain, lines in standings["lines"].items()
            for one in lines
            if one["system"] == system
            for result in _results(standings, domain, one, scale, source)
        ]
        if not results:
            continue
        moment = f"{source.published_at.timestamp():.6f}"
        yield (
            _place(source, model),
            Evaluation(
                evaluation_id=f"{source.name}/{model.id}/{moment}",
                evaluation_timestamp=standings["facts"].get("finished"),
                retrieved_timestamp=moment,
                source_metadata=_metadata(standings, source),
                eval_library=Library(name=LIBRARY, version=source.version),
                model_info=model,
                evaluation_results=results,
            ),
        )


def _model(system: str, entrant: Entrant) -> ModelInfo:
    """The format names models `DEVELOPER/MODEL`; a system is no model, so it goes by its own name."""
    developer = entrant.organisation or "unknown"
    details = {"kind": "question-answering system", "model": entrant.model, **entrant.details}
    return ModelInfo(
        name=system,
        id=f"{_safe(developer)}/{_safe(system)}",
        developer=entrant.organisation or None,
        additional_details={name: value for name, value in details.items() if value},
    )


def _safe(text: str) -> str:
    """A text as a part of a path."""
    return _UNSAFE.sub("-", text).strip(".-") or "unnamed"


def _place(source: BoardSource, model: ModelInfo) -> str:
    """The file's path; the UUID that it is to be named by follows from the content, so that it stays."""
    digest = hashlib.sha256(f"{source.content_hash} {model.name}".encode()).digest()
    return f"data/{_safe(source.name)}/{model.id}/{UUID(bytes=digest[:16], version=4)}.json"


def _metadata(standings: Json, source: BoardSource) -> SourceMetadata:
    details = {"board": source.name, "content_sha256": source.content_hash, **_texts(standings["facts"])}
    return SourceMetadata(
        source_name=str(standings.get("title") or source.name),
        source_type="documentation" if source.imported else "evaluation_run",
        source_organization_name=source.organisation,
        source_organization_url=source.address or None,
        evaluator_relationship="third_party",
        additional_details=details,
    )


def _texts(fields: Json) -> dict[str, str]:
    return {name: str(value) for name, value in fields.items() if value not in (None, "")}


def _rating_scale(standings: Json) -> tuple[float, float]:
    """Ratings have no bounds of their own, and the format wants some: the ends of the board's intervals."""
    ends = [
        end
        for lines in standings["lines"].values()
        for line in lines
        if line["rating"]
        for end in (line["rating"]["lower"], line["rating"]["upper"], line["rating"]["rating"])
        if end is not None
    ]
    return (min(ends), max(ends)) if ends else (0.0, 0.0)


def _results(
    standings: Json, domain: str, line: Json, scale: tuple[float, float], source: BoardSource
) -> Iterator[Result]:
    """The figures of one system in one domain: its rating, its rates, and the mean of each metric."""
    data = _questions(standings, domain)
    if line["rating"] and line["rating"]["rating"] is not None:
        yield _rating(standings, domain, line["rating"], scale, source, data)
    if line["rate"]:
        yield from _rates(standings, domain, line["rate"], source, data)
    for metric, score in line["scores"].items():
        if score["mean"] is not None:
            yield _mean(domain, metric, score, data)


def _questions(standings: Json, domain: str) -> SourceData:
    facts = standings["facts"]
    name = str(facts.get("question set") or standings.get("title") or standings["name"])
    labels = {one["id"]: one["label"] for one in standings["domains"]}
    details = {"domain": labels.get(domain, domain), "licence": facts.get("licence", "")}
    return SourceData(dataset_name=name, additional_details=_texts(details))


def _rating(
    standings: Json,
    domain: str,
    rating: Json,
    scale: tuple[float, float],
    source: BoardSource,
    data: SourceData,
) -> Result:
    settings: Json = standings["rating_settings"] or {}
    method = str(settings.get("method", "bradley-terry"))
    interval = str(settings.get("interval", ""))
    draws = settings.get("bootstrap")
    return Result(
        evaluation_result_id=f"{domain}/rating",
        evaluation_name=f"{source.name}: {domain}",
        source_data=data,
        metric_config=MetricConfig(
            evaluation_description="Strength in pairwise battles on the Elo scale.",
            metric_id=f"{LIBRARY}.rating",
            metric_name="Rating",
            metric_kind="elo",
            metric_unit="points",
            metric_parameters={"method": method, "anchor": str(settings.get("anchor") or "mean 1000")},
            min_score=scale[0],
            max_score=scale[1],
            llm_scoring=source.scoring,
            additional_details={
                "bounds": "Ratings have no bounds: these are the ends of the board's intervals."
            },
        ),
        score_details=ScoreDetails(
            score=rating["rating"],
            details=_texts(
                {name: rating.get(name) for name in ("rank_lower", "rank_upper", "letters", "battles")}
            ),
            uncertainty=_uncertainty(rating, "lower", "upper", interval, error="se", draws=draws),
        ),
    )


def _rates(
    standings: Json, domain: str, rate: Json, source: BoardSource, data: SourceData
) -> Iterator[Result]:
    settings: Json = standings["rate_settings"]
    against = settings.get("reference") or "all systems"
    for name, label, what, lower, upper in RATES:
        if rate[name] is None:
            continue
        yield Result(
            evaluation_result_id=f"{domain}/{name}",
            evaluation_name=f"{source.name}: {domain}",
            source_data=data,
            metric_config=MetricConfig(
                evaluation_description=f"Share of battles against {against} that were {what}.",
                metric_id=f"{LIBRARY}.{name}",
                metric_name=label,
                metric_kind="win_rate",
                metric_unit="proportion",
                metric_parameters={"opponent": against},
                min_score=0.0,
                max_score=1.0,
                llm_scoring=source.scoring,
            ),
            score_details=ScoreDetails(
                score=rate[name],
                details=_texts({count: rate.get(count) for count in ("battles", "wins", "ties", "losses")}),
                uncertainty=_uncertainty(
                    rate, lower, upper, str(settings.get("interval", "")), count="questions"
                ),
            ),
        )


def _mean(domain: str, metric: str, score: Json, data: SourceData) -> Result:
    name, _, scorer = metric.partition(" ")
    return Result(
        evaluation_result_id=f"{domain}/{metric}",
        evaluation_name=f"{domain}: {metric}",
        source_data=data,
        metric_config=MetricConfig(
            evaluation_description=f"Mean of {name} over a system's answers.",
            metric_id=f"{LIBRARY}.{name}",
            metric_name=name,
            metric_kind=name.partition("-")[0],
            metric_unit="proportion",
            min_score=0.0,
            max_score=1.0,
            additional_details={"scorer": scorer or "embedded, without an LLM"},
        ),
        score_details=ScoreDetails(
            score=score["mean"],
            details=_texts({"undefined": score.get("undefined")}),
            uncertainty=_uncertainty(score, "lower", "upper", "bootstrap", count="answers"),
        ),
    )


def _uncertainty(
    fields: Json,
    lower: str,
    upper: str,
    method: str,
    *,
    error: str = "",
    count: str = "",
    draws: int | None = None,
) -> Uncertainty | None:
    known = fields.get(lower) is not None and fields.get(upper) is not None
    bounds = ConfidenceInterval(lower=fields[lower], upper=fields[upper], method=method) if known else None
    value = fields.get(error) if error else None
    parts = Uncertainty(
        standard_error=None if value is None else StandardError(value=value, method=method),
        confidence_interval=bounds,
        num_samples=fields.get(count) or None,
        num_bootstrap_samples=draws or None,
    )
    return None if parts == Uncertainty() else parts
