"""Rounds in waves: a proxy judge decides every battle, the expensive one a sample, and the books balance."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arena.container import Arena
from arena.services.boards.estimates import estimates_of
from arena.services.rounds.models import RoundRequest
from arena.services.rounds.waves.settings import waves_of
from arena.services.rounds.waves.stored import StoredWaves
from data.errors import ConflictError, InputError, NotFoundError
from data.records import CheapCounts, Outcome, RoundCounts, RoundState, WavesEnd
from leaderboard.sampling.powered import power
from tests.arena.conftest import WORDS, write_answers
from tests.narrow import known

QUESTIONS = 40
BATTLES = QUESTIONS * 6
"""Three systems and the reference, every pair."""
LENGTHS = (
    "It is {word}.",
    "Item {n} is {word}. It weighs {weight} grams.",
    "Item {n}, as known, is {word}, truly.",
)
SYSTEMS = {"full": (1, 1, 2, 0, 1), "short": (0, 2, 0, 1, 0, 0, 1), "wrong": (2, 0, 1)}
"""Each system's lengths in turn; no two answers to a question are alike, so that each battle is a call."""


def _wide_set(folder: Path) -> Path:
    """The tiny set with more questions."""
    path = folder / "wide"
    path.mkdir()
    (path / "set.toml").write_text(
        'name = "wide"\ntitle = "A wide set"\nreference_name = "human"\n[domains]\nd0 = "Zero"\nd1 = "One"\n'
    )
    lines = [
        f'{{"id": "q{n}", "domain": "d{n % 2}", "question": "What of item {n}?", '
        f'"reference": "Item {n} is {WORDS[n % 6]}. It weighs {n + 10} grams.", '
        f'"passages": [{{"id": "p{n}", "text": "Item {n} is {WORDS[n % 6]}. It weighs {n + 10} grams."}}]}}\n'
        for n in range(QUESTIONS)
    ]
    (path / "questions.jsonl").write_text("".join(lines))
    return path


@pytest.fixture
def wide(make_arena: Callable[..., Arena], tmp_path: Path) -> Callable[..., Arena]:
    """Open an arena with the wide set and three systems, of which each wins and loses."""

    def fill(**options: Any) -> Arena:  # noqa: ANN401 - settings of any type
        arena = make_arena(**options)
        arena.sets.import_from(_wide_set(tmp_path))
        for system, places in SYSTEMS.items():
            templates = [f"{LENGTHS[place]} So says {system}." for place in places]
            path = write_answers(tmp_path / f"{system}.jsonl", templates, QUESTIONS)
            arena.submissions.add(path, "wide", system=system)
        return arena

    return fill


def _request(name: str = "r", **fields: Any) -> RoundRequest:  # noqa: ANN401 - fields of a request
    plain = {
        "set_name": "wide",
        "judge": "reference-free",
        "pairs": "all",
        "canaries": 0,
        "name": name,
    }
    return RoundRequest(**{**plain, "cheap_judges": ("lexical",), **fields})


def _run(arena: Arena, name: str = "r", **fields: Any) -> RoundCounts:  # noqa: ANN401 - fields of a request
    arena.rounds.create(_request(name, **fields))
    return arena.rounds.run(name, concurrency=8, report=lambda _progress: None)


def _state(arena: Arena, name: str = "r") -> StoredWaves:
    round_ = arena.store.rounds.get(name)
    return StoredWaves.read(arena.store, round_, known(waves_of(round_)))


