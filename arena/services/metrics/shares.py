"""Answers of a set in shares, which are scored wherever the database can be reached."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from arena.services.judging.llm_overrides import LlmOverrides
from arena.services.metrics.factory import MetricRequest
from arena.services.metrics.scoring import Scored
from arena.settings import Settings
from data.models import MetricItem
from judges.llm.costs import Usage

MOST_IN_SHARE = 1000
LEAST_IN_SHARE = 20
SHARES_EACH = 4
"""Shares for each of those who score at once, so that nobody waits long for the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one of several processes scores.

    Attributes:
        submissions: The store's numbers of the submissions.
        answers: Those of the answers.
        request: The metric, with this share's part of calls in flight and of money.
        judge: Under what name the scores are to be stored.
        reaching: How LLMs are reached.
    """

    submissions: tuple[int, ...]
    answers: tuple[int, ...]
    request: MetricRequest
    judge: str
    reaching: LlmOverrides


@dataclass(frozen=True, slots=True)
class ShareDone:
    """What scoring a share came to, and what it took."""

    scored: Scored
    usage: Usage


class Shared(Protocol):
    """Scores shares; what a process that opens the application finds in it."""

    def score_share(self, share: Share) -> ShareDone:
        """Score the answers of a share that have no score yet."""
        ...

    def lines_of(self, items: Sequence[MetricItem], request: MetricRequest) -> list[dict[str, Any]]:
        """The JSON of the scores of some items, in order."""
        ...


class Opened(Protocol):
    """An application."""

    @property
    def metrics(self) -> Shared:
        """Its metrics."""
        ...

    def reaching(self, overrides: LlmOverrides) -> Opened:
        """The same with LLMs reached as wanted."""
        ...


def score_share(arena: Opened, share: Share) -> ShareDone:
    """Score a share in an application of this process."""
    return arena.reaching(share.reaching).metrics.score_share(share)


def lines_of(
    arena: Opened, request: MetricRequest, reaching: LlmOverrides, items: Sequence[MetricItem]
) -> list[dict[str, Any]]:
    """The JSON of the scores of some items, in order, by an application of this process."""
    return arena.reaching(reaching).metrics.lines_of(items, request)


def shares_of(whole: Share, at_once: int) -> Iterator[tuple[Share]]:
    """Cut what is to be scored into shares for so many at once; a budget is divided by answers."""
    count = len(whole.answers)
    size = min(MOST_IN_SHARE, max(LEAST_IN_SHARE, -(-count // (SHARES_EACH * at_once))))
    request = with_part(whole.request, at_once)
    for first in range(0, count, size):
        answers = whole.answers[first : first + size]
        budget = None if request.budget_usd is None else request.budget_usd * len(answers) / count
        yield (replace(whole, answers=answers, request=replace(request, budget_usd=budget)),)


def with_part(request: MetricRequest, at_once: int) -> MetricRequest:
    """A request with the calls in flight that one of so many may have."""
    return replace(request, concurrency=max(1, request.concurrency // at_once))


def overrides_for(settings: Settings, at_once: int) -> LlmOverrides:
    """How LLMs are reached by one of so many: as here, with a part of what is allowed in a minute."""
    return LlmOverrides(
        cache_mode=settings.cache_mode,
        transport=settings.transport,
        rpm=None if settings.rpm is None else max(1, settings.rpm // at_once),
        tpm=None if settings.tpm is None else max(1, settings.tpm // at_once),
        timeout=settings.timeout,
    )
