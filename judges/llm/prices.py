"""Token prices: genai-prices, overridden by our TOML file and by the user's file.

    [models."gpt-4o"]
    input = 2.5      # USD per million tokens
    output = 10.0
    cached = 1.25    # input read from the provider's cache

    [endpoints."http://localhost:8000/v1"]
    input = 0.0      # any model at this endpoint
    output = 0.0

An endpoint's price overrides a model's price. A model without a price is free at an endpoint on this machine
or a private network; elsewhere its cost is unknown, not zero.
"""

import json
import re
import shlex
import tomllib
from collections.abc import Mapping
from importlib.metadata import version
from ipaddress import ip_address
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from data.errors import SpecError
from data.files.strict_json import in_words
from data.models import TokenUsage

BUILT_IN = Path(__file__).with_name("prices.toml")
PACKAGE = "genai-prices"
MILLION, THOUSAND = 1_000_000, 1_000
DATED = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$")
CLOSED_MAKERS = ("openai", "anthropic", "google", "x-ai")
"""Makers that serve their own models, so that a private address must be a gateway to them."""
OPEN_WEIGHTS = re.compile(r"gpt-oss|gemma")
"""Open-weight models of closed makers."""
CALL = SimpleNamespace(input_tokens=1, output_tokens=1)
PRICE_FIELDS = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cached": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
    "call": "requests_kcount",
}
HALF_IN_BATCHES = frozenset({"openai", "anthropic", "google"})

Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(BaseModel):
    """USD per million tokens; `batch` is the factor for batches.

    `cached` and `cache_write` are prices of input read from or written to a provider's cache, `call` is USD
    per thousand calls, `long` has the prices of calls with more than `long_from` input tokens.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Dollars
    output: Dollars
    batch: Annotated[float, Field(ge=0, le=1)] = 1.0
    cached: Dollars | None = None
    cache_write: Dollars | None = None
    call: Dollars = 0.0
    long: "Price | None" = None
    long_from: Annotated[int, Field(gt=0)] = 200_000

    def of(self, usage: TokenUsage, calls: int = 1) -> float:
        """Return the cost of calls in USD from their total usage."""
        if self.long is not None and usage.input > self.long_from * calls:
            return self.long.of(usage, calls)
        cached = self.input if self.cached is None else self.cached
        cache_write = self.input if self.cache_write is None else self.cache_write
        plain = usage.input - usage.cached - usage.cache_written
        read = plain * self.input + usage.cached * cached + usage.cache_written * cache_write
        fee = self.call * calls / THOUSAND if any(usage) else 0.0
        return (read + usage.output * self.output) / MILLION + fee


FREE = Price(input=0.0, output=0.0)


class PriceFile(BaseModel):
    """Contents of a prices file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = ""
    as_of: str = ""
    models: Mapping[str, Price] = Field(default_factory=dict)
    endpoints: Mapping[str, Price] = Field(default_factory=dict)


class Prices:
    """Prices by endpoint and model."""

    def __init__(self, *files: PriceFile, batch: bool = False) -> None:
        self._files = files
        self._batch = batch
        self._known: dict[tuple[str, str], Price | None] = {}

    @classmethod
    def load(cls, override: Path | None = None, *, batch: bool = False) -> "Prices":
        """Load our prices and the user's overrides."""
        paths = (BUILT_IN,) if override is None else (override, BUILT_IN)
        return cls(*map(_read, paths), batch=batch)

    def of(self, endpoint: str, model: str) -> Price | None:
        """Return the price of a model at an endpoint, if known."""
        return self.with_source(endpoint, model)[0]

    def with_source(self, endpoint: str, model: str) -> tuple[Price | None, str]:
        """Return the price of a model at an endpoint and its source.

        The look-up tries the full name, the name without its provider (`openai/…`), and without its final
        date.
        """
        plain = model.rpartition("/")[2]
        names = tuple(dict.fromkeys((model, plain, DATED.sub("", plain))))
        address = endpoint.rstrip("/")
        for file in self._files:
            by_endpoint = {name.rstrip("/"): price for name, price in file.endpoints.items()}
            source = f"{file.name}, {file.as_of}".strip(", ")
            if address in by_endpoint:
                return by_endpoint[address], source
            for name in names:
                if name in file.models:
                    return file.models[name], source
        price = _package_price(endpoint, names)
        if price is not None:
            return price, f"{PACKAGE} {version(PACKAGE)}"
        return (FREE, "a private address") if is_private(endpoint) else (None, "no price is known")

    def is_free_by_place(self, endpoint: str, model: str) -> bool:
        """Return whether a model counts as free only because its address is private."""
        return self.with_source(endpoint, model) == (FREE, "a private address")

    def cost(self, endpoint: str, model: str, usage: TokenUsage, calls: int = 1) -> float | None:
        """Return the cost of calls in USD; None without a known price."""
        pair = (endpoint, model)
        if pair not in self._known:
            self._known[pair] = self.of(endpoint, model)
        price = self._known[pair]
        if price is None:
            return None
        share = price.batch if self._batch else 1.0
        return share * price.of(usage, calls)


