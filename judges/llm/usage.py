"""Parse the token usage that providers report.

Providers differ in two ways that affect costs. OpenAI counts thinking as output; xAI, Perplexity and Google
exclude it, and only their totals or a separate count include it. OpenAI counts cached input as input;
Anthropic reports it separately. Gateways may also report the cost of a call.
"""

from collections.abc import Mapping
from typing import Any

from data.models import TokenUsage

MAX_TOKENS = 100_000_000
"""Larger numbers of tokens are ignored as implausible."""
MAX_STATED_USD = 100.0
"""Higher reported costs of a call are ignored as implausible."""
COUNTS = (
    ("prompt_tokens", "completion_tokens"),
    ("input_tokens", "output_tokens"),
    ("promptTokenCount", "candidatesTokenCount"),
    ("prompt_token_count", "candidates_token_count"),
    ("prompt_eval_count", "eval_count"),
    ("inputTokens", "outputTokens"),
)
"""Providers' names for input and output tokens."""
TOTALS = ("total_tokens", "totalTokenCount", "total_token_count", "totalTokens")
OUTSIDE = ("thoughtsTokenCount", "thoughts_token_count")
"""Google's thinking, which is never counted as output."""
THINKING = ("reasoning_tokens", "citation_tokens")
CACHED = ("cached_tokens", "cached_prompt_text_tokens", "prompt_cache_hit_tokens", "cachedContentTokenCount")
WRITTEN = ("cache_write_tokens", "cache_creation_input_tokens", "cache_creation_tokens")
"""Cached input, and input written to a cache, in details; both are also counted as input."""
CACHE_READ = ("cache_read_input_tokens", "cacheReadInputTokens")
CACHE_WRITE = ("cache_creation_input_tokens", "cacheWriteInputTokens")
"""Anthropic's and Amazon's names, whose input excludes both."""
COSTS = ("cost", "total_cost", "estimated_cost")
TICKS_PER_USD = 1e10
"""xAI's unit of costs, https://docs.x.ai/developers/cost-tracking."""
STATED = "stated_cost"
"""Key in a body for the cost from its headers."""
COST_HEADERS = ("x-litellm-response-cost", "x-portkey-cost", "helicone-cost")
REPORTS = ("usage", "usageMetadata", "usage_metadata")


def usage_of(payload: object) -> TokenUsage | None:
    """Return the usage of a call; None without plausible numbers."""
    if not isinstance(payload, dict):
        return None
    usage, cost = None, _dollars(payload.get(STATED))
    for name in REPORTS:
        if isinstance(report := payload.get(name), dict):
            usage = usage or _read(report)
            cost = max(cost, _stated(report))
    usage = usage or _read(payload)
    if usage is None:
        return TokenUsage(stated_usd=cost) if cost else None
    return usage._replace(stated_usd=cost)


def with_header_cost(payload: object, headers: Mapping[str, str]) -> object:
    """Add the cost from a gateway's headers to the body."""
    cost = max(_dollars(headers.get(name)) for name in COST_HEADERS)
    return {**payload, STATED: cost} if cost and isinstance(payload, Mapping) else payload


def _read(report: Mapping[str, Any]) -> TokenUsage | None:
    total = _first(report, TOTALS)
    for input_name, output_name in COUNTS:
        prompt = count_of(report.get(input_name))
        completion = count_of(report.get(output_name, 0 if total else None))
        if prompt is not None and completion is not None:
            break
    else:
        return None
    details = report.get("prompt_tokens_details") or report.get("input_tokens_details")
    cached = _first(report, CACHED) or _first(details, CACHED)
    separate, stored = _first(report, CACHE_READ), _first(report, CACHE_WRITE)
    if not stored and isinstance(lifetimes := report.get("cache_creation"), Mapping):
        stored = sum(count_of(tokens) or 0 for tokens in lifetimes.values())
    if separate + stored and _is_separate(input_name, prompt, completion, separate + stored, total):
        prompt += separate + stored
    prompt += _first(report, ("toolUsePromptTokenCount", "tool_use_prompt_token_count"))
    outside, reasoning = _first(report, OUTSIDE), _reasoning(report)
    stored = stored or _first(details, WRITTEN)
    # Perplexity and xAI exclude thinking from the output, OpenAI includes it; without a total, only more
    # thinking than output proves that it is excluded.
    thinking = max(outside, reasoning if reasoning > completion else 0, total - prompt - completion)
    cached = min(cached or separate, prompt)
    return TokenUsage(
        input=prompt,
        output=completion + thinking,
        thinking=thinking,
        cached=cached,
        cache_written=min(stored, prompt - cached),
        reasoning=min(max(reasoning, thinking), completion + thinking),
    )


def _is_separate(name: str, prompt: int, completion: int, cached: int, total: int) -> bool:
    """Return whether the input excludes cached input, as with Anthropic and some gateways."""
    if total:
        return total >= prompt + completion + cached
    return name == "input_tokens" or cached > prompt


def _reasoning(report: Mapping[str, Any]) -> int:
    details = report.get("completion_tokens_details") or report.get("output_tokens_details")
    separate = sum(count_of(report[name]) or 0 for name in THINKING if name in report)
    return separate or _first(details, THINKING)


def _first(report: object, names: tuple[str, ...]) -> int:
    # A loop, because generators took a tenth of the time of a call here.
    if isinstance(report, dict):
        for name in names:
            if name in report and (count := count_of(report[name])):
                return count
    return 0


def _stated(report: Mapping[str, Any]) -> float:
    """Return the cost in a report of usage, in USD; 0 without one, or in another currency."""
    if str(report.get("currency") or "USD").upper() != "USD":
        return 0.0
    cost = max(_dollars(report.get(name)) for name in COSTS)
    ticks = report.get("cost_in_usd_ticks")
    if isinstance(ticks, int | float) and ticks <= MAX_STATED_USD * TICKS_PER_USD:
        cost = max(cost, _dollars(ticks / TICKS_PER_USD))
    details = report.get("cost_details")
    upstream = _dollars(details.get("upstream_inference_cost")) if isinstance(details, Mapping) else 0.0
    # With the user's own key, OpenRouter's cost is only its fee.
    return cost + upstream if report.get("is_byok") is True else max(cost, upstream)


def _dollars(value: object) -> float:
    """Return a reported cost in USD (Perplexity reports an object); 0 if implausible."""
    if value is None:
        return 0.0
    if isinstance(value, Mapping):
        value = value.get("total_cost")
    try:
        cost = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else 0.0
    except (ValueError, OverflowError):
        return 0.0
    return cost if 0 < cost <= MAX_STATED_USD else 0.0


def count_of(value: object) -> int | None:
    """Return a plausible whole number of tokens, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value <= MAX_TOKENS or value != int(value):
        return None
    return int(value)
