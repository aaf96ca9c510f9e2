"""Counts of verdicts by question, on SQLite and on PostgreSQL."""

from __future__ import annotations

from data.store import Store


def test_nothing_is_counted_of_a_round_without_battles(store: Store) -> None:
    """A round that nobody knows has no counts and no endings."""
    assert store.question_stats.of_round(7) == ()
    assert store.question_stats.endings("nobody", "s", "t") == ()
    store.question_stats.write(7)