@pytest.mark.long
def test_spend_stops_exactly_and_books_balance(
    wide: Callable[..., Arena], scripted_llm: Callable[..., Any], database_url: str
) -> None:
    """The expensive judge is asked about as many battles as may be spent; all others are estimated."""
    server = scripted_llm()
    arena = wide(endpoint=server.url, database_url=database_url)
    counts = _run(arena, spend="70")
    assert (counts.planned, counts.judged, counts.estimated) == (BATTLES, 70, BATTLES - 70)
    assert counts.pending == 0
    assert server.log.calls == 70
    state = _state(arena)
    assert [wave.battles for wave in state.waves] == [50, 20]
    assert known(state.end).reason is WavesEnd.SPEND
    assert arena.store.rounds.get("r").state is RoundState.FINISHED
    (cheap,) = arena.store.waves.cheap(arena.store.rounds.get("r").id)
    assert cheap == CheapCounts(place=0, outcomes={Outcome.JUDGED: BATTLES}, pending=0, cost_usd=0.0)


def test_estimates_are_those_of_the_method_itself(
    wide: Callable[..., Arena], scripted_llm: Callable[..., Any]
) -> None:
    """A board's scores are what `power` gives for the stored shares, verdicts and chances."""
    arena = wide(endpoint=scripted_llm().url)
    _run(arena, spend="70")
    round_ = arena.store.rounds.get("r")
    estimates, section = known(estimates_of(arena.store, round_))
    state = _state(arena)
    judged = state.columns.preference >= 0
    verdicts = np.where(judged, np.array([1.0, 0.0, 0.5])[state.columns.preference], np.nan)
    first, *others = known(state.end).shares.T
    table = replace(estimates.powered.table, score=first)
    direct = power(table, verdicts, state.waves[-1].sampling_probs, others=others)
    assert np.allclose(direct.table.share, estimates.powered.table.share)
    assert section["gain"] == estimates.powered.gain > 0
    assert (section["judged"], section["battles"]) == (70, BATTLES)
    assert state.waves[0].sampling_probs == pytest.approx(50 / BATTLES)
    assert (state.waves[1].sampling_probs >= state.waves[0].sampling_probs).all()


@pytest.mark.long
def test_target_width_stops_a_round(wide: Callable[..., Arena], scripted_llm: Callable[..., Any]) -> None:
    """A wide target is met as soon as widths are believed; an impossible one where no more can be learnt."""
    arena = wide(endpoint=scripted_llm().url)
    counts = _run(arena, "wide-target", target_width=5000.0, ask="leaders")
    end = known(_state(arena, "wide-target").end)
    assert end.reason is WavesEnd.WIDTH
    assert 100 <= counts.judged < 120
    assert known(end.width) <= 5000
    counts = _run(arena, "narrow", target_width=0.001, ask="pair:full,short")
    assert known(_state(arena, "narrow").end).reason is WavesEnd.NOTHING_LEFT
    assert counts.judged >= 200


@pytest.mark.long
def test_everything_judged_gives_the_plain_rounds_standings(
    wide: Callable[..., Arena], scripted_llm: Callable[..., Any]
) -> None:
    """With nothing left to estimate, ratings and rates are those of the round that judged everything."""
    arena = wide(endpoint=scripted_llm().url)
    _run(arena, "waves", spend="100%")
    _run(arena, "plain", cheap_judges=())
    boards: list[Any] = [arena.boards.standings(name).as_json() for name in ("waves", "plain")]
    waves, plain = boards
    for ours, theirs in zip(_lines(waves), _lines(plain), strict=True):
        assert ours["system"] == theirs["system"]
        assert ours["rating"]["rating"] == pytest.approx(theirs["rating"]["rating"], abs=1e-6)
        if theirs["rate"] is not None:
            assert ours["rate"]["win_rate"] == pytest.approx(theirs["rate"]["win_rate"])
            assert ours["rate"]["win_tie_rate"] == pytest.approx(theirs["rate"]["win_tie_rate"])
    assert "estimated" not in plain
    assert "estimated" not in plain["outcomes"]


def _lines(standings: Any) -> list[Any]:  # noqa: ANN401 - a board's JSON
    return sorted(standings["lines"]["overall"], key=lambda line: line["system"])


