"""Usage of tokens as providers report it, read in one place for every transport.

Providers differ in two points that cost money. OpenAI counts thinking as written tokens; xAI, Perplexity and
Google's endpoints leave it out, and only their totals or a count of its own show it. OpenAI counts input
read from a cache as input; Anthropic reports it apart. Gateways also state what a call cost.
"""

from collections.abc import Mapping
from typing import Any

from data.models import TokenUsage

MAX_TOKENS = 100_000_000
"""Larger numbers of tokens are not believed."""
MAX_STATED_USD = 100.0
"""Higher stated costs of one call are not believed."""
COUNTS = (
    ("prompt_tokens", "completion_tokens"),
    ("input_tokens", "output_tokens"),
    ("promptTokenCount", "candidatesTokenCount"),
    ("prompt_token_count", "candidates_token_count"),
    ("prompt_eval_count", "eval_count"),
)
"""Names that providers give to the tokens read and written."""
TOTALS = ("total_tokens", "totalTokenCount", "total_token_count")
OUTSIDE = ("thoughtsTokenCount", "thoughts_token_count")
"""Google's thinking, which is never among the candidates' tokens."""
THINKING = ("reasoning_tokens", "citation_tokens")
CACHED = ("cached_tokens", "cached_prompt_text_tokens", "prompt_cache_hit_tokens", "cachedContentTokenCount")
"""Input from a cache that is counted as input as well."""
STATED = "stated_cost"
"""Key under which a body carries the cost from its headers."""
COST_HEADERS = ("x-litellm-response-cost", "x-portkey-cost", "helicone-cost")


REPORTS = ("usage", "usageMetadata", "usage_metadata")


def usage_of(payload: object) -> TokenUsage | None:
    """Return the usage of a call; None where the endpoint gives no believable numbers."""
    if not isinstance(payload, dict):
        return None
    usage, stated = None, _dollars(payload.get(STATED))
    for name in REPORTS:
        if isinstance(report := payload.get(name), dict):
            usage = usage or _read(report)
            stated = max(stated, _dollars(report.get("cost")))
    usage = usage or _read(payload)
    if usage is None:
        return TokenUsage(stated_usd=stated) if stated else None
    return usage._replace(stated_usd=stated)


def with_stated_cost(payload: object, headers: Mapping[str, str]) -> object:
    """Add the cost that a gateway states in a header to the body."""
    stated = max(_dollars(headers.get(name)) for name in COST_HEADERS)
    return {**payload, STATED: stated} if stated and isinstance(payload, Mapping) else payload


def _read(report: Mapping[str, Any]) -> TokenUsage | None:
    total = _first(report, TOTALS)
    for read, written in COUNTS:
        prompt, completion = count_of(report.get(read)), count_of(report.get(written, 0 if total else None))
        if prompt is not None and completion is not None:
            break
    else:
        return None
    cached = _first(report, CACHED) or _first(report.get("prompt_tokens_details"), CACHED)
    cached = cached or _first(report.get("input_tokens_details"), CACHED)
    apart = _first(report, ("cache_read_input_tokens",))
    stored = _first(report, ("cache_creation_input_tokens",))
    if apart + stored and _is_apart(read, prompt, completion, apart + stored, total):
        prompt += apart + stored
    prompt += _first(report, ("toolUsePromptTokenCount", "tool_use_prompt_token_count"))
    outside, reasoning = _first(report, OUTSIDE), _reasoning(report)
    # Perplexity and xAI name it beside the completion, OpenAI inside; without a total only more than all
    # written tokens proves that it stands outside.
    thinking = max(outside, reasoning if reasoning > completion else 0, total - prompt - completion)
    cached = min(cached or apart, prompt)
    return TokenUsage(
        input=prompt,
        output=completion + thinking,
        thinking=thinking,
        cached=cached,
        cache_written=min(stored, prompt - cached),
        reasoning=min(max(reasoning, thinking), completion + thinking),
    )


def _is_apart(name: str, prompt: int, completion: int, cached: int, total: int) -> bool:
    """Return whether cached input is left out of the input, as Anthropic and some gateways do."""
    if total:
        return total >= prompt + completion + cached
    return name == "input_tokens" or cached > prompt


def _reasoning(report: Mapping[str, Any]) -> int:
    details = report.get("completion_tokens_details") or report.get("output_tokens_details")
    beside = sum(count_of(report[name]) or 0 for name in THINKING if name in report)
    return beside or _first(details, THINKING)


def _first(report: object, names: tuple[str, ...]) -> int:
    """Return the first believable count under one of some names, 0 without any."""
    # Every reply is read by this: a loop, since generators took a tenth of the time of a call.
    if isinstance(report, dict):
        for name in names:
            if name in report and (count := count_of(report[name])):
                return count
    return 0


def _dollars(value: object) -> float:
    """Return a stated cost in USD, of Perplexity the total of several; 0 for anything unbelievable."""
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
    """Return a whole, believable number of tokens."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value <= MAX_TOKENS or value != int(value):
        return None
    return int(value)
