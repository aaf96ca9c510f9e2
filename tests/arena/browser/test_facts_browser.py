"""Facts covered in a browser: the board's column, and a missing fact on the page of a question."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from arena.settings import Settings
from tests.arena.conftest import HALF, WHOLE, write_answers, write_set
from tests.browsing import Visitor

pytestmark = pytest.mark.browser


@pytest.mark.long
def test_a_reader_finds_the_fact_that_an_answer_misses(
    served: Callable[..., AbstractContextManager[str]], walk: Visitor, tmp_path: Path
) -> None:
    """People wrote the references: the board shows Facts covered, the question which fact is missing."""
    folder = write_set(tmp_path)
    text = (folder / "set.toml").read_text(encoding="utf-8")
    (folder / "set.toml").write_text(f'reference_by = "people"\n{text}', encoding="utf-8")
    settings = Settings(home=tmp_path / "home", database_url=f"sqlite:///{tmp_path / 'arena.sqlite'}")
    arena = Arena(settings)
    arena.sets.import_from(folder)
    for system, template in (("whole", WHOLE), ("half", HALF)):
        path = write_answers(tmp_path / f"{system}.jsonl", (template,), 12)
        arena.submissions.add(path, "tiny", system=system)
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", pairs="all", name="facts"))
    arena.rounds.run("facts", concurrency=2, report=lambda _progress: None)
    arena.boards.publish("facts", report=lambda _note: None)
    arena.close()
    with served(settings, tmp_path / "log") as site:
        walk.size(1440)
        walk.driver.get(f"{site}/?board=facts")
        heads = walk.find(".aa-standings thead", "Facts covered")
        assert "Comprehensive" not in heads
        walk.driver.get(f"{site}/question?board=facts&id=q3&part=facts")
        walk.find(".aa-grid tbody", "–")
        grids = walk.driver.find_elements(By.CSS_SELECTOR, ".aa-grid")
        (grid,) = [table for table in grids if "It weighs 13 grams." in table.text]
        names = [cell.text for cell in grid.find_elements(By.CSS_SELECTOR, "thead th")][1:]
        rows = grid.find_elements(By.CSS_SELECTOR, "tbody tr")
        (weight,) = [row for row in rows if "It weighs 13 grams." in row.text]
        marks = [cell.text for cell in weight.find_elements(By.CSS_SELECTOR, "td")]
        assert dict(zip(names, marks, strict=True)) == {"whole": "✓", "half": "–"}
