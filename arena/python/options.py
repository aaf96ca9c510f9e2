"""Options of the Python functions, as types; `rank` and `leaderboard.ratings.rate` explain them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from pathlib import Path

    from arena.python.frames import Data
    from leaderboard.ratings import Anchor, Bounds, Cluster, IntervalKind, Method

JudgeFunction: TypeAlias = Callable[[str, str, str, str | None], str | Awaitable[str]]


class RankOptions(TypedDict, total=False):
    """Options that choose what a ranking compares, and by which judge."""

    judge: str | JudgeFunction
    endpoint: str
    system: str | None
    question: str | None
    answer: str | None
    reference: str | None
    domain: str | None
    vs: str
    missing: str
    sample: str | int | None
    max_usd: float | None
    seed: int
    with_reference: bool
    retry: Literal["all", "none"]
    go_on: bool
    keep_errors: bool
    repeats: Literal["first", "all"]


class EstimateOptions(RankOptions, total=False):
    """Options of an estimate; the last two change no cost."""

    out: str | Path | None
    concurrency: int
    progress: bool


class AddOptions(RankOptions, total=False):
    """Options with which systems are added to a ranking."""

    references: Data | None
    concurrency: int
    progress: bool


class RateOptions(TypedDict, total=False):
    """Settings of ratings, as text or members."""

    method: Method | str
    interval: IntervalKind | str | None
    bootstrap: int
    cluster: Cluster | str
    anchor: Anchor | str | None
    seed: int
    bounds: Bounds | str