@pytest.mark.long
def test_the_draw_follows_from_seed_and_state(
    wide: Callable[..., Arena], scripted_llm: Callable[..., Any]
) -> None:
    """Two rounds of one seed draw the same battles with the same chances; another seed draws others."""
    arena = wide(endpoint=scripted_llm().url)
    for name, seed in (("one", 1), ("same", 1), ("other", 2)):
        _run(arena, name, spend="60", seed=seed)
    one, same, other = (_state(arena, name) for name in ("one", "same", "other"))
    assert (one.arrays.wave == same.arrays.wave).all()
    assert all(
        (a.sampling_probs == b.sampling_probs).all() for a, b in zip(one.waves, same.waves, strict=True)
    )
    assert (one.arrays.wave != other.arrays.wave).any()


@pytest.mark.long
def test_interrupted_round_goes_on_where_it_was(
    wide: Callable[..., Arena], scripted_llm: Callable[..., Any], database_url: str
) -> None:
    """After a pause in the second wave no battle is asked twice, and the draw is as in one go."""
    server = scripted_llm()
    arena = wide(endpoint=server.url, database_url=database_url)
    _run(arena, "whole", spend="80")
    arena.store.replies.forget()
    before = server.log.calls
    arena.rounds.create(_request("cut", spend="80"))

    def pause(progress: Any) -> None:  # noqa: ANN401 - progress of judging
        if server.log.calls - before > 55 and progress.done:
            arena.rounds.pause("cut")

    try:
        arena.rounds.run("cut", concurrency=2, report=pause)
    except ConflictError:
        pytest.fail("a paused round is no error")
    arena.rounds.run("cut", concurrency=8, report=lambda _progress: None)
    assert server.log.calls - before == 80
    assert (_state(arena, "cut").arrays.wave == _state(arena, "whole").arrays.wave).all()


@pytest.mark.slow
def test_killed_round_asks_nothing_twice(
    wide: Callable[..., Arena],
    scripted_llm: Callable[..., Any],
    start: Callable[..., subprocess.Popen[str]],
    until: Callable[..., None],
) -> None:
    """Kill −9 in the middle of a wave: what was stored stays, and the resumed round draws the same."""
    server = scripted_llm(latency=0.05)
    arena = wide(endpoint=server.url)
    arena.rounds.create(_request(spend="90"))
    process = start(arena, "rounds", "resume", "r", "--concurrency", "2")
    until(lambda: arena.rounds.status("r")[1].judged > 55)
    process.send_signal(signal.SIGKILL)
    process.wait()
    stored = arena.rounds.status("r")[1].judged
    counts = arena.rounds.run("r", concurrency=8, report=lambda _progress: None)
    assert (counts.judged, counts.estimated) == (90, BATTLES - 90)
    # At most the calls in flight and not yet committed are lost; their replies were not stored either.
    assert server.log.calls <= 90 + 90 - stored
    _run(arena, "whole", spend="90")
    assert (_state(arena).arrays.wave == _state(arena, "whole").arrays.wave).all()


@pytest.mark.slow
def test_two_workers_share_waves(
    wide: Callable[..., Arena],
    scripted_llm: Callable[..., Any],
    start: Callable[..., subprocess.Popen[str]],
    until: Callable[..., None],
    database_url: str,
) -> None:
    """Two workers of the queue judge cheap and expensive battles once each, whoever draws the next wave."""
    server = scripted_llm(latency=0.02)
    arena = wide(endpoint=server.url, database_url=database_url)
    arena.rounds.create(_request(spend="120"))
    arena.jobs.judge("r", options={"concurrency": 2}, workers=2)
    for _ in range(2):
        start(arena, "worker")
    until(lambda: arena.store.rounds.get("r").state is RoundState.FINISHED)
    counts = arena.rounds.status("r")[1]
    assert (counts.judged, counts.estimated) == (120, BATTLES - 120)
    assert server.log.calls == 120
    _run(arena, "alone", spend="120")
    assert (_state(arena).arrays.wave == _state(arena, "alone").arrays.wave).all()


