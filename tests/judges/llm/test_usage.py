from __future__ import annotations

import pytest
from genai_prices import extract_usage

from data.models import TokenUsage
from judges.llm.usage import usage_of, with_header_cost

PLAIN = {"prompt_tokens": 1000, "completion_tokens": 20}
WHOLE = {"prompt_tokens": 1000, "completion_tokens": 920, "total_tokens": 1920}
HALF_CACHED = {"prompt_tokens_details": {"cached_tokens": 600}}
THINKING = {"completion_tokens_details": {"reasoning_tokens": 900}}
WRONG: tuple[object, ...] = (float("nan"), -1, 101, 10**400, "1e999", True, {}, [0.5], "much")
UPSTREAM = {"upstream_inference_cost": 0.5}
LIFETIMES = {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 400}
OF_PROVIDERS = [
    ("openai", "chat", "gpt-5", {**WHOLE, **HALF_CACHED, **THINKING}),
    (
        "openai",
        "responses",
        "gpt-5",
        {"input_tokens": 1000, "output_tokens": 920, "output_tokens_details": {"reasoning_tokens": 900}},
    ),
    (
        "anthropic",
        "default",
        "claude-sonnet-4-5",
        {
            "input_tokens": 1000,
            "output_tokens": 20,
            "cache_read_input_tokens": 30_000,
            "cache_creation_input_tokens": 500,
        },
    ),
    (
        "google",
        "default",
        "gemini-2.5-flash",
        {
            "promptTokenCount": 1000,
            "candidatesTokenCount": 20,
            "thoughtsTokenCount": 900,
            "totalTokenCount": 1920,
            "cachedContentTokenCount": 600,
        },
    ),
    ("x-ai", "chat", "grok-4", {**PLAIN, "total_tokens": 1920, **HALF_CACHED, **THINKING}),
    ("x-ai", "default", "grok-4", {**PLAIN, "total_tokens": 1920, "reasoning_tokens": 900}),
    ("perplexity", "default", "sonar-reasoning", {**PLAIN, "total_tokens": 1020, "reasoning_tokens": 900}),
    ("deepseek", "chat", "deepseek-reasoner", {**WHOLE, **THINKING}),
    ("mistral", "default", "mistral-large-latest", {**PLAIN, "total_tokens": 1020}),
    ("groq", "default", "llama-3.3-70b-versatile", {**WHOLE, **THINKING}),
    ("openrouter", "chat", "openai/gpt-4o", {**WHOLE, **HALF_CACHED, "cost": 0.0123}),
    (
        "openrouter",
        "chat",
        "anthropic/claude-sonnet-4.5",
        {
            **PLAIN,
            "total_tokens": 1020,
            "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 400},
        },
    ),
    ("moonshotai", "chat", "kimi-k2-thinking", {**PLAIN, "total_tokens": 1020, **HALF_CACHED}),
]


