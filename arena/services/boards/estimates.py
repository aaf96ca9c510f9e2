"""What the board of a round in waves says: estimates of every battle, and what they depend on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from arena.services.rounds.battle_table import table_of_columns
from arena.services.rounds.waves.estimate_lines import estimate_lines
from arena.services.rounds.waves.settings import WaveSettings, waves_of
from arena.services.rounds.waves.stored import StoredWaves
from data.errors import StatisticsError
from data.records import Round
from data.store import Store
from leaderboard.sampling.asks import Ask
from leaderboard.sampling.estimates import Estimates, estimated, section
from leaderboard.standings.judged_shares import estimated_sentences

ESTIMATED = "estimated"


def estimates_of(store: Store, round_: Round) -> tuple[Estimates, dict[str, object]] | None:
    """What a round in waves estimates, and the section of its board; None of a round that judges everything.

    Raises:
        StatisticsError: Fewer than ten battles were judged in complete waves.
    """
    settings = waves_of(round_)
    if settings is None:
        return None
    stored = StoredWaves.read(store, round_, settings)
    judged, ended = table_of_columns(stored.columns), stored.columns.preference[stored.kept]
    estimates = estimated(stored.state, judged, ended, Ask.parse(settings.ask))
    return estimates, section(estimates, _facts(round_, settings, stored))


def estimate_rows(store: Store, round_: Round) -> Iterator[Mapping[str, Any]] | None:
    """Every battle that a round in waves estimates, with all that its estimate is made of; None of others."""
    settings = waves_of(round_)
    if settings is None:
        return None
    stored = StoredWaves.read(store, round_, settings)
    return estimate_lines(stored.state, stored.columns.preference[stored.kept])


def worth_of_waves(store: Store, round_: Round) -> tuple[str, ...]:
    """How many battles a round's judge decided and what the proxy judges were worth, in sentences."""
    try:
        found = estimates_of(store, round_)
    except StatisticsError as error:
        return (f"Nothing can be estimated yet: {error}",)
    return () if found is None else estimated_sentences(found[1])


def _facts(round_: Round, settings: WaveSettings, stored: StoredWaves) -> Mapping[str, Any]:
    end = stored.end
    return {
        "judge": round_.judge_name,
        "set": round_.set_name,
        "cheap_judges": [judge.name for judge in settings.cheap],
        "ask": settings.ask,
        "target_width": settings.target_width,
        "ended": None if end is None else end.reason.value,
        "width": None if end is None else end.width,
        "waves": [
            {"number": wave.number, "battles": wave.battles, "width": wave.width} for wave in stored.waves
        ],
    }