@pytest.mark.long
def test_the_cap_ends_a_round_and_a_higher_one_lets_it_go_on(
    wide: Callable[..., Arena], scripted_llm: Callable[..., Any]
) -> None:
    """The cap holds over all waves; what it left is estimated, and drawn again under a higher cap."""
    arena = wide(endpoint=scripted_llm().url)
    whole = known(_run(arena, "whole", spend="100%").cost_usd)
    arena.store.replies.forget()
    counts = _run(arena, budget_usd=whole / 2, spend="100%")
    assert known(counts.cost_usd) <= whole / 2 + 1e-9
    assert known(_state(arena).end).reason is WavesEnd.BUDGET
    assert counts.pending == 0
    assert counts.estimated > 0
    arena.boards.standings("r")
    arena.rounds.set_budget("r", 2 * whole)
    assert arena.rounds.retry("r") == counts.estimated + counts.skipped
    counts = arena.rounds.run("r", concurrency=8, report=lambda _progress: None)
    assert (counts.judged + counts.estimated, counts.skipped) == (BATTLES, 0)
    assert known(_state(arena).end).reason in {WavesEnd.SPEND, WavesEnd.NOTHING_LEFT}
    assert counts.judged >= 200


@pytest.mark.long
def test_a_small_llm_as_cheap_judge_is_paid_from_the_same_account(
    wide: Callable[..., Arena], scripted_llm: Callable[..., Any]
) -> None:
    """Cheap LLM verdicts are asked once each, and their cost stands in the books."""
    server = scripted_llm()
    arena = wide(endpoint=server.url)
    counts = _run(arena, cheap_judges=("preference", "lexical"), spend="50")
    # The proxy judge is asked in both orders.
    assert server.log.calls == 2 * BATTLES + 50
    cheap = arena.store.waves.cheap(arena.store.rounds.get("r").id)
    assert [count.outcomes for count in cheap] == [{Outcome.JUDGED: BATTLES}] * 2
    paid, _ = arena.store.waves.paid(arena.store.rounds.get("r").id)
    assert counts.cost_usd == pytest.approx(cheap[0].cost_usd + paid)
    assert cheap[0].cost_usd > 0


def test_an_earlier_round_is_a_cheap_judge_for_nothing(
    wide: Callable[..., Arena], scripted_llm: Callable[..., Any]
) -> None:
    """Verdicts of an earlier round on the same battles are copied, and no judge is asked for them."""
    server = scripted_llm()
    arena = wide(endpoint=server.url)
    _run(arena, "earlier", judge="lexical", cheap_judges=())
    counts = _run(arena, cheap_judges=("round:earlier",), spend="50")
    assert (counts.judged, server.log.calls) == (50, 50)
    assert not np.isnan(_state(arena).arrays.cheap).any()
    with pytest.raises(NotFoundError):
        arena.rounds.create(_request("no", cheap_judges=("round:nowhere",), spend="50"))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"spend": "3"}, "nothing can be estimated"),
        ({"spend": "much"}, "nothing to spend"),
        ({"spend": None}, "needs an end"),
        ({"cheap_judges": (), "spend": "50"}, "Only a round with proxy judges"),
        ({"spend": "50", "ask": "everything"}, "no question"),
        ({"spend": "50", "cheap_judges": ("trained",)}, "were removed"),
        ({"spend": "50", "ask": "pair:full,nobody"}, "no system nobody"),
        ({"target_width": -1.0}, "no width"),
    ],
)
def test_what_cannot_be_a_round_in_waves_is_refused(
    wide: Callable[..., Arena], fields: dict[str, Any], said: str
) -> None:
    """Requests that end nowhere, or ask what cannot be told, are refused before anything is stored."""
    arena = wide()
    with pytest.raises(InputError, match=said):
        arena.rounds.create(_request(**fields))
    assert arena.rounds.rounds() == ()
