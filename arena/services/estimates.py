"""What a planned round would ask and cost, from a sample of its battles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena.services.attacks import canary_count
from arena.services.contests import contests_of
from data.records import JudgeKind
from data.store import Store
from judges.estimate import Estimate, estimate
from judges.llm.prices import Prices
from judges.llm.tokens import TokenCounter
from judges.spec import JudgeSpec, leaves

if TYPE_CHECKING:
    from arena.services.rounds import PlannedRound

SAMPLED = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundEstimate:
    """What a round with its canaries takes; the costs are None where a model has no known price.

    `cost_usd` expects every request to return its most tokens once; `cost_usd_most` also has every
    battle re-asked and swapped as often as the judge may.
    """

    requests: int
    requests_most: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    cost_usd_most: float | None


def estimate_round(store: Store, planned: PlannedRound, prices: Prices) -> RoundEstimate:
    """Estimate a planned round from up to 200 of its battles, spread evenly."""
    open_battles = [battle for battle in planned.plan.battles if battle.outcome is None]
    step = max(1, len(open_battles) // SAMPLED)
    sample = open_battles[::step][:SAMPLED]
    contests = tuple(contests_of(store, planned, sample))
    counter = TokenCounter()
    factor = (len(open_battles) + canary_count(planned)) / len(sample) if sample else 0.0
    total = Estimate()
    cost: float | None = 0.0
    most: float | None = 0.0
    for leaf in leaves(planned.spec):
        if leaf.kind is not JudgeKind.LLM:
            continue
        part = estimate(leaf, contests, tokens=counter.expected).scaled(factor)
        total = _added(total, part)
        cost, most = _priced(prices, leaf, part, cost, most)
    return RoundEstimate(
        requests=total.requests,
        requests_most=total.requests_most,
        input_tokens=total.prompt_tokens,
        output_tokens=total.output_tokens,
        cost_usd=cost,
        cost_usd_most=most,
    )


def _priced(
    prices: Prices, leaf: JudgeSpec, part: Estimate, cost: float | None, most: float | None
) -> tuple[float | None, float | None]:
    paid = prices.cost(leaf.endpoint, leaf.model, part.prompt_tokens, part.output_tokens)
    if paid is None or cost is None or most is None:
        return None, None
    asked_again = part.requests_most / part.requests if part.requests else 1.0
    return cost + paid, most + paid * asked_again


def _added(one: Estimate, other: Estimate) -> Estimate:
    return Estimate(
        battles=max(one.battles, other.battles),
        requests=one.requests + other.requests,
        requests_most=one.requests_most + other.requests_most,
        prompt_characters=one.prompt_characters + other.prompt_characters,
        prompt_tokens=one.prompt_tokens + other.prompt_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
    )
