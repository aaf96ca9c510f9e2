from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from arena.container import open_ranking
from tests.served import reader, serving_by

pytestmark = [pytest.mark.browser, pytest.mark.slow]
MODEL = "some-model"
JUDGE = "//*[@data-testid='stSelectbox'][.//label[contains(., 'Judge or model')]]//input"
SECRET = "sk-typed-for-this-run-alone"


def _answers(path: Path, count: int, names: str) -> Path:
    """Write answers with some of the five facts of each reference."""
    lines = [names]
    for number in range(8):
        facts = [f"Part{part} of machine {number} turns wheel{part}." for part in range(5)]
        lines.append(f"How machine {number} works,{' '.join(facts[:count])},{' '.join(facts)}")
    path.write_text("\n".join(lines))
    return path


def test_typed_key_is_used_but_not_stored(tmp_path: Path, scripted_llm: Callable[..., Any]) -> None:
    walk = reader()
    llm, folder = scripted_llm(), tmp_path / "boards"
    files = [
        _answers(tmp_path / "odd.csv", 5, "ask,said,reference"),
        _answers(tmp_path / "middle.csv", 3, "prompt,response,reference"),
        _answers(tmp_path / "worst.csv", 1, "prompt,response,reference"),
    ]
    with serving_by(folder, log=tmp_path / "log", OPENAI_API_KEY="") as walk.site:
        walk.go("/rank")
        walk.see("Answer files")
        chooser = walk.driver.find_element(By.CSS_SELECTOR, "[data-testid=stFileUploader] input[type=file]")
        chooser.send_keys("\n".join(map(str, files)))
        walk.see("No row names a question; the columns are: 'ask', 'said', 'reference'.")
        walk.choose("Question", "ask")
        walk.choose("Answer", "said")
        walk.see("odd.csv: one system; read ask as the question, said as the answer. 8 rows.")
        walk.rest()
        walk.click(JUDGE)
        walk.type(JUDGE, MODEL)
        walk.click(f"//*[@role='option'][contains(., '{MODEL}')]")
        walk.write("Endpoint", llm.url)
        walk.write("Key, for this run only", SECRET, end=Keys.ENTER)
        walk.button("Test")
        walk.see("3 of 3 battles have a verdict")
        walk.button("Start")
        walk.see("Open the board", seconds=240)
        assert SECRET not in walk.driver.page_source
        walk.follow("Open the board")
        walk.see("Who judged")
    arena = open_ranking(folder)
    assert [board.name for board in arena.boards.published()] == ["rank-1"]
    arena.close()
    assert {headers.get("Authorization") for headers in llm.log.headers} == {f"Bearer {SECRET}"}
    left = [path for path in tmp_path.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert not left