def _package_price(endpoint: str, names: tuple[str, ...]) -> Price | None:
    """Return a model's price in genai-prices, from the provider at the address or else from its maker."""
    from genai_prices import calc_price  # noqa: PLC0415 - loads only when a price is looked up

    makers: tuple[str | None, ...] = (names[0].partition("/")[0], None)
    if is_private(endpoint):
        makers = () if OPEN_WEIGHTS.search(names[0].lower()) else CLOSED_MAKERS
    for url, maker in ((endpoint, None), *(("", maker) for maker in makers)):
        for name in names:
            try:
                calculated = (
                    calc_price(CALL, name, provider_api_url=url)
                    if url
                    else calc_price(CALL, name, provider_id=maker)
                )
            except LookupError:
                continue
            batch = 0.5 if calculated.provider.id in HALF_IN_BATCHES else 1.0
            return _price_of(vars(calculated.model_price), batch, free=name.endswith(":free"))
    return None


def _price_of(listed: Mapping[str, Any], batch: float, *, free: bool) -> Price | None:
    """Convert a price of genai-prices; None without a price for input or output, as for embeddings."""
    if not free and None in (listed.get("input_mtok"), listed.get("output_mtok")):
        return None
    base: dict[str, Any] = {"batch": batch}
    higher: dict[str, Any] = {"batch": batch}
    start = 0
    for field, name in PRICE_FIELDS.items():
        value = listed.get(name)
        tiers = getattr(value, "tiers", ())
        base[field] = getattr(value, "base", value)
        higher[field] = tiers[0].price if tiers else base[field]
        start = tiers[0].start if tiers else start
    price, long = (
        Price(**{"input": 0.0, "output": 0.0} | {name: usd for name, usd in row.items() if usd is not None})
        for row in (base, higher)
    )
    return price.model_copy(update={"long": long, "long_from": start}) if start else price


def is_private(endpoint: str) -> bool:
    """Return whether an endpoint is on this machine or a private network, without DNS look-ups."""
    try:
        host = urlsplit(endpoint).hostname or ""
    except ValueError:
        return False
    if not host:
        return False
    try:
        return not ip_address(host).is_global
    except ValueError:
        # A name without a dot, such as a container's, is local.
        return "." not in host or host.endswith((".localhost", ".internal"))


def price_advice(model: str) -> str:
    """Return advice on setting a model's price."""
    return f"Set it with `arena judges price {shlex.quote(model)} IN OUT`, in USD per million tokens."


def set_price(path: Path, model: str, price: Price) -> None:
    """Write a model's price to a prices file, creating the file if necessary."""
    exists = path.is_file()
    known = _read(path) if exists else PriceFile()
    entry = f"[models.{json.dumps(model)}]\ninput = {price.input!r}\noutput = {price.output!r}\n"
    try:
        before = path.read_text(encoding="utf-8") if exists else ""
        text = f"{before.rstrip()}\n\n{entry}".lstrip()
        if model in known.models or _parsed(text) is None:
            changed = known.model_copy(update={"models": {**known.models, model: price}})
            text = _as_toml(changed)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        message = f"The prices file {path} cannot be written: {error.strerror}."
        raise SpecError(message, advice="Set ARENA_HOME to a folder you can write to.") from error


def _parsed(text: str) -> PriceFile | None:
    try:
        return PriceFile.model_validate(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, ValidationError):
        return None


def _as_toml(prices: PriceFile) -> str:
    lines = [f"as_of = {json.dumps(prices.as_of)}", ""] if prices.as_of else []
    for table, entries in (("models", prices.models), ("endpoints", prices.endpoints)):
        for name, price in entries.items():
            lines += [
                f"[{table}.{json.dumps(name)}]",
                f"input = {price.input!r}",
                f"output = {price.output!r}",
            ]
            more = price.model_dump(exclude={"input", "output"}, exclude_defaults=True)
            lines += [*(f"{key} = {_toml_of(value)}" for key, value in more.items()), ""]
    return "\n".join(lines)


def _toml_of(value: object) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {_toml_of(inner)}' for key, inner in value.items())} }}"
    return repr(value)


def _read(path: Path) -> PriceFile:
    try:
        return PriceFile.model_validate(
            {"name": path.name, **tomllib.loads(path.read_text(encoding="utf-8"))}
        )
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        message = f"The prices file {path} cannot be read: {error}."
        raise SpecError(message, advice='Use a TOML file with [models."name"] tables.') from error
    except ValidationError as error:
        message = f"The prices file {path} is invalid: {'; '.join(in_words(error))}."
        raise SpecError(message, advice="Set input and output in USD per million tokens.") from error
