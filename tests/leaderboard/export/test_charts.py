"""Charts as specifications."""

from __future__ import annotations

import pytest

from leaderboard.export.charts import Point, cloud


@pytest.mark.parametrize(("systems", "named"), [(6, True), (40, False)])
def test_cloud_names_few_systems_in_its_legend(systems: int, *, named: bool) -> None:
    points = [Point(system=f"s{at}", domain="d", x=0.5, y=0.5) for at in range(systems)]
    spec = cloud(points, x="x", y="y").to_dict()
    assert (spec["layer"][-1]["encoding"]["color"]["legend"] is not None) is named
