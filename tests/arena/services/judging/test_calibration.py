from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from arena.workers.worker import Worker
from data.errors import FileFormatError, InputError, NotFoundError
from tests.arena.conftest import ADA, Fill, play, quiet, write_lines

REQUEST = RoundRequest(set_name="tiny", judge="lexical", name="spring")
LABEL = {"question": "Q?", "answer_a": "Item 0 is alpha.", "answer_b": "No.", "label": "a"}


def work(arena: Arena) -> None:
    Worker(arena, arena.job_leases.worker).run(once=True)


def calibrated(arena: Arena, judge: str) -> int:
    path = write_lines(arena.settings.home / "labels.jsonl", [{**LABEL, "id": "1"}])
    job = arena.calibrations.start(path, [judge], budget_usd=1, caller=ADA)
    work(arena)
    return job.id


def test_calibration_on_site_reaches_board(filled: Fill) -> None:
    arena = filled()
    number = calibrated(arena, "lexical")
    arena.rounds.launch(REQUEST, caller=ADA)
    work(arena)
    assert [job.id for job in arena.calibrations.of_judge("lexical", caller=ADA)] == [number]
    assert arena.calibrations.of_judge("pairwise", caller=ADA) == ()
    arena.boards.queue_publishing("spring", metrics=False, calibration=number, caller=ADA)
    work(arena)
    assert arena.boards.get("spring").standings["health"]["agreement"]["pairs"] == 1


def test_publishing_refuses_invalid_calibrations(filled: Fill) -> None:
    """Unfinished calibrations and those of other judges queue no job."""
    arena = filled()
    arena.rounds.launch(REQUEST, caller=ADA)
    work(arena)
    (judged,) = arena.jobs.recent()
    folder = arena.settings.home / "judges"
    folder.mkdir()
    (folder / "mine.toml").write_text('name = "mine"\nkind = "lexical"\n')
    number = calibrated(arena, "mine")
    for job, error, words in (
        (judged.job.id, InputError, f"Job {judged.job.id} is not a calibration"),
        (number, InputError, f"Calibration {number} has no report on the judge lexical"),
        (999, NotFoundError, "999"),
    ):
        with pytest.raises(error, match=words):
            arena.boards.queue_publishing("spring", calibration=job, caller=ADA)
    assert len(arena.jobs.recent()) == 2


def test_invalid_labels_queue_no_job(filled: Fill, tmp_path: Path) -> None:
    arena = filled()
    with pytest.raises(FileFormatError):
        arena.calibrations.start(write_lines(tmp_path / "l.jsonl", [{"id": 1}]), ["lexical"], caller=ADA)
    assert arena.calibrations.all(caller=ADA) == ()


def test_board_includes_calibration_report(filled: Fill, tmp_path: Path) -> None:
    arena = filled()
    play(arena)
    report = tmp_path / "agreement.json"
    report.write_text(json.dumps([{"judge": "other", "pairs": 40}]))
    with pytest.raises(InputError, match="has no report on the judge lexical; it has: other"):
        arena.boards.publish("r", report=quiet, score=False, calibration=report)
    report.write_text(
        json.dumps({"judge": "lexical", "pairs": 40, "decisive_accuracy": 0.8, "by_domain": {}})
    )
    arena.boards.publish("r", report=quiet, score=False, calibration=report)
    health = arena.boards.get("r").standings["health"]
    battles = list(arena.store.verdicts.battles("r"))
    assert health["planned"] == len(battles)
    assert health["flips"] == sum(battle.flipped is True for battle in battles)
    assert health["agreement"] == {"pairs": 40, "decisive_accuracy": 0.8}
