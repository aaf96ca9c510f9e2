"""Charts as specifications."""

from __future__ import annotations

from leaderboard.charts import Cell, Estimate, Point, forest, heatmap, scatter


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


def test_scatter_names_point_inwards() -> None:
    """Names stand on the inner side of their points, so that none is cut off."""
    spec = scatter([Point(system="a", x=0.1, y=0.2), Point(system="b", x=0.9, y=0.3)], x="x", y="y").to_dict()
    aligned = [layer["mark"].get("align") for layer in spec["layer"] if layer["mark"]["type"] == "text"]
    assert aligned == ["left", "left", "right", "right"]
