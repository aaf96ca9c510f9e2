"""A system by domain, as a table."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup

from arena.services.boards.metric_columns import usual_metrics
from arena.site.boards.view_model import OVERALL, BoardView, Line
from arena.site.ui.formats import Bounded, range_of_shares, whole
from arena.site.ui.html import figures_table
from data.text import percent
from judges.metrics.registry import MetricInfo


def profile_table(view: BoardView, system: str) -> Markup:
    """One system's record in every domain."""
    against = " against all" if system == view.reference else ""
    rates = (f"Win{against}", f"Win + tie{against}")
    usual = usual_metrics(view.reference_by, view.scored)
    scored = [info for info in usual if info.column is not None and not info.column.asked]
    headings = (info.column.heading for info in scored if info.column is not None)
    header = ("Domain", "Battles", *rates, "95 % interval", *headings, "No answer")
    lines = ((view.label(domain), view.line(system, domain)) for domain in (OVERALL, *view.domains))
    rows = [
        (
            label,
            whole(line.own_rates.battles),
            _percent_of(line.own_rates.win),
            _percent_of(line.own_rates.win_tie),
            "–" if line.own_rates.win_tie is None else range_of_shares(line.own_rates.win_tie),
            *(_text_of(line, info) for info in scored),
            percent(line.no_answer),
        )
        for label, line in lines
        if line is not None
    ]
    return figures_table(header, rows, spare=3)


def profile_rows(view: BoardView, system: str) -> list[Mapping[str, object]]:
    """Return one system's record by domain as file rows, metrics with bounds; shares are 0–1.

    `against` says whose battles the rates count.
    """
    lines = [view.line(system, domain) for domain in (OVERALL, *view.domains)]
    metrics = sorted({name for line in lines if line is not None for name in line.scores})
    rows: list[Mapping[str, object]] = []
    for domain, line in zip((OVERALL, *view.domains), lines, strict=True):
        if line is None:
            continue
        rates = line.own_rates
        values = {"win_rate": rates.win, "win_tie_rate": rates.win_tie}
        values |= {name: line.scores.get(name) for name in metrics}
        against = "all systems" if line.is_reference or not view.reference else view.reference
        row: dict[str, object] = {
            "system": system,
            "domain": domain,
            "against": against,
            "battles": rates.battles,
        }
        for name, value in values.items():
            row |= {
                name: value and value.value,
                f"{name}_lower": value and value.lower,
                f"{name}_upper": value and value.upper,
            }
        rows.append({**row, "no_answer_share": line.no_answer, "answers": line.answers})
    return rows


def _text_of(line: Line, info: MetricInfo) -> str:
    value = line.mean(info)
    return "–" if value is None else info.text(value.value)


def _percent_of(value: Bounded | None) -> str:
    return percent(None if value is None else value.value)
