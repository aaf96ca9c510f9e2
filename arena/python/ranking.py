"""Result of a ranking in Python: data frames, chart and page; more systems can be added."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

    from arena.python.frames import Data
    from arena.python.options import AddOptions
    from arena.services.ranking.results import Duel, RankedSystem


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Cost of a ranking's requests.

    Attributes:
        requests: Number of requests, without cached replies.
        usd: Their cost; None without a known price.
        input_tokens: Input tokens.
        output_tokens: Output tokens.
    """

    requests: int
    usd: float | None
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class Ranking:
    """Finished ranking.

    Attributes:
        systems: Rows, best first.
        sentence: The leader, with its certainty.
        comparisons: One row per battle: question, both systems, winner, margin, reason.
        cost: Requests to models, their tokens and cost.
        notes: Notes on how the answers were read.
        warnings: Notes that readers of the board must know.
        folder: Folder of the ranking; `arena serve FOLDER` opens it as a site.
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
        """One row per system, best first: rank, rating with its interval, record, share of covered facts."""
        import pandas as pd

        return pd.DataFrame([_row(system) for system in self.systems])

    @property
    def rates(self) -> pd.DataFrame:
        """Won, tied and lost battles of each system, and its share of battles won or tied."""
        return self.board[["system", "wins", "ties", "losses", "win_tie_rate"]]

    def losses(self, loser: str, winner: str) -> pd.DataFrame:
        """Return the comparisons that one system lost to another, clearest first.

        Raises:
            NotFoundError: A system is unknown, or the two never met.
            InputError: Both names are the same.
        """
        self.compare(loser, winner).require_met()
        rows = self.comparisons
        met = ((rows.system_a == loser) & (rows.system_b == winner)) | (
            (rows.system_a == winner) & (rows.system_b == loser)
        )
        return rows[met & (rows.winner == winner)].sort_values("margin", ascending=False)

    def compare(self, first: str, second: str) -> Duel:
        """Compare two systems: the better one, the difference and its certainty.

        Raises:
            NotFoundError: A system is unknown.
            InputError: Both names are the same.
        """
        return self._duel(first, second)

    def add(self, data: Data, **options: Unpack[AddOptions]) -> Ranking:
        """Add systems to the ranking; a model judges only their pairs. Options are those of `rank`."""
        return self._more(data, **options)

    def to_html(self, path: str | Path) -> Path:
        """Write the board as one HTML file that needs no server."""
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
        """Return the table of six columns, the leader, and the warnings."""
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
