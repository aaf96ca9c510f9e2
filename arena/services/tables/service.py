"""Tables of stored rounds: the kinds that the RAG-QA Arena paper prints, and how attacks fared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from arena.services.accounts.auth import OPERATOR, Caller
from arena.services.metrics.agreement import AgreementService
from arena.services.references.export import ReferenceExports
from arena.services.rounds.visibility import RoundAccess
from arena.services.tables.against_reference import rates_by_domain, rates_by_passages
from arena.services.tables.kinds import TableKind
from arena.services.tables.model import RoundTable, Shown, beside
from arena.services.tables.people import every_pair, judges_by_correlation
from arena.services.tables.systems import (
    attacks,
    correlations,
    coverage_by_system,
    no_answers,
    question_set,
    ratings,
    references_and_answers,
)
from data.errors import InputError
from data.records import Round
from data.store import Store
from data.store.boards.scores import EMBEDDED
from leaderboard.export.paper import PaperTable

Maker = Callable[[Store, Round, Shown], PaperTable]
BY_ROUND: Mapping[TableKind, Maker] = {
    TableKind.WIN_RATES: rates_by_domain,
    TableKind.RATINGS: ratings,
    TableKind.NO_ANSWER: no_answers,
    TableKind.ATTACKS: attacks,
}
"""What makes the tables that stand side by side, a group of columns for each round."""
UNTESTED = frozenset(
    {
        *(TableKind.SET, TableKind.COVERAGE, TableKind.CORRELATIONS),
        *(TableKind.NO_ANSWER, TableKind.ATTACKS, TableKind.REFERENCES),
    }
)


class RoundTableService:
    """Tables of one round or several."""

    def __init__(self, store: Store, agreement: AgreementService, exports: ReferenceExports) -> None:
        self._store = store
        self._exports = exports
        self._agreement = agreement

    def table(
        self,
        names: Sequence[str],
        kind: TableKind,
        labels: Path | None = None,
        *,
        shown: Shown | None = None,
        metric_judge: str = EMBEDDED,
        caller: Caller = OPERATOR,
    ) -> RoundTable:
        """Make a table of stored rounds; nothing is asked.

        Several rounds stand side by side, those of `judges` and `passages` one below the other, sets once.
        Labels are for `judges`, which needs them, and `pairs`; `metric_judge` scored what `coverage` and
        `correlations` show.

        Raises:
            NotFoundError: There is no such round that the caller may see.
            ForbiddenError: The kind is for organisers.
            InputError: The kind needs labels, or has no tests to mark.
        """
        rounds = [self._store.rounds.get(name) for name in dict.fromkeys(names)]
        for round_ in rounds:
            RoundAccess(self._store, caller, round_)
        shown = shown or Shown()
        if shown.marks and kind in UNTESTED:
            raise InputError(f"No test is made of a table of {kind}.", advice="Leave --significance out.")
        by_set = {
            TableKind.SET: lambda name: question_set(self._store, name),
            TableKind.COVERAGE: lambda name: coverage_by_system(self._agreement, name, metric_judge),
            TableKind.CORRELATIONS: lambda name: correlations(self._agreement, name, metric_judge),
        }
        if kind in by_set:
            sets = list(dict.fromkeys(round_.set_name for round_ in rounds))
            content = beside(sets, [by_set[kind](name) for name in sets])
        else:
            content = self._content(rounds, kind, labels, shown, caller)
        return RoundTable(kind=kind, content=content)

    def _content(
        self, rounds: Sequence[Round], kind: TableKind, labels: Path | None, shown: Shown, caller: Caller
    ) -> PaperTable:
        names = [round_.name for round_ in rounds]
        match kind:
            case TableKind.JUDGES:
                if labels is None:
                    raise InputError("A table of judges needs people's labels.", advice="Give --labels FILE.")
                return judges_by_correlation(self._store, rounds, labels, shown)
            case TableKind.PASSAGES:
                return rates_by_passages(self._store, rounds, shown)
            case TableKind.REFERENCES:
                tables = [
                    references_and_answers(self._store, self._exports, one, shown, caller) for one in rounds
                ]
                return beside(names, tables)
            case TableKind.PAIRS:
                return beside(names, [every_pair(self._store, one, labels, shown) for one in rounds])
            case _:
                return beside(names, [BY_ROUND[kind](self._store, round_, shown) for round_ in rounds])
