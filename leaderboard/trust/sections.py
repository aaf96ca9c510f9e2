"""The parts of a board's snapshot that say how far its judge can be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class Section(StrEnum):
    """Keys of a board's JSON; a board has none of those that cannot exist on it."""

    FRAGILITY = "fragility"


class Unit(StrEnum):
    """What is left out of a board to see what its places depend on."""

    QUESTIONS = "questions"
    BATTLES = "battles"


def sections_of(standings: Mapping[str, Any]) -> Mapping[Section, Mapping[str, Any]]:
    """The sections that a board has, by their keys."""
    return {section: standings[section] for section in Section if standings.get(section)}