@pytest.mark.parametrize(("provider", "flavor", "model", "report"), OF_PROVIDERS)
def test_usage_agrees_with_genai_prices(
    provider: str, flavor: str, model: str, report: dict[str, object]
) -> None:
    root = "usageMetadata" if "promptTokenCount" in report else "usage"
    payload = {"model": model, "modelVersion": model, root: report}
    theirs = extract_usage(payload, provider_id=provider, api_flavor=flavor).usage
    usage = usage_of(payload)
    assert usage is not None
    assert (usage.input, usage.output) == (theirs.input_tokens, theirs.output_tokens)
    assert usage.cached == (theirs.cache_read_tokens or 0)
    assert usage.cache_written == (theirs.cache_write_tokens or 0)


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        # Google's OpenAI-compatible endpoint: genai-prices 0.2.3 takes the 20, litellm the difference.
        ({**PLAIN, "total_tokens": 1920}, TokenUsage(1000, 920, thinking=900, reasoning=900)),
        ({**WHOLE, **THINKING}, TokenUsage(1000, 920, reasoning=900)),
        # A gateway in front of Claude that excludes cached input (seen with Portkey).
        ({**PLAIN, "cache_read_input_tokens": 30_000}, TokenUsage(31_000, 20, cached=30_000)),
        # litellm already counts it as input.
        ({**PLAIN, "total_tokens": 1020, "cache_read_input_tokens": 600}, TokenUsage(1000, 20, cached=600)),
        # DeepSeek's own name, which genai-prices 0.2.3 ignores.
        ({**PLAIN, "prompt_cache_hit_tokens": 600}, TokenUsage(1000, 20, cached=600)),
        ({**PLAIN, "total_tokens": 30}, TokenUsage(1000, 20)),
        ({"prompt_tokens": 1000, "total_tokens": 1000}, TokenUsage(1000)),
        ({"prompt_tokens": 1000}, None),
        ({**PLAIN, "cost": "0.5"}, TokenUsage(1000, 20, stated_usd=0.5)),
        # Perplexity's sum of input, output and the request fee.
        ({**PLAIN, "cost": {"request_cost": 0.012, "total_cost": 0.5}}, TokenUsage(1000, 20, stated_usd=0.5)),
        *(({**PLAIN, "cost": wrong}, TokenUsage(1000, 20)) for wrong in WRONG),
        ({"cost": 0.5}, TokenUsage(stated_usd=0.5)),
        ({**PLAIN, "cost": 0.5, "currency": "EUR"}, TokenUsage(1000, 20)),
        ({**PLAIN, "cost": 0.5, "currency": "usd"}, TokenUsage(1000, 20, stated_usd=0.5)),
        ({**PLAIN, "estimated_cost": 0.5}, TokenUsage(1000, 20, stated_usd=0.5)),
        ({**PLAIN, "cost_in_usd_ticks": 5_000_000_000}, TokenUsage(1000, 20, stated_usd=0.5)),
        *(
            ({**PLAIN, "cost_in_usd_ticks": wrong}, TokenUsage(1000, 20))
            for wrong in (*WRONG[:2], 10**400, {})
        ),
        *(
            ({**PLAIN, "estimated_cost": wrong, "cost_details": wrong}, TokenUsage(1000, 20))
            for wrong in WRONG
        ),
        ({**PLAIN, "cost": 0.25, "cost_details": UPSTREAM}, TokenUsage(1000, 20, stated_usd=0.5)),
        (
            {**PLAIN, "cost": 0.25, "cost_details": UPSTREAM, "is_byok": True},
            TokenUsage(1000, 20, stated_usd=0.75),
        ),
        # Qwen counts cache writes as input.
        (
            {**PLAIN, "prompt_tokens_details": {"cached_tokens": 600, "cache_creation_input_tokens": 100}},
            TokenUsage(1000, 20, cached=600, cache_written=100),
        ),
        (
            {"input_tokens": 1000, "output_tokens": 20, "cache_creation": LIFETIMES},
            TokenUsage(1500, 20, cache_written=500),
        ),
        (
            {"inputTokens": 1000, "outputTokens": 20, "totalTokens": 31_020, "cacheReadInputTokens": 30_000},
            TokenUsage(31_000, 20, cached=30_000),
        ),
        ({"prompt_tokens": 7.0, "completion_tokens": 3.0}, TokenUsage(7, 3)),
        *(
            ({"prompt_tokens": wrong, "completion_tokens": 3}, None)
            for wrong in (7.5, True, "7", -7, 10**30, float("inf"), None)
        ),
        (None, None),
        ([7, 3], None),
    ],
)
def test_usage_counts_each_token_once(report: object, expected: TokenUsage | None) -> None:
    assert usage_of({"usage": report}) == expected


def test_reported_cost_is_maximum_of_header_and_body() -> None:
    headers = {"x-litellm-response-cost": "0.003"}
    native = {"promptTokenCount": 1000, "candidatesTokenCount": 20}
    for body, expected in (
        ({}, TokenUsage(stated_usd=0.003)),
        ({"usage": {**PLAIN, "cost": 0.5}}, TokenUsage(1000, 20, stated_usd=0.5)),
        ({"usageMetadata": native}, TokenUsage(1000, 20, stated_usd=0.003)),
    ):
        assert usage_of(with_header_cost(body, headers)) == expected
    assert with_header_cost({"usage": PLAIN}, {"x-litellm-response-cost": "None"}) == {"usage": PLAIN}
