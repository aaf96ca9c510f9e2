"""What boards say of how their metrics agree, from publishing to the page's sentences."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from arena.site.boards.snapshot_reader import agreement_notes


def published(arena: Arena) -> Any:  # noqa: ANN401 - standings are JSON
    """Judge and publish a round of the only set; its standings."""
    (summary,) = arena.sets.summaries()
    request = RoundRequest(set_name=summary.name, judge="lexical", pairs="reference", name="r")
    arena.rounds.create(request)
    arena.rounds.run("r", concurrency=2, report=lambda _progress: None)
    board, _ = arena.boards.publish("r", report=lambda _line: None)
    return board.standings


@pytest.mark.long
def test_a_board_says_how_metrics_agree(make_arena: Callable[..., Arena], tmp_path: Path) -> None:
    """Three systems with ever more context and answer: τ is 1; the reference is measured by passages."""
    facts = ["The tower was built in 1889.", "The tower is 330 metres high.", "The tower is painted brown."]
    asked = ["When was the tower built?", "How many metres high is the tower?", "How is the tower painted?"]
    passages = [{"id": f"p{place}", "text": text} for place, text in enumerate(facts)]
    folder = tmp_path / "tower"
    folder.mkdir()
    (folder / "set.toml").write_text('name = "tower"\ntitle = "Tower"\n[domains]\nd = "D"\n')
    rows = [
        {
            "id": f"q{number}",
            "domain": "d",
            "question": f"What is there to say of the tower, part {number}?",
            "reference": " ".join(facts[:2]),
            "passages": passages,
            "sub_questions": asked,
        }
        for number in range(6)
    ]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    arena = make_arena()
    arena.sets.import_from(folder)
    for count in (1, 2, 3):
        path = tmp_path / f"s{count}.jsonl"
        lines = [
            {"question_id": f"q{n}", "answer": " ".join(facts[:count]), "contexts": passages[:count]}
            for n in range(6)
        ]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        arena.submissions.add(path, "tower", system=f"s{count}")
    standings = published(arena)
    found = standings["agreement"]
    assert found["systems"]["correlations"]["kendall"]["value"] == 1.0
    assert found["bounds"]["oracle context"]["context-crux"]["mean"] == 1.0
    reach, order = agreement_notes(standings)
    assert "(6 questions)" in reach
    assert "Over 3 systems and 6 questions" in order
    assert "τ 1.00" in order


def test_a_set_without_sub_questions_says_nothing(filled: Callable[..., Arena]) -> None:
    """There is nothing to agree on, and boards of earlier versions have nothing either."""
    standings = published(filled())
    assert "agreement" not in standings
    assert agreement_notes(standings) == ()


def test_what_is_not_known_is_said_with_its_reason() -> None:
    """Two systems have no correlation, and a set without references no bound."""
    systems = {"systems": [{}, {}], "questions": 3, "correlations": {}, "undefined": "It needs three."}
    (order,) = agreement_notes({"agreement": {"systems": systems, "bounds": {}}})
    assert order.endswith("is not known. It needs three.")
