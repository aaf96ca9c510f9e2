"""A task over the tiny set, and people who label it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR, Caller, CallerKind
from data.records import TokenScope

ADA = Caller(kind=CallerKind.SESSION, name="Ada", scopes=frozenset(TokenScope), organiser=True, account="Ada")
BEN = Caller(kind=CallerKind.SESSION, name="Ben", scopes=frozenset({TokenScope.READ}), account="Ben")


@pytest.fixture
def ada() -> Caller:
    """An organiser who labels too."""
    return ADA


@pytest.fixture
def named() -> Callable[[str], Caller]:
    """Somebody with an account: `named("Ben")`."""
    return lambda name: replace(BEN, name=name, account=name)


@pytest.fixture
def people(filled: Callable[..., Arena]) -> Callable[..., Arena]:
    """Open an arena with the accounts Ada (an organiser), Ben, Cleo and Dan."""

    def fill(**options: object) -> Arena:
        arena = filled(**options)
        for name in ("Ada", "Ben", "Cleo", "Dan"):
            arena.teams.add_account(name, is_organiser=name == "Ada", caller=OPERATOR)
        return arena

    return fill
