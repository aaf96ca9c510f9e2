"""Result of a ranking in Python: data frames, a chart, a page; and how to continue it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

    from arena.services.ranking.results import Duel, RankedSystem


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Cost of a ranking's requests.

    Attributes:
        requests: How many requests were sent; replies that were there already are none.
        usd: What they cost; None where a price is not known.
        input_tokens: Tokens that models read.
        output_tokens: Tokens that they wrote.
    """

    requests: int
    usd: float | None
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class Ranking:
    """A finished ranking.

    Attributes:
        systems: The rows, best first.
        sentence: Who leads, and how surely.
        comparisons: A row a battle: question, both systems, winner, margin, reason.
        cost: Requests to models, their tokens and cost.
        notes: What was noticed while the answers were read, in sentences.
        warnings: Of these what a reader of the board must know.
        folder: Where all of it lies; `arena serve FOLDER` opens it as a site.
    """

    systems: tuple[RankedSystem, ...]
    sentence: str
    comparisons: pd.DataFrame = field(repr=False)
    cost: Cost
    notes: tuple[str, ...] = field(repr=False)
    warnings: tuple[str, ...] = field(repr=False)
    folder: Path
    _more: Callable[..., Ranking] = field(repr=False)
    _duel: Callable[[str, str], Duel] = field(repr=False)

    @property
    def board(self) -> pd.DataFrame:
        """A row a system, best first: rank, rating with its interval, record, how much is covered."""
        import pandas as pd

        return pd.DataFrame([_row(system) for system in self.systems])

    @property
    def rates(self) -> pd.DataFrame:
        """Won, tied and lost battles of each system, and the share that it did not lose."""
        return self.board[["system", "wins", "ties", "losses", "win_tie_rate"]]

    def losses(self, loser: str, winner: str) -> pd.DataFrame:
        """Return the comparisons that one system lost to another, the clearest first.

        Raises:
            NotFoundError: There is no such system, or the two never met.
            InputError: The two are one.
        """
        self.compare(loser, winner).require_met()
        rows = self.comparisons
        met = ((rows.system_a == loser) & (rows.system_b == winner)) | (
            (rows.system_a == winner) & (rows.system_b == loser)
        )
        return rows[met & (rows.winner == winner)].sort_values("margin", ascending=False)

    def compare(self, first: str, second: str) -> Duel:
        """Compare two systems: the better one, by how much and how surely.

        Raises:
            NotFoundError: There is no such system.
            InputError: The two are one.
        """
        return self._duel(first, second)

    def add(self, data: Any, **options: Any) -> Ranking:  # noqa: ANN401 - as `rank` takes it
        """Add systems to the ranking; a model judges only their pairs. Options are those of `rank`."""
        return self._more(data, **options)

    def to_html(self, path: str | Path) -> Path:
        """Write the board as one page that opens without a server."""
        from arena.services.ranking.results import BOARD

        target = Path(path)
        shutil.copyfile(self.folder / BOARD, target)
        return target

    def chart(self) -> alt.LayerChart | alt.FacetChart:
        """Ratings with their intervals."""
        import altair as alt

        rated = self.board.dropna(subset=["rating"])
        order = list(rated.system)
        base = alt.Chart(rated).encode(y=alt.Y("system:N", sort=order, title=None))
        ends = base.mark_rule().encode(
            x=alt.X("lower:Q", scale=alt.Scale(zero=False), title="rating"), x2="upper:Q"
        )
        return alt.layer(ends, base.mark_point(filled=True).encode(x="rating:Q"))

    def __str__(self) -> str:
        """Return the table of six columns, who leads, and what else a reader must know."""
        return "\n".join((self._table.to_string(index=False), self.sentence, *self.warnings))

    def _repr_html_(self) -> str:
        from html import escape

        notes = "".join(f"<p>{escape(line)}</p>" for line in (self.sentence, *self.warnings))
        return f"{self._table.to_html(index=False, escape=True)}{notes}"

    @property
    def _table(self) -> pd.DataFrame:
        import pandas as pd

        from arena.services.ranking.results import HEADS

        return pd.DataFrame([system.cells for system in self.systems], columns=list(HEADS))


def _row(system: RankedSystem) -> Mapping[str, Any]:
    fields = asdict(system)
    rank = fields.pop("rank")
    lower, upper = rank or (None, None)
    return {"system": fields.pop("system"), "rank": lower, "rank_upper": upper, **fields}
