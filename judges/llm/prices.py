"""What tokens cost: a TOML file of ours, which a user's file may override or extend.

    [models."gpt-4o"]
    input = 2.5      # USD for a million tokens
    output = 10.0

    [endpoints."http://localhost:8000/v1"]
    input = 0.0      # whatever this endpoint serves
    output = 0.0

An endpoint's price goes before a model's, and a user's file before ours. A model without an entry has
no price: its cost is unknown, never zero.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from data.errors import SpecError
from data.files.jsonl import in_words

BUILT_IN = Path(__file__).with_name("prices.toml")
LITELLM_MAP = "model_prices_and_context_window_backup.json"
MILLION = 1_000_000
DATED = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$")

Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(BaseModel):
    """USD for a million tokens; `batch` is the share of it that batches cost."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Dollars
    output: Dollars
    batch: Annotated[float, Field(ge=0, le=1)] = 1.0


class PriceFile(BaseModel):
    """The shape of a prices file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    as_of: str = ""
    models: Mapping[str, Price] = Field(default_factory=dict)
    endpoints: Mapping[str, Price] = Field(default_factory=dict)


class Prices:
    """Prices by endpoint and model.

    Args:
        files: Earlier ones go first.
        batch: Whether calls travel as batches.
    """

    def __init__(self, *files: PriceFile, batch: bool = False) -> None:
        self._files = files
        self._batch = batch
        self._known: dict[tuple[str, str], Price | None] = {}

    @classmethod
    def load(cls, override: Path | None = None, *, batch: bool = False, litellm: bool = False) -> Prices:
        """Read our prices, and a user's before them.

        Args:
            override: The user's file.
            batch: Whether calls travel as batches.
            litellm: Whether to look models that neither has up in the price map on litellm's disk.

        Raises:
            SpecError: The user's file cannot be read or has another shape.
        """
        paths = (BUILT_IN,) if override is None else (override, BUILT_IN)
        files = [_read(path) for path in paths]
        return cls(*files, *([_litellm_prices()] if litellm else []), batch=batch)

    def of(self, endpoint: str, model: str) -> Price | None:
        """The price that applies, None where there is none.

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
        return None

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


def _litellm_prices() -> PriceFile:
    """The price map that litellm ships, read without importing litellm; empty where it is not there."""
    spec = find_spec("litellm")
    folders = spec.submodule_search_locations if spec else None
    path = Path(folders[0]) / LITELLM_MAP if folders else None
    if path is None or not path.is_file():
        return PriceFile()
    models = {}
    for name, row in json.loads(path.read_text(encoding="utf-8")).items():
        input_cost, output_cost = row.get("input_cost_per_token"), row.get("output_cost_per_token")
        if isinstance(input_cost, int | float) and isinstance(output_cost, int | float):
            models[name] = Price(input=input_cost * MILLION, output=output_cost * MILLION)
    return PriceFile(models=models)


def _read(path: Path) -> PriceFile:
    try:
        return PriceFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        message = f"The prices file {path} cannot be read: {error}."
        raise SpecError(message, advice='Give a TOML file with [models."name"] tables.') from error
    except ValidationError as error:
        message = f"The prices file {path} is wrong: {'; '.join(in_words(error))}."
        raise SpecError(message, advice="Give input and output in USD for a million tokens.") from error
