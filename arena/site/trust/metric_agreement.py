"""What is known of each score's agreement with people, as a table."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from xml.etree.ElementTree import Element

from arena.services.boards.metric_columns import shown_metrics
from arena.site.ui.components import note
from arena.site.ui.formats import whole
from arena.site.ui.markup import put
from arena.site.ui.tables import SCROLLS, words_table
from judges.metrics.registry import metric_info
from judges.metrics.relations.figures import KnownAgreement, embedded_figures

HEADER = ("Score", "Held against people's marks of", "Figure, 95 % interval", "Chance")
MEANING = (
    "What is known of the embedded scores' agreement with people, with 95 % intervals over questions. Scores "
    "by an LLM were not measured here. An AUC is the chance that the better of two answers scores higher."
)
UNKNOWN = "Not measured against people"


def show_agreement(scored: Collection[str] = ()) -> None:
    """Show the table of the metrics that boards show, or of those of which a board has scores."""
    note(MEANING)
    put(agreement_table(scored or list(shown_metrics())))


def agreement_table(names: Collection[str]) -> Element:
    """A row a figure of some metrics, then those of which nothing is known."""
    return words_table(HEADER, tuple(_rows(names)), spare=1, wrap=SCROLLS)


def _rows(names: Collection[str]) -> Iterator[tuple[str, str, str, str]]:
    families = {name.partition("-fr")[0] for name in names}
    known = [one for one in embedded_figures().agreement if one.metric.partition("-fr")[0] in families]
    for one in known:
        yield (
            f"{metric_info(one.metric).called} ({one.metric})",
            _said(one),
            figure_of(one),
            f"{one.chance:g}",
        )
    told = {one.metric.partition("-fr")[0] for one in known}
    for name, info in shown_metrics().items():
        if name in names and name.partition("-fr")[0] not in told:
            yield f"{info.called} ({name})", UNKNOWN, "–", "–"


def _said(one: KnownAgreement) -> str:
    return f"{one.of_what}, {one.data}, {whole(one.measured.of)} of them"


def figure_of(one: KnownAgreement) -> str:
    """A figure with its interval, and a word where that holds chance."""
    found = one.measured
    word = "; no better than chance" if one.is_chance else ""
    return f"{one.figure} {found.value:.2f} ({found.lower:.2f} to {found.upper:.2f}){word}"
