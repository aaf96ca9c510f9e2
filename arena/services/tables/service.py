"""Tables of stored rounds: the kinds that the RAG-QA Arena paper prints, and how attacks fared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from arena.services.accounts.auth import OPERATOR, Caller
from arena.services.rounds.visibility import RoundAccess
from arena.services.tables.against_reference import rates_by_domain, rates_by_passages
from arena.services.tables.kinds import TableKind
from arena.services.tables.model import RoundTable, Shown, beside
from arena.services.tables.people import every_pair, judges_by_correlation
from arena.services.tables.systems import attacks, no_answers, question_set, ratings
from data.errors import InputError
from data.records import Round
from data.store import Store
from leaderboard.export.paper import PaperTable

Maker = Callable[[Store, Round, Shown], PaperTable]
BY_ROUND: Mapping[TableKind, Maker] = {
    TableKind.WIN_RATES: rates_by_domain,
    TableKind.RATINGS: ratings,
    TableKind.NO_ANSWER: no_answers,
    TableKind.ATTACKS: attacks,
}
"""What makes the tables that stand side by side, a group of columns for each round."""
UNTESTED = frozenset({TableKind.SET, TableKind.NO_ANSWER, TableKind.ATTACKS})


class RoundTableService:
    """Tables of one round or several."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def table(
        self,
        names: Sequence[str],
        kind: TableKind,
        labels: Path | None = None,
        *,
        shown: Shown | None = None,
        caller: Caller = OPERATOR,
    ) -> RoundTable:
        """Make a table of stored rounds; nothing is asked.

        Several rounds stand side by side, those of `judges` and `passages` one below the other, sets once.
        Labels are for `judges`, which needs them, and `pairs`.

        Raises:
            NotFoundError: There is no such round that the caller may see.
            InputError: The kind needs labels.
        """
        rounds = [self._store.rounds.get(name) for name in dict.fromkeys(names)]
        for round_ in rounds:
            RoundAccess(self._store, caller, round_)
        content = self._content(rounds, kind, labels, shown or Shown())
        return RoundTable(kind=kind, content=content)

    def _content(
        self, rounds: Sequence[Round], kind: TableKind, labels: Path | None, shown: Shown
    ) -> PaperTable:
        if shown.marks and kind in UNTESTED:
            raise InputError(f"No test is made of a table of {kind}.", advice="Leave --significance out.")
        names = [round_.name for round_ in rounds]
        match kind:
            case TableKind.SET:
                sets = list(dict.fromkeys(round_.set_name for round_ in rounds))
                return beside(sets, [question_set(self._store, name) for name in sets])
            case TableKind.JUDGES:
                if labels is None:
                    raise InputError("A table of judges needs people's labels.", advice="Give --labels FILE.")
                return judges_by_correlation(self._store, rounds, labels, shown)
            case TableKind.PASSAGES:
                return rates_by_passages(self._store, rounds, shown)
            case TableKind.PAIRS:
                return beside(names, [every_pair(self._store, one, labels, shown) for one in rounds])
            case _:
                return beside(names, [BY_ROUND[kind](self._store, round_, shown) for round_ in rounds])
