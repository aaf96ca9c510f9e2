"""The dashboard and the alert rules ask only for what `/metrics` has, in queries that are well-formed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import typer
import yaml
from prometheus_client.parser import text_string_to_metric_families

from arena.cli.commands import build
from arena.services.system.prometheus import metrics_of
from data.records import Outcome
from data.store import Store

DEPLOY = Path(__file__).parents[1] / "docs" / "deploy"
DASHBOARD: dict[str, Any] = json.loads((DEPLOY / "grafana-dashboard.json").read_text(encoding="utf-8"))
RULES: dict[str, Any] = yaml.safe_load((DEPLOY / "prometheus-rules.yaml").read_text(encoding="utf-8"))
OF_PROMETHEUS = {"up"}
"""Metrics that Prometheus makes itself."""
COLUMNS = 24
VALUES = re.compile(r"[a-z_]+")


@dataclass(frozen=True)
class Query:
    """A query of a file, by where it stands."""

    place: str
    text: str


def _panels() -> list[Query]:
    return [
        Query(panel["title"], target["expr"]) for panel in DASHBOARD["panels"] for target in panel["targets"]
    ]


def _alerts() -> list[Query]:
    return [Query(rule["alert"], rule["expr"]) for group in RULES["groups"] for rule in group["rules"]]


QUERIES = [*_panels(), *_alerts()]


@pytest.fixture
def scraped(tmp_path: Path, sqlite_template: Path) -> dict[str, dict[str, set[str]]]:
    """The values of each label of each metric that an arena gives, by the names that queries use."""
    (tmp_path / "arena.sqlite").write_bytes(sqlite_template.read_bytes())
    store = Store.open(f"sqlite:///{tmp_path / 'arena.sqlite'}")
    names: dict[str, dict[str, set[str]]] = {}
    for family in text_string_to_metric_families(metrics_of(store).decode()):
        labels = names.setdefault(f"{family.name}_total" if family.type == "counter" else family.name, {})
        for sample in family.samples:
            for label, value in sample.labels.items():
                labels.setdefault(label, set()).add(value)
    store.close()
    # Outcomes appear with the first battle.
    names["arena_battles"]["outcome"] = {outcome.value for outcome in Outcome} | {"pending"}
    return names


def _selectors(text: str) -> Iterator[Any]:
    """Every selector of a query.

    Raises:
        ValueError: It is no query.
    """
    plain = text.replace("$__rate_interval", "5m").replace("$job", "answer-arena")
    waiting: list[Any] = [promql_parser.parse(plain)]
    while waiting:
        part = waiting.pop()
        if isinstance(part, promql_parser.VectorSelector):
            yield part
        for name in ("lhs", "rhs", "expr", "vector_selector"):
            below = getattr(part, name, None)
            waiting += [] if below is None else [below]
        waiting += list(getattr(part, "args", None) or ())


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.place)
def test_query_asks_for_what_there_is(query: Query, scraped: dict[str, dict[str, set[str]]]) -> None:
    """Every query parses, and each metric, label and value in it is one that `/metrics` has."""
    selectors = list(_selectors(query.text))
    assert selectors
    for selector in selectors:
        assert selector.name in scraped.keys() | OF_PROMETHEUS, selector.name
        matchers = {matcher.name: matcher.value for matcher in selector.matchers.matchers}
        assert matchers.pop("job") == "answer-arena"
        for label, value in matchers.items():
            assert set(VALUES.findall(value)) <= scraped[selector.name][label], f"{label}={value}"


def test_a_metric_that_does_not_exist_would_be_seen(scraped: dict[str, dict[str, set[str]]]) -> None:
    """The check is no formality: a wrong name, a wrong state and a broken query are noticed."""
    (wrong,) = _selectors('rate(arena_spent_total{job="$job"}[5m])')
    assert wrong.name not in scraped
    assert "crashed" not in scraped["arena_jobs"]["state"]
    assert {"queued", "running", "failed"} <= scraped["arena_jobs"]["state"]
    with pytest.raises(ValueError, match=r"unclosed|unexpected|parse|invalid"):
        list(_selectors("max(arena_jobs"))


def test_every_metric_of_ours_is_watched(scraped: dict[str, dict[str, set[str]]]) -> None:
    """Each metric that an arena gives of its own is on the dashboard."""
    shown = {selector.name for query in _panels() for selector in _selectors(query.text)}
    assert {name for name in scraped if name.startswith("arena_")} <= shown


def test_dashboard_can_be_imported() -> None:
    """Panels have numbers of their own, lie side by side on the grid, and use the chosen data source."""
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert max(x for x, _ in cells) < COLUMNS
        assert not cells & taken
        taken |= cells
        assert {target["refId"] for target in panel["targets"]} == set("AB"[: len(panel["targets"])])
        assert panel["description"]
        for part in (panel, *panel["targets"]):
            assert part["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
    assert {variable["name"] for variable in DASHBOARD["templating"]["list"]} == {"datasource", "job"}


def test_alerts_say_what_to_do_in_commands_that_exist() -> None:
    """Each rule has a severity, a summary and a description, and the commands in it are ours."""
    commands = typer.main.get_command(build())
    rules = [rule for group in RULES["groups"] for rule in group["rules"]]
    assert len({rule["alert"] for rule in rules}) == len(rules)
    for rule in rules:
        assert rule.keys() <= {"alert", "expr", "for", "labels", "annotations"}
        assert rule["labels"]["severity"] in {"critical", "warning", "info"}
        assert re.fullmatch(r"[0-9]+[smh]", rule.get("for", "5m"))
        assert rule["annotations"].keys() == {"summary", "description"}
        for words in re.findall(r"`arena ([a-z ]+)`", rule["annotations"]["description"]):
            command: Any = commands
            for word in words.split():
                command = command.commands[word]
