"""The family of models that a name speaks of, by the table in `families.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

UNKNOWN = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A family of models: how a word of its names begins, and words that are its own."""

    name: str
    begins: tuple[str, ...]
    words: tuple[str, ...]

    def fits(self, spelled: str) -> bool:
        """Whether a name is of the family; it comes as its words, each between hyphens."""
        return any(f"-{begin}" in spelled for begin in self.begins) or any(
            f"-{word}-" in spelled for word in self.words
        )


def family_of(name: str) -> str:
    """The family that a model's or system's name speaks of, `UNKNOWN` where the table has none."""
    letters = (letter if letter.isalnum() else " " for letter in name.lower())
    spelled = f"-{'-'.join(''.join(letters).split())}-"
    return next((family.name for family in families() if family.fits(spelled)), UNKNOWN)


@lru_cache(maxsize=1)
def families() -> Sequence[Family]:
    """The table, in its order."""
    record = tomllib.loads((files(__package__) / "families.toml").read_text(encoding="utf-8"))
    return tuple(
        Family(name=row["name"], begins=tuple(row["begins"]), words=tuple(row.get("is", ())))
        for row in record["family"]
    )
