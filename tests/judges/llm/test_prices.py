from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from data.errors import SpecError
from judges.llm.costs import CostMeter
from judges.llm.prices import Price, PriceFile, Prices, is_private, set_price
from judges.llm.requests import Message, Request
from judges.llm.token_counting import TokenCounter
from tests.judges.battles import spec_of

NEW = Price(input=0.4, output=1.2)


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
def test_what_has_no_price_is_free_on_this_machine_alone(endpoint: str, private: bool) -> None:
    assert is_private(endpoint) is private
    assert Prices().cost(endpoint, "house-model", 1_000, 10) == (0.0 if private else None)


def test_a_known_price_holds_on_this_machine_too() -> None:
    assert Prices.load().cost("http://127.0.0.1:4000/v1", "gpt-4.1", 1_000_000, 0) == 2.0


def test_a_price_that_is_set_goes_before_ours(tmp_path: Path) -> None:
    path = tmp_path / "new" / "prices.toml"
    for model, price in (("a/b", NEW), ('odd "name"', NEW), ("a/b", Price(input=1.0, output=2.0))):
        set_price(path, model, price)
    read = PriceFile.model_validate(tomllib.loads(path.read_text()))
    assert read.models == {"a/b": Price(input=1.0, output=2.0), 'odd "name"': NEW}
    assert Prices.load(path).cost("https://llm.example/v1", "a/b", 1_000_000, 1_000_000) == 3.0


def test_setting_a_price_keeps_what_the_file_says_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text('# ours\n[endpoints."https://x.example/v1"]\ninput = 1.0\noutput = 2.0\nbatch = 0.5\n')
    set_price(path, "m", NEW)
    assert path.read_text().startswith("# ours\n")
    path.write_text('models = { "n" = { input = 1.0, output = 2.0 } }\nendpoints = {}\n')
    set_price(path, "m", NEW)
    assert set(PriceFile.model_validate(tomllib.loads(path.read_text())).models) == {"m", "n"}


def test_a_damaged_file_of_prices_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text("[models\n")
    with pytest.raises(SpecError, match="cannot be read"):
        set_price(path, "m", NEW)
    assert path.read_text() == "[models\n"


def test_a_judge_at_no_price_costs_nothing() -> None:
    spec = spec_of(model="gpt-4.1", price=0.0)
    assert spec.hash == spec_of(model="gpt-4.1").hash
    with pytest.raises(SpecError, match="price"):
        spec_of(price=1.0)
    meter = CostMeter(Prices.load(), TokenCounter(), budget=None, unbounded_output=10)
    paid = Request(endpoint="https://e.example", model="gpt-4.1", messages=(Message("user", "x"),))
    free = replace(paid, free=True)
    assert (meter.price(free, 1_000_000, 0), meter.price(paid, 1_000_000, 0)) == (0.0, 2.0)
    assert free.key == paid.key
