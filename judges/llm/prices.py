"""Prices of tokens: a TOML file of ours, which a user's file may override or extend.

    [models."gpt-4o"]
    input = 2.5      # USD for a million tokens
    output = 10.0

    [endpoints."http://localhost:8000/v1"]
    input = 0.0      # whatever this endpoint serves
    output = 0.0

An endpoint's price goes before a model's, and a user's file before ours. What has no entry costs nothing at
an endpoint on this machine or a private network, and elsewhere has no price: its cost is unknown, never zero.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from data.errors import SpecError
from data.files.strict_json import in_words

BUILT_IN = Path(__file__).with_name("prices.toml")
MILLION = 1_000_000
DATED = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$")

Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(BaseModel):
    """USD for a million tokens; `batch` is the share of it that batches cost."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Dollars
    output: Dollars
    batch: Annotated[float, Field(ge=0, le=1)] = 1.0


FREE = Price(input=0.0, output=0.0)


class PriceFile(BaseModel):
    """The shape of a prices file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

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
    def load(
        cls, override: Path | None = None, *, batch: bool = False, more: PriceFile | None = None
    ) -> Prices:
        """Read our prices, and a user's before them.

        Args:
            override: The user's file.
            batch: Whether calls travel as batches.
            more: Where models are looked up that neither has.

        Raises:
            SpecError: The user's file cannot be read or has another shape.
        """
        paths = (BUILT_IN,) if override is None else (override, BUILT_IN)
        files = [_read(path) for path in paths]
        return cls(*files, *([] if more is None else [more]), batch=batch)

    def of(self, endpoint: str, model: str) -> Price | None:
        """Return the price that applies, None without one.

        A model is looked up as it is called, without its provider (`openai/…`), and without the date
        that ends its name.
        """
        plain = model.rpartition("/")[2]
        names = dict.fromkeys((model, plain, DATED.sub("", plain)))
        address = endpoint.rstrip("/")
        for file in self._files:
            by_endpoint = {name.rstrip("/"): price for name, price in file.endpoints.items()}
            if address in by_endpoint:
                return by_endpoint[address]
            for name in names:
                if name in file.models:
                    return file.models[name]
        return FREE if is_private(endpoint) else None

    def cost(self, endpoint: str, model: str, input_tokens: int, output_tokens: int) -> float | None:
        """USD for so many input and output tokens; None where no price is known."""
        pair = (endpoint, model)
        if pair not in self._known:
            self._known[pair] = self.of(endpoint, model)
        price = self._known[pair]
        if price is None:
            return None
        share = price.batch if self._batch else 1.0
        return share * (input_tokens * price.input + output_tokens * price.output) / MILLION


def is_private(endpoint: str) -> bool:
    """Return whether an endpoint is this machine or in a private network; no name is looked up."""
    try:
        host = urlsplit(endpoint).hostname or ""
    except ValueError:
        return False
    if not host:
        return False
    try:
        return not ip_address(host).is_global
    except ValueError:
        # A name without a dot, as of a container beside this one, means nothing elsewhere.
        return "." not in host or host.endswith((".localhost", ".internal"))


def price_advice(model: str) -> str:
    """Return advice on giving a model a price."""
    return f"Set it with `arena judges price {shlex.quote(model)} IN OUT`, in USD for a million tokens."


def set_price(path: Path, model: str, price: Price) -> None:
    """Write a model's price into a file of prices, which is made where it is not there.

    Raises:
        SpecError: The file cannot be read or written, or has another shape.
    """
    there = path.is_file()
    known = _read(path) if there else PriceFile()
    entry = f"[models.{json.dumps(model)}]\ninput = {price.input!r}\noutput = {price.output!r}\n"
    try:
        before = path.read_text(encoding="utf-8") if there else ""
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
            lines += [f"batch = {price.batch!r}", ""] if price.batch != 1 else [""]
    return "\n".join(lines)


def _read(path: Path) -> PriceFile:
    try:
        return PriceFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        message = f"The prices file {path} cannot be read: {error}."
        raise SpecError(message, advice='Give a TOML file with [models."name"] tables.') from error
    except ValidationError as error:
        message = f"The prices file {path} is wrong: {'; '.join(in_words(error))}."
        raise SpecError(message, advice="Give input and output in USD for a million tokens.") from error
