"""`/sets/{name}/metrics`: stored scores of metrics as tables and files."""

from __future__ import annotations

import tempfile
from enum import StrEnum
from pathlib import Path as FilePath
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel

from arena.api.caching import JSON, answer, files, problems
from arena.api.dependencies import CheckSlot, Services, Who, client_of
from arena.api.schemas import Name
from arena.models.results import ScoredMetric, ScoreTable
from arena.services.metrics.results import By, ScoreRequest
from arena.services.submissions.turns import party_of
from data.errors import InputError

router = APIRouter(tags=["metrics"])
MetricName = Annotated[
    str, Path(pattern=r"^[a-z0-9-]+$", max_length=60, description="The metric.", examples=["factuality-fr3"])
]
JudgeName = Annotated[
    str,
    Query(
        max_length=120,
        description="Whose scores: `embedded`, or the name (or its beginning) that they are stored under. "
        "Empty: the embedded ones, else the only ones.",
    ),
]
SystemNames = Annotated[
    str, Query(max_length=2_000, description="Names with commas between; empty: all but the reference.")
]


class ScoreFormat(StrEnum):
    """How scores are written."""

    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"
    TREC = "trec"
    """Lines as of `trec_eval -q`, of one system."""


MEDIA_TYPES = {
    ScoreFormat.JSON: JSON,
    ScoreFormat.CSV: "text/csv",
    ScoreFormat.PARQUET: "application/vnd.apache.parquet",
    ScoreFormat.TREC: "text/plain",
}


class ScoredList(BaseModel):
    """What answers to a set were scored by, as far as you may see them."""

    metrics: list[ScoredMetric]


@router.get("/sets/{name}/metrics", responses=problems(404), response_model=ScoredList)
def list_metrics(request: Request, name: Name, arena: Services, caller: Who) -> Response:
    """The metrics that answers to a set have scores by: of published systems, and of your own."""
    scored = arena.score_tables.scored(name, caller=caller)
    lines = [{"metric": metric, "judges": judges} for metric, judges in scored.items()]
    return answer(request, ScoredList(metrics=lines))


@router.get("/sets/{name}/metrics/{metric}", responses=problems(404), response_model=ScoreTable)
async def show_scores(
    request: Request,
    name: Name,
    metric: MetricName,
    arena: Services,
    caller: Who,
    turn: CheckSlot,
    by: Annotated[By, Query(description="What a row stands for.")] = By.SYSTEM,
    judge: JudgeName = "",
    systems: SystemNames = "",
) -> Response:
    """Means over answers with standard deviations and 95 % intervals over questions."""
    wanted = _request(name, metric, judge, systems)
    table = await turn.run(
        party_of(caller, client_of(request)), arena.score_tables.table, wanted, by, caller=caller
    )
    return answer(request, table.shown())


@router.get(
    "/sets/{name}/metrics/{metric}/scores",
    responses={**problems(404), **files("A row an answer.", *MEDIA_TYPES.values())},
    response_class=Response,
)
async def export_scores(
    request: Request,
    name: Name,
    metric: MetricName,
    arena: Services,
    caller: Who,
    turn: CheckSlot,
    form: Annotated[
        ScoreFormat, Query(alias="format", description="How they are written.")
    ] = ScoreFormat.JSON,
    judge: JudgeName = "",
    systems: SystemNames = "",
) -> Response:
    """A row an answer, with every measure and the posteriors of claims; in JSON with details.

    `format=trec` takes one system.
    """
    wanted = _request(name, metric, judge, systems)
    if form is ScoreFormat.TREC and len(wanted.systems) != 1:
        raise InputError("trec_eval's lines are of one system.", advice="Name it: ?systems=NAME&format=trec.")

    def written() -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = FilePath(folder) / f"scores.{form}"
            arena.score_tables.export(wanted, path, caller=caller)
            return path.read_bytes()

    content = await turn.run(party_of(caller, client_of(request)), written)
    filename = f"{name}-{metric}.{form}"
    return answer(request, content, media_type=MEDIA_TYPES[form], filename=filename)


def _request(name: str, metric: str, judge: str, systems: str) -> ScoreRequest:
    names = tuple(system.strip() for system in systems.split(",") if system.strip())
    return ScoreRequest(set_name=name, metric=metric, judge=judge, systems=names)
