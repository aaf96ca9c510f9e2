"""Rounds whose judge is a cascade: a cheap LLM decides what it is sure about, an expensive one the rest."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.container import Arena
from arena.services.judging.cascades import CascadeRequest
from arena.services.rounds.export import verify_folder
from arena.services.rounds.models import RoundRequest
from data.errors import ConflictError, FileFormatError, InputError
from data.records import RoundCounts
from judges.cascades import CascadeConfidence
from tests.narrow import known
from tests.scripted_llm import Ask, Fault, ScriptedLLM
from tests.scripted_replies import answers_of, longer

CHEAP, EXPENSIVE = "gpt-4.1-nano", "gpt-4.1"
BATTLES = 36
GRADES = {"0": "not sure", "1": "better", "2": "worse"}
REPLIES = {1: "slightly better", 2: "better", 3: "perhaps"}
"""What the cheap model says by the number of the question modulo 6: half a step from a tie, what is shown
first, and no grade. It refuses at 4; else the longer answer is better."""
SPEC = f"""
kind = "cascade"
confidence = "margin"
threshold = 0.75
[[members]]
name = "small"
extends = "reference-free"
reply = "grades"
model = "{CHEAP}"
order = "both"
reasks = 0
[[members]]
name = "large"
extends = "reference-free"
model = "{EXPENSIVE}"
"""


def _reply(ask: Ask) -> str:
    first, second = known(answers_of(ask))
    rating = longer(ask, first, second)
    if ask.body["model"] == EXPENSIVE:
        return f"<thinking>Weighed.</thinking><rating>{rating}</rating>"
    place = int(known(re.search(r"item (\d+)", ask.text))[1]) % 6
    if place == 4:
        return "I'm sorry, I can't help with that."
    grade = REPLIES.get(place, GRADES[rating])
    if place == 1:
        grade = {"0": "not sure", "1": "slightly better", "2": "slightly worse"}[rating]
    return f"<thinking>Seen.</thinking><rating>{grade}</rating>"


@pytest.fixture
def server(scripted_llm: Callable[..., ScriptedLLM]) -> ScriptedLLM:
    """An endpoint with both models."""
    serving = scripted_llm()
    serving.openings["You compare two answers"] = "pair"
    serving.handlers["pair"] = _reply
    return serving


@pytest.fixture
def spec_file(tmp_path: Path) -> Path:
    """The cascade as a file."""
    path = tmp_path / "cascade.toml"
    path.write_text(SPEC)
    return path


def _asked(server: ScriptedLLM) -> Counter[str]:
    return Counter(body["model"] for body in server.log.bodies)


def _request(judge: Path | str, name: str, **fields: Any) -> RoundRequest:  # noqa: ANN401 - fields of a request
    plain = {"set_name": "tiny", "judge": str(judge), "canaries": 0, "controls": 0, "name": name}
    return RoundRequest(**{**plain, **fields})


def _run(arena: Arena, judge: Path | str, name: str = "r", **fields: Any) -> RoundCounts:  # noqa: ANN401 - as above
    arena.rounds.create(_request(judge, name, **fields))
    return arena.rounds.run(name, concurrency=8, report=lambda _progress: None)


@pytest.mark.long
def test_what_the_cheap_member_is_unsure_about_goes_on(
    filled: Callable[..., Arena], server: ScriptedLLM, spec_file: Path, database_url: str
) -> None:
    """The expensive member is asked once about each battle that goes on, and every reason is counted."""
    arena = filled(endpoint=server.url, database_url=database_url)
    counts = _run(arena, spec_file)
    assert (counts.judged, counts.unreadable, counts.refused) == (BATTLES, 0, 0)
    told = known(arena.round_reader.cascade("r")).as_json()
    # Of twelve questions two each, with three battles.
    assert told["escalated"] == {"below threshold": 6, "flipped": 6, "unreadable": 6, "refused": 6}
    assert told["cheap"] == {"name": "small", "decided": 12}
    assert told["expensive"] == {"name": "large", "asked": 24, "decided": 24}
    assert _asked(server) == {CHEAP: 2 * BATTLES, EXPENSIVE: 24}
    assert sum(told["cost_usd"].values()) == pytest.approx(counts.cost_usd)
    assert all(cost > 0 for cost in told["cost_usd"].values())


def test_every_surface_tells_who_decided(
    filled: Callable[..., Arena], server: ScriptedLLM, spec_file: Path, tmp_path: Path
) -> None:
    """Board and export say who decided how much; an export whose outcomes say otherwise is not verified."""
    arena = filled(endpoint=server.url)
    _run(arena, spec_file)
    facts = arena.boards.standings("r").about.facts
    assert facts["cascade"].startswith(
        "small decided 12 battles, large was asked about 24 (6 below threshold"
    )
    assert "somebody chose the threshold" in facts["cascade's promise"]
    report = arena.reparsing.reparse("r", apply=False)
    assert (report.judgments_changed, report.verdicts_changed) == (0, 0)
    folder = tmp_path / "export"
    arena.boards.export_round("r", folder)
    assert "round.json" in verify_folder(folder)
    round_ = json.loads((folder / "round.json").read_text())
    assert round_["judge"]["threshold"] == 0.75
    assert round_["cascade"]["cheap"]["decided"] == 12
    round_["cascade"]["cheap"]["decided"] = 13
    (folder / "round.json").write_text(json.dumps(round_))
    sums = json.loads((folder / "checksums.json").read_text())
    sums["round.json"] = hashlib.sha256((folder / "round.json").read_bytes()).hexdigest()
    (folder / "checksums.json").write_text(json.dumps(sums))
    with pytest.raises(FileFormatError, match="cheap member decided"):
        verify_folder(folder)


@pytest.mark.long
def test_the_cap_holds_for_both_members_and_nothing_is_paid_twice(
    filled: Callable[..., Arena], server: ScriptedLLM, spec_file: Path
) -> None:
    """What the cap leaves out is skipped; under a higher one only what was not asked is asked."""
    arena = filled(endpoint=server.url)
    whole = known(_run(arena, spec_file, "whole").cost_usd)
    arena.store.replies.forget()
    server.reset()
    counts = _run(arena, spec_file, budget_usd=whole / 2)
    assert known(counts.cost_usd) <= whole / 2
    assert counts.skipped > 0
    assert counts.judged + counts.skipped == BATTLES
    arena.rounds.set_budget("r", 2 * whole)
    assert arena.rounds.retry("r") == counts.skipped
    counts = arena.rounds.run("r", concurrency=8, report=lambda _progress: None)
    assert counts.judged == BATTLES
    assert counts.cost_usd == pytest.approx(whole)
    assert _asked(server) == {CHEAP: 2 * BATTLES, EXPENSIVE: 24}
    told = [known(arena.round_reader.cascade(name)).as_json()["escalated"] for name in ("r", "whole")]
    assert told[0] == told[1]


@pytest.mark.long
def test_a_paused_round_goes_on_where_it_was(
    filled: Callable[..., Arena], server: ScriptedLLM, spec_file: Path
) -> None:
    """After a pause no request is sent again, and the same battles go on to the expensive member."""
    arena = filled(endpoint=server.url)
    arena.rounds.create(_request(spec_file, "r"))

    def pause(progress: Any) -> None:  # noqa: ANN401 - progress of judging
        if progress.done:
            arena.rounds.pause("r")

    server.script.latency = 0.2
    arena.rounds.run("r", concurrency=2, report=pause)
    assert 0 < arena.rounds.status("r")[1].pending < BATTLES
    server.script.latency = 0.0
    counts = arena.rounds.run("r", concurrency=8, report=lambda _progress: None)
    assert counts.judged == BATTLES
    assert _asked(server) == {CHEAP: 2 * BATTLES, EXPENSIVE: 24}


def test_a_broken_cheap_endpoint_sends_nothing_to_the_expensive_member(
    filled: Callable[..., Arena], server: ScriptedLLM, spec_file: Path
) -> None:
    """Where the cheap member fails the battle has failed, and can be tried again."""
    server.script.faults = {Fault.BAD_REQUEST: 1.0}
    arena = filled(endpoint=server.url)
    counts = _run(arena, spec_file, systems=("short",), sample="3")
    assert (counts.judged, counts.failed) == (0, 3)
    assert EXPENSIVE not in _asked(server)
    server.script.faults = {}
    arena.rounds.retry("r")
    assert arena.rounds.run("r", concurrency=8, report=lambda _progress: None).judged == 3


def test_a_plan_prices_what_is_expected_to_go_on(
    filled: Callable[..., Arena], server: ScriptedLLM, spec_file: Path
) -> None:
    """The expected cost counts the part that goes on; the most, and a threshold without record, all."""
    arena = filled(endpoint=server.url)
    unknown = arena.planner.estimate(_request(spec_file, "r"))
    assert (unknown["requests"], unknown["escalated"]) == (3 * BATTLES, None)
    spec_file.write_text(
        SPEC + '[guarantee]\nagainst = "large"\nlevel = 0.8\ncertainty = 0.95\npairs = 50\nkept = 40\n'
        "agreement = 0.9\nlower = 0.81\nescalated = 0.25\n"
    )
    plan = arena.planner.estimate(_request(spec_file, "r"))
    assert (plan["requests"], plan["escalated"]) == (2 * BATTLES + BATTLES // 4, 0.25)
    assert plan["cost_usd"] < unknown["cost_usd"]
    assert plan["cost_usd_most"] == pytest.approx(unknown["cost_usd_most"])
    assert server.log.calls == 0


@pytest.mark.long
def test_a_threshold_is_set_on_rounds_that_both_judged(
    filled: Callable[..., Arena], server: ScriptedLLM, tmp_path: Path
) -> None:
    """The cascade that is written judges as promised: what goes on, and how often the members agree."""
    small, large = tmp_path / "small.toml", tmp_path / "large.toml"
    small.write_text(
        f'extends = "reference-free"\nreply = "grades"\nmodel = "{CHEAP}"\norder = "both"\nreasks = 0\n'
    )
    large.write_text(f'extends = "reference-free"\nmodel = "{EXPENSIVE}"\n')
    arena = filled(endpoint=server.url)
    for name, judge in (("a", small), ("b", large)):
        _run(arena, judge, name, pairs="all")
    asked = CascadeRequest(
        cheap=str(small), expensive=str(large), level=0.5, certainty=0.9, rounds=("a", "b")
    )
    setting = arena.cascades.set_threshold(asked)
    # Of twelve questions with six battles each: two flip, four give no grade.
    assert (setting.battles, setting.cascade.abstained) == (72, 36)
    assert setting.confidence is CascadeConfidence.MARGIN
    # The models agree wherever both name a side, so that "slightly better" is sure enough.
    assert setting.cascade.threshold == 0.5
    guarantee = known(setting.guarantee)
    assert (guarantee.against, guarantee.agreement) == ("large", 1.0)
    assert guarantee.lower >= 0.5
    out = tmp_path / "judges" / "both.toml"
    spec = arena.cascades.write(setting, out)
    assert (spec.threshold, spec.guarantee) == (0.5, guarantee)
    calls = server.log.calls
    counts = _run(arena, out, "c", pairs="all")
    assert server.log.calls == calls, "all replies are cached"
    told = known(arena.round_reader.cascade("c"))
    assert told.asked == round(guarantee.escalated * counts.planned)
    assert "at least 50% agreement with large" in told.promise
    with pytest.raises(ConflictError):
        arena.cascades.write(setting, out)
    with pytest.raises(InputError, match="is not large as it is"):
        arena.cascades.set_threshold(CascadeRequest(**{**_fields(asked), "rounds": ("a", "a")}))
    strict = arena.cascades.set_threshold(CascadeRequest(**{**_fields(asked), "level": 0.99}))
    with pytest.raises(InputError, match="no cascade to write"):
        arena.cascades.write(strict, tmp_path / "no.toml")
    assert not (tmp_path / "no.toml").exists()


def _fields(request: CascadeRequest) -> dict[str, Any]:
    return {name: getattr(request, name) for name in CascadeRequest.__dataclass_fields__}


def test_the_embedded_judge_is_a_cheap_member(
    filled: Callable[..., Arena], server: ScriptedLLM, tmp_path: Path
) -> None:
    """The lexical judge costs nothing where it is sure; stored replies read again give the same verdicts."""
    path = tmp_path / "cascade.toml"
    path.write_text(
        'kind = "cascade"\nconfidence = "margin"\nthreshold = 0.6\nmembers = ["lexical", "reference-free"]\n'
    )
    arena = filled(endpoint=server.url)
    counts = _run(arena, path, pairs="all")
    told = known(arena.round_reader.cascade("r"))
    assert counts.judged == told.decided + told.asked == counts.planned
    assert told.decided > 0
    assert server.log.calls == told.asked > 0
    report = arena.reparsing.reparse("r", apply=True)
    assert (report.replies, report.verdicts_changed) == (told.asked, 0)
    assert known(arena.round_reader.cascade("r")) == told
