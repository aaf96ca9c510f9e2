"""Charts as specifications."""

from __future__ import annotations

import itertools

import pytest

from leaderboard.export.charts import Point, cloud, scatter


def test_scatter_names_stand_clear_of_one_another() -> None:
    points = [
        Point(system=f"s'{at}", x=at / 30, y=0.5 + at / 10_000, y_lower=0.4, y_upper=0.6) for at in range(30)
    ]
    spec = scatter(points, x="x", y="y").to_dict()
    rows = next(iter(spec["datasets"].values()))
    low, high = spec["layer"][1]["encoding"]["y"]["scale"]["domain"]
    places = [row["place"] for row in rows]
    assert [row["system"] for row in rows] == [point.system for point in points]
    gaps = [(after - before) / (high - low) * spec["height"] for before, after in itertools.pairwise(places)]
    assert min(gaps) >= 16 - 1e-9
    assert low <= min(places) <= max(places) <= high
    assert spec["layer"][1]["encoding"]["y"]["axis"]["values"] == places


def test_scatter_of_equal_points_has_a_scale() -> None:
    spec = scatter([Point(system=name, x=0.5, y=0.5) for name in "abc"], x="x", y="y").to_dict()
    low, high = spec["layer"][1]["encoding"]["y"]["scale"]["domain"]
    assert low < 0.5 < high


@pytest.mark.parametrize(("systems", "named"), [(6, True), (40, False)])
def test_cloud_names_few_systems_in_its_legend(systems: int, *, named: bool) -> None:
    points = [Point(system=f"s{at}", domain="d", x=0.5, y=0.5) for at in range(systems)]
    spec = cloud(points, x="x", y="y").to_dict()
    assert (spec["layer"][-1]["encoding"]["color"]["legend"] is not None) is named
