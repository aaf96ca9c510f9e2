"""What a round will cost, before anything is asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from judges.llm.prices import Prices
from judges.llm.requests import Request
from judges.llm.settings import AccessSettings, TransportKind
from judges.llm.tokens import TokenCounter

USUAL_OUTPUT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Calls, tokens and USD to expect, and the most that they can cost.

    Both costs are None where a model has no price. Retries of calls that may have been charged
    without a reply come on top.
    """

    calls: int
    input_tokens: int
    output_tokens: int
    usd: float | None
    most_usd: float | None


def estimate(
    requests: Iterable[Request],
    settings: AccessSettings | None = None,
    *,
    calls: int | None = None,
    usual_output: int = USUAL_OUTPUT,
) -> Estimate:
    """Estimate what requests will cost.

    Args:
        requests: All requests, or a fair sample of them.
        settings: Where prices come from and how requests travel.
        calls: How many requests there are in all, where only a sample is given.
        usual_output: Output tokens of a usual reply; requests that allow fewer count with those.

    Raises:
        SpecError: The settings' prices file cannot be used.
    """
    settings = settings or AccessSettings()
    prices = Prices.load(
        settings.prices,
        batch=settings.transport is TransportKind.BATCH,
        litellm=settings.transport is TransportKind.LITELLM,
    )
    counter = TokenCounter()
    seen = given = returned = 0
    usd: float | None = 0.0
    most: float | None = 0.0
    for request in requests:
        most_output = request.sampling.max_tokens or settings.unbounded_output
        expected, output = counter.expected(request), min(usual_output, most_output)
        seen, given, returned = seen + 1, given + expected, returned + output
        usd = _plus(usd, prices.cost(request.endpoint, request.model, expected, output))
        most = _plus(most, prices.cost(request.endpoint, request.model, counter.bound(request), most_output))
    scale = 1.0 if calls is None or not seen else calls / seen
    return Estimate(
        calls=seen if calls is None else calls,
        input_tokens=round(given * scale),
        output_tokens=round(returned * scale),
        usd=None if usd is None else usd * scale,
        most_usd=None if most is None else most * scale,
    )


def _plus(total: float | None, cost: float | None) -> float | None:
    """The sum, None as soon as one part is unknown."""
    return None if total is None or cost is None else total + cost
