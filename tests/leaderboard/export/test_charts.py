"""Charts as specifications."""

from __future__ import annotations

import itertools

from leaderboard.export.charts import Cell, Estimate, Point, forest, heatmap, scatter


def test_forest_has_rows_in_the_order_given() -> None:
    """A forest plot keeps the order of the standings, best first."""
    rows = [Estimate(system=name, value=v, lower=v - 1, upper=v + 1) for name, v in (("z", 3.0), ("a", 2.0))]
    spec = forest(rows, axis="Rating, points").to_dict()
    assert spec["layer"][0]["encoding"]["y"]["sort"] == ["z", "a"]
    assert [layer["mark"]["type"] for layer in spec["layer"]] == ["rule", "point"]


def test_forest_marks_the_reference_value() -> None:
    """A reference value is a dashed rule below the rows."""
    row = Estimate(system="a", value=0.4, lower=0.3, upper=0.5)
    spec = forest([row], axis="Rate", share=True, reference=0.5).to_dict()
    assert spec["layer"][0]["mark"]["strokeDash"]


def test_heatmap_tells_above_from_below_even() -> None:
    """A cell above an even chance is on the other side of the colour scale than one below it."""
    cells = [
        Cell(system="a", domain="d", rate=0.75, battles=8),
        Cell(system="a", domain="e", rate=0.4, battles=8),
    ]
    (rows,) = heatmap(cells, title="Win + tie").to_dict()["datasets"].values()
    assert (rows[0]["side"], rows[0]["strength"]) == ("above", 1.0)
    assert rows[1]["side"] == "below"
    assert 0 < rows[1]["strength"] < 1


def test_scatter_names_stand_clear_of_one_another() -> None:
    """Names keep the order of the points and at least a line's height between them, on the same scale."""
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
    """Systems that nothing tells apart still have an axis and names one below the other."""
    spec = scatter([Point(system=name, x=0.5, y=0.5) for name in "abc"], x="x", y="y").to_dict()
    low, high = spec["layer"][1]["encoding"]["y"]["scale"]["domain"]
    assert low < 0.5 < high
