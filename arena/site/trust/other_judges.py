"""A board beside the published boards of other judges: how alike they rank, who moves, whom to trust."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from arena.services.accounts.auth import PUBLIC
from arena.services.boards.comparison import RoundComparison
from arena.site.boards.cache import cached_html
from arena.site.boards.view_model import BoardView
from arena.site.services import arena
from arena.site.ui.components import note
from arena.site.ui.errors import public_error
from arena.site.ui.formats import shown
from arena.site.ui.markup import element, put
from arena.site.ui.tables import SCROLLS, plain_table
from data.errors import ArenaError
from leaderboard.agreement.coefficients import Estimate
from leaderboard.agreement.comparison import BoardPair

ALONE = "No other board of this question set is published, so there is no other judge to compare with."
MEANING = (
    "On the battles that all of them decided. Kendall's tau is 1 where two judges rank all systems alike, 0 "
    "where they have nothing in common, −1 where one ranks the other way round. A system moves where its "
    "rating differs by more than chance, for all systems together."
)
TRUST = (
    "Discrimination is how sharply a judge tells systems apart, 1 on average: one that guesses has 0, one "
    "that contradicts the others less than 0. Weights are those of the best panel of these judges."
)
PAIRS = ("Judges", "Kendall's tau", "Rank correlation", "Moved")
MOVES = ("System", "Place before", "Place after", "Shift in points", "Moved")
JUDGES = ("Judge", "Discrimination", "Interval", "Weight", "Verdicts")


def show_other_judges(view: BoardView) -> None:
    """Compare the board with those of other judges of its questions; a panel's with its members."""
    put(element("h2", "Other judges", id="judges"))
    if view.round_name is None:
        note("The board has no battles of its own, so that none can be compared.")
        return
    names = arena().comparison.comparable(view.round_name)
    if not names:
        note(ALONE)
        return
    try:
        cached_html(
            view,
            f"judges {' '.join(names)}",
            lambda: comparison_element(arena().comparison.compare(names, caller=PUBLIC)),
        )
    except ArenaError as error:
        note(str(public_error(error)))


def comparison_element(comparison: RoundComparison) -> Element:
    """How alike the judges rank, who moves, and how sharp each is."""
    return element("div", *_parts(comparison))


def _parts(comparison: RoundComparison) -> Iterator[Element]:
    sides = ", ".join(f"{side.name} ({side.judge})" for side in comparison.sides)
    yield element("p", f"{comparison.battles:,} battles by {sides}. {MEANING}", class_="aa-note")
    yield plain_table(PAIRS, [_pair(pair) for pair in comparison.pairs], wrap=SCROLLS)
    for pair in comparison.pairs:
        if any(move.moved for move in pair.moves):
            yield element("h3", f"From {pair.first} to {pair.second}")
            yield plain_table(MOVES, _moves(pair))
    if comparison.trust is not None:
        yield element("h3", "How sharp each judge is")
        yield element("p", TRUST, class_="aa-note")
        yield plain_table(
            JUDGES,
            [
                (
                    judge.name,
                    shown(judge.discrimination, ".2f"),
                    f"{shown(judge.lower, '.2f')} to {shown(judge.upper, '.2f')}",
                    shown(judge.weight, ".0%"),
                    f"{judge.battles:,}",
                )
                for judge in comparison.trust.judges
            ],
            wrap=SCROLLS,
        )
    for line in comparison.notes:
        yield element("p", line, class_="aa-note")


def _pair(pair: BoardPair) -> tuple[str, ...]:
    moved = sum(move.moved for move in pair.moves)
    agreement = pair.agreement
    return (
        f"{pair.first}, {pair.second}",
        _with_interval(agreement.kendall),
        _with_interval(agreement.spearman),
        f"{moved:,} of {len(pair.moves):,}",
    )


def _moves(pair: BoardPair) -> list[tuple[str, ...]]:
    return [
        (
            move.system,
            shown(move.rank_before, "d"),
            shown(move.rank_after, "d"),
            _with_interval(move.shift, "+.0f"),
            "yes" if move.moved else "within noise",
        )
        for move in pair.moves
    ]


def _with_interval(part: Estimate, form: str = ".2f") -> str:
    if part.value is None:
        return "–"
    if part.interval is None:
        return f"{part.value:{form}}"
    return f"{part.value:{form}} ({part.interval.lower:{form}} to {part.interval.upper:{form}})"
