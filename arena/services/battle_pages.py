"""The battles of a round, a page at a time, for those who may see them."""

from __future__ import annotations

from arena.services.identity import PUBLIC, Caller
from arena.services.visibility import Kind, Sight, Thing, sight
from data.errors import NotFoundError
from data.records import BattleRecord, RoundState
from data.store import Store


class BattlePages:
    """Reads pages of battles."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def page(
        self, round_name: str, *, after: int, limit: int, caller: Caller = PUBLIC
    ) -> tuple[BattleRecord, ...]:
        """Up to `limit` battles of a round, from the one after number `after` on, without texts.

        Raises:
            NotFoundError: There is no such round, or its battles are not for the caller.
        """
        state = self._store.rounds.get(round_name).state
        published, retracted = state is RoundState.PUBLISHED, state is RoundState.RETRACTED
        thing = Thing(kind=Kind.BATTLE, published=published, retracted=retracted)
        if sight(caller, thing) is not Sight.FULL:
            raise NotFoundError(
                f"The battles of round {round_name} are not public.", advice="They are while it is published."
            )
        return self._store.verdicts.page(round_name, after=after, limit=limit)
