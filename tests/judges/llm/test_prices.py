from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from data.errors import SpecError
from data.models import TokenUsage
from judges.llm.costs import CostMeter
from judges.llm.prices import Price, PriceFile, Prices, is_private, set_price
from judges.llm.requests import Message, Request
from judges.llm.token_counting import TokenCounter
from tests.judges.battles import spec_of

NEW = Price(input=0.4, output=1.2)
MILLION = TokenUsage(1_000_000)


@pytest.mark.parametrize(
    ("endpoint", "private"),
    [
        ("http://127.0.0.1:8000/v1", True),
        ("http://localhost:11434/v1", True),
        ("http://[::1]:8000/v1", True),
        ("http://192.168.1.7:8000/v1", True),
        ("http://10.0.0.3/v1", True),
        ("http://[fd00::7]/v1", True),
        ("http://vllm:8000/v1", True),
        ("http://llm.internal/v1", True),
        ("https://api.openai.com/v1", False),
        ("https://8.8.8.8/v1", False),
        ("https://127.0.0.1.example.com/v1", False),
        ("anthropic", False),
        ("", False),
        ("http://[broken/v1", False),
    ],
)
def test_unpriced_model_is_free_at_private_addresses_only(endpoint: str, private: bool) -> None:
    assert is_private(endpoint) is private
    assert Prices().cost(endpoint, "house-model", TokenUsage(1_000, 10)) == (0.0 if private else None)


def test_set_price_overrides_bundled_price(tmp_path: Path) -> None:
    path = tmp_path / "new" / "prices.toml"
    for model, price in (("a/b", NEW), ('odd "name"', NEW), ("a/b", Price(input=1.0, output=2.0))):
        set_price(path, model, price)
    read = PriceFile.model_validate(tomllib.loads(path.read_text()))
    assert read.models == {"a/b": Price(input=1.0, output=2.0), 'odd "name"': NEW}
    assert Prices.load(path).cost("https://llm.example/v1", "a/b", TokenUsage(1_000_000, 1_000_000)) == 3.0


def test_setting_price_keeps_other_entries(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text('# ours\n[endpoints."https://x.example/v1"]\ninput = 1.0\noutput = 2.0\nbatch = 0.5\n')
    set_price(path, "m", NEW)
    assert path.read_text().startswith("# ours\n")
    long = "cached = 0.5, call = 12.0, long = { input = 2.0, output = 3.0, cached = 1.0 }, long_from = 9"
    path.write_text(f'models = {{ "n" = {{ input = 1.0, output = 2.0, {long} }} }}\nendpoints = {{}}\n')
    before = PriceFile.model_validate(tomllib.loads(path.read_text())).models["n"]
    set_price(path, "m", NEW)
    assert PriceFile.model_validate(tomllib.loads(path.read_text())).models == {"m": NEW, "n": before}


def test_damaged_prices_file_is_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text("[models\n")
    with pytest.raises(SpecError, match="cannot be read"):
        set_price(path, "m", NEW)
    assert path.read_text() == "[models\n"


def test_free_judge_costs_nothing() -> None:
    spec = spec_of(model="gpt-4.1", price=0.0)
    assert spec.hash == spec_of(model="gpt-4.1").hash
    with pytest.raises(SpecError, match="price"):
        spec_of(price=1.0)
    meter = CostMeter(Prices.load(), TokenCounter(), budget=None, unbounded_output=10)
    paid = Request(endpoint="https://e.example", model="gpt-4.1", messages=(Message("user", "x"),))
    free = replace(paid, free=True)
    assert (meter.price(free, MILLION), meter.price(paid, MILLION)) == (0.0, 2.0)
    assert free.key == paid.key


@pytest.mark.parametrize(
    ("model", "price"),
    [
        ("gpt-4o", 2.5),
        ("openai/gpt-4o", 2.5),
        ("gpt-4o-2024-08-06", 2.5),
        ("gpt-4o-2024-05-13", 5.0),
        ("gpt-4o-mini-2024-07-18", 0.15),
        ("claude-3-opus-20240229", 15.0),
        ("anthropic/claude-sonnet-4-5", 6.0),  # a million tokens are a long call
        ("grok-4", 3.0),
        ("mistral-large", 0.5),
        ("my-model", None),
        ("text-embedding-3-small", None),
        ("gemma-3-27b-it", None),
        ("mistral-nemo:free", 0.0),
    ],
)
def test_models_are_priced_by_name_with_and_without_date(model: str, price: float | None) -> None:
    assert Prices.load().cost("https://llm.example/v1", model, MILLION) == price


def test_open_models_at_private_address_are_free() -> None:
    prices = Prices.load()
    for model in ("deepseek-chat", "deepseek/deepseek-chat", "openai/gpt-oss-120b", "google/gemma-3-27b-it"):
        assert prices.cost("http://127.0.0.1:8000/v1", model, MILLION) == 0.0
    assert prices.cost("http://127.0.0.1:8000/v1", "openai/gpt-4o", MILLION) == 2.5
    assert prices.cost("https://api.deepseek.com/v1", "deepseek-chat", MILLION)


def test_cached_input_costs_its_own_price() -> None:
    usage = TokenUsage(2_746, 197, cached=2_208)
    cost = Prices.load().cost("https://api.openai.com/v1", "gpt-5-mini", usage)
    assert cost == pytest.approx((538 * 0.25 + 2_208 * 0.025 + 197 * 2.0) / 1e6)


def test_long_calls_are_priced_by_tier() -> None:
    price = Prices.load().of("https://generativelanguage.googleapis.com/v1beta/openai", "gemini-2.5-pro")
    assert price is not None
    assert price.of(TokenUsage(200_000)) == pytest.approx(0.25)
    assert price.of(TokenUsage(200_001, 1_000)) == pytest.approx((200_001 * 2.5 + 1_000 * 15.0) / 1e6)


def test_cost_includes_fee_per_call() -> None:
    cost = Prices.load().cost("https://api.perplexity.ai", "sonar", TokenUsage(1_000, 50))
    assert cost == pytest.approx((1_000 + 50) / 1e6 + 0.012)
    assert Prices.load().cost("https://api.perplexity.ai", "sonar", TokenUsage()) == 0.0


def test_batches_cost_their_share_of_price() -> None:
    usage = TokenUsage(1_000_000, 1_000_000)
    single, batch = Prices.load(), Prices.load(batch=True)
    assert single.cost("http://e/v1", "gpt-4o", usage) == 12.5
    assert batch.cost("http://e/v1", "gpt-4o", usage) == 6.25
