from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from arena.container import Arena
from arena.services.rounds.judging_loop import QuestionFeed, in_random_order
from arena.services.rounds.models import RoundRequest
from arena.services.system import metrics_of
from data.errors import ConflictError, InputError, ReplayMissError, UnfitJudgeError
from data.models import OrderPolicy, Outcome, Preference, RoundCounts, RoundState, Verdict
from judges.llm.settings import CacheMode
from tests.arena.conftest import Commands, Fill, Serve, play, quiet, write_lines, write_many
from tests.narrow import known
from tests.providers import server
from tests.providers.base import Answer, Call, End, Mode, completion, refusal
from tests.scripted_replies import Ask, answers_of

QUESTIONS = 60
ANSWERS = {
    "long": "Item {n} is well known, and much may be said of it, at some length and with some care, of {n}.",
    "middle": "Item {n} is well known, and much may be said.",
    "brief": "Item {n}.",
}
JUDGE = 'kind = "llm"\nmodel = "{model}"\norder = "both"\n'


def create(arena: Arena, name: str = "r", **fields: Any) -> None:  # noqa: ANN401 - fields of any type
    """Plan a round of an LLM that reads every pair in both orders."""
    values = {"pairs": "all", "order": OrderPolicy.BOTH, "judge": "reference-free", **fields}
    arena.rounds.create(RoundRequest(set_name="tiny", name=name, **values))


def run(arena: Arena, name: str = "r", *, concurrency: int = 8) -> RoundCounts:
    return arena.rounds.run(name, concurrency=concurrency, report=quiet)


def judge_round(arena: Arena, name: str = "r", **fields: Any) -> RoundCounts:  # noqa: ANN401 - fields of any type
    """Judge every pair with an LLM in one order."""
    return play(arena, name, judge="reference-free", **fields)


def paid(arena: Arena, name: str = "r") -> float:
    return sum(row.cost_usd or 0.0 for e in arena.store.verdicts.evidence(name) for row in e.judgments)


@pytest.fixture
def many(make_arena: Fill, tmp_path: Path) -> Arena:
    """An arena with a round of sixty questions, sorted by domain, and three systems of different lengths."""
    arena = make_arena()
    arena.sets.import_from(write_many(tmp_path / "many", QUESTIONS))
    for system, text in ANSWERS.items():
        rows = [{"question_id": f"q{n:02}", "answer": text.format(n=n)} for n in range(QUESTIONS)]
        arena.submissions.add(write_lines(tmp_path / f"{system}.jsonl", rows), "many", system=system)
    arena.rounds.create(RoundRequest(set_name="many", judge="reference-free", pairs="all", name="r"))
    return arena


def test_questions_have_seeded_random_order(many: Arena) -> None:
    created = many.rounds.get("r")
    job, lease = many.job_leases.begin(created.id)
    feed = QuestionFeed(many.store, lease.id, created.id, created.seed, limit=6)
    taken = []
    while batch := feed.take():
        taken += [battle.question.id for battle in batch]
    keys = dict(many.store.battles.questions(created.id))
    order = [keys[number] for number in in_random_order(keys.items(), created.seed)]
    assert list(dict.fromkeys(taken)) == order
    assert len(taken) == many.rounds.status("r")[1].planned
    assert order != sorted(order)
    assert 8 < sum(int(key[1:]) < QUESTIONS / 2 for key in order[: QUESTIONS // 2]) < 22
    assert in_random_order(keys.items(), 1) != in_random_order(keys.items(), 0)
    assert job.round_id == created.id


def test_live_standings_count_stored_verdicts(many: Arena, run: Commands) -> None:
    assert [row.score for row in many.rounds.live("r").systems] == [None, None, None]
    round_ = many.store.rounds.get("r")
    keys = dict(many.store.battles.questions(round_.id))
    first = {keys[number] for number in in_random_order(keys.items(), round_.seed)[:40]}
    length = {"long": 3, "middle": 2, "human": 1, "brief": 0}
    a_wins, b_wins = (
        Verdict(outcome=Outcome.JUDGED, preference=side) for side in (Preference.A, Preference.B)
    )
    many.store.verdicts.record(
        [
            (battle.id, a_wins if length[battle.system_a] > length[battle.system_b] else b_wins)
            for battle in many.rounds.battles("r")
            if battle.question_id in first
        ]
    )
    live = many.rounds.live("r")
    assert (live.questions, live.planned_questions) == (40, QUESTIONS)
    assert [row.system for row in live.systems] == ["long", "middle", "brief"]
    best = live.systems[0]
    assert (best.score, best.questions, best.upper) == (1, 40, 1)
    assert 0.8 < known(best.lower) < 1
    live = run.json("rounds", "status", "r", "--json")["live"]
    assert (live["questions"], live["systems"][0]["system"]) == (40, "long")
    assert "Verdicts on 40 of 60 questions" in run("rounds", "status", "r")[1]


def test_unreadable_replies_pause_round_with_example(filled: Fill, scripted_llm: Serve) -> None:
    llm = scripted_llm(faults={"wrong_format": 1.0})
    arena = filled(endpoint=llm.url)
    create(arena)
    with pytest.raises(UnfitJudgeError, match="Both have their merits") as caught:
        run(arena, concurrency=2)
    assert "status r --replies" in str(caught.value)
    assert "--go-on" in str(caught.value)
    round_, counts = arena.rounds.status("r")
    assert round_.state is RoundState.PAUSED
    assert counts.judged == 0 < counts.pending
    assert arena.rounds.conduct("r").unreadable == counts.unreadable > 0
    # Two replies for each battle, the second order never.
    assert llm.log.calls <= 2 * (counts.unreadable + 2)
    assert llm.log.calls < 30


def test_judge_that_decides_by_position_pauses_round(filled: Fill, scripted_llm: Serve) -> None:
    arena = filled(endpoint=scripted_llm(rule="first").url)
    create(arena)
    with pytest.raises(UnfitJudgeError, match=r"The answer shown first won (\d+) of \1 readings"):
        run(arena, concurrency=2)
    arena.rounds.judge_anyway("r")
    assert run(arena).judged == 72
    (warning,) = arena.rounds.warnings("r")
    assert "72 of 72 (100 %)" in warning
    assert "The answer shown first won 144 of 144 readings." in warning
    conduct = arena.rounds.conduct("r")
    assert (conduct.readings, conduct.both_orders, conduct.flips) == (144, 72, 72)


def test_unreadable_battles_are_retried_and_all_attempts_exported(
    filled: Fill, scripted_llm: Serve, run: Commands, tmp_path: Path
) -> None:
    llm = scripted_llm(faults={"wrong_format": 1.0})
    arena = filled(endpoint=llm.url)
    create(arena, pairs="reference", sample="8")
    arena.rounds.judge_anyway("r")
    counts = arena.rounds.run("r", concurrency=4, report=quiet)
    assert counts.unreadable == counts.planned
    with pytest.raises(ConflictError, match="has no verdict") as caught:
        arena.boards.publish("r", report=quiet, score=False, partial=True)
    assert "rounds retry r --unreadable" in str(caught.value)
    calls = llm.log.calls
    assert calls == 2 * counts.planned
    rows = run.json("rounds", "status", "r", "--unreadable", "--replies", 100, "--json", endpoint=llm.url)
    assert len(rows) == counts.planned
    assert all(len(row["judgments"][0]["replies"]) == 2 for row in rows)
    assert all(row["question"] and row["system_a"] for row in rows)
    llm.script.faults = {}
    assert arena.rounds.retry("r") == 0
    again = run.json("rounds", "retry", "r", "--unreadable", "--json", endpoint=llm.url)
    assert again["judged"] == counts.planned
    assert llm.log.calls == calls + 2 * counts.planned
    arena.boards.export_round("r", tmp_path / "out")
    lines = [json.loads(line) for line in (tmp_path / "out" / "judgments.jsonl").read_text().splitlines()]
    replies = [reply for line in lines for reply in (*line["earlier"], line["reply"])]
    assert len(replies) == 4 * counts.planned
    assert arena.rounds.warnings("r") == ()


def test_both_orders_of_battle_precede_next_battle(filled: Fill, scripted_llm: Serve) -> None:
    llm = scripted_llm()
    arena = filled(endpoint=llm.url)
    create(arena, pairs="reference", sample="8")
    run(arena, concurrency=1)
    pairs = [answers_of(Ask(body)) for body in llm.log.bodies]
    assert len(pairs) == 48
    assert [known(pair)[::-1] for pair in pairs[::2]] == pairs[1::2]


@pytest.mark.slow
def test_wait_for_endpoint_is_reported(filled: Fill, scripted_llm: Serve) -> None:
    arena = filled(endpoint=scripted_llm(first=["rate_limit_after"] * 3, retry_after=1.2).url)
    create(arena, pairs="reference", sample="8")
    notes: set[str] = set()
    arena.rounds.run("r", concurrency=2, report=lambda progress: notes.add(progress.note))
    assert any("HTTP 429" in note and "next try in" in note for note in notes)
    assert arena.rounds.status("r")[0].state is RoundState.FINISHED


def test_every_outcome_is_counted(filled: Fill, scripted_llm: Serve) -> None:
    faults = {"refusal": 0.15, "wrong_format": 0.5, "bad_request": 0.1}
    arena = filled(endpoint=scripted_llm(faults=faults).url)
    counts = judge_round(arena)
    assert counts.pending == 0
    assert min(counts.judged, counts.refused, counts.unreadable, counts.failed) > 0
    for battle in arena.rounds.battles("r"):
        assert (battle.outcome is Outcome.JUDGED) == (battle.preference is not None)
        assert battle.outcome is Outcome.JUDGED or battle.detail


FAULTS = {"wrong_format": 0.3, "malformed": 0.1, "refusal": 0.1, "bad_request": 0.05, "drop": 0.2}


@pytest.mark.slow
@pytest.mark.parametrize("budget_usd", [None, 5.0])
def test_counts_ledger_and_judgments_agree(
    filled: Fill, scripted_llm: Serve, database_url: str, budget_usd: float | None
) -> None:
    """Retries and refusals are charged once; the possible cost of lost calls is counted separately."""
    arena = filled(endpoint=scripted_llm(faults=FAULTS).url, database_url=database_url)
    counts = judge_round(arena, budget_usd=budget_usd)
    judgments = [judgment for row in arena.store.verdicts.evidence("r") for judgment in row.judgments]
    assert counts.cost_usd == pytest.approx(paid(arena))
    assert counts.input_tokens == sum(row.input_tokens for row in judgments)
    assert counts.lost_usd > 0.05 * known(counts.cost_usd)
    assert counts.reserved_usd == pytest.approx(0.0, abs=1e-9)
    account = arena.store.ledgers.account(arena.store.rounds.get("r").id)
    assert (account.spent, account.lost) == (counts.cost_usd, counts.lost_usd)
    assert account.drawn == pytest.approx(0.0, abs=1e-9)
    retried = [row for row in judgments if row.outcome is Outcome.UNREADABLE]
    assert retried
    assert all(row.input_tokens > row.reply.input_tokens for row in retried if row.reply)
    assert f"arena_lost_usd {counts.lost_usd}" in metrics_of(arena.store).decode()


@pytest.mark.slow
def test_lost_calls_count_against_cap(filled: Fill, scripted_llm: Serve) -> None:
    """With every reply lost, the round stops at its cap without charges."""
    arena = filled(endpoint=scripted_llm(faults={"drop": 1.0}).url)
    counts = judge_round(arena, budget_usd=0.02)
    assert counts.skipped > 0
    assert counts.cost_usd == 0.0
    assert 0.01 < counts.lost_usd <= 0.02 + 1e-9
    with pytest.raises(ConflictError, match="spent or lost"):
        arena.rounds.set_budget("r", counts.lost_usd / 2)


def test_budget_cannot_be_below_spent_amount(filled: Fill, scripted_llm: Serve) -> None:
    arena = filled(endpoint=scripted_llm().url)
    spent = known(judge_round(arena, budget_usd=5.0, pairs="reference").cost_usd)
    with pytest.raises(ConflictError, match="are spent"):
        arena.rounds.set_budget("r", spent / 2)
    with pytest.raises(InputError, match="not a valid amount"):
        arena.rounds.set_budget("r", float("nan"))
    assert arena.rounds.set_budget("r", spent).budget_usd == spent
    assert arena.store.ledgers.account(arena.store.rounds.get("r").id).cap == spent
    create(arena, "running", budget_usd=5.0)
    arena.store.rounds.move("running", to=RoundState.RUNNING, allowed=(RoundState.PLANNED,))
    with pytest.raises(ConflictError, match="it is running"):
        arena.rounds.set_budget("running", 4.0)
    assert arena.rounds.set_budget("running", 6.0).budget_usd == 6.0


@pytest.mark.slow
def test_cap_leaves_no_battle_half_judged(filled: Fill, scripted_llm: Serve) -> None:
    """Every paid battle has both orders, and spending stays below the cap."""
    arena = filled(endpoint=scripted_llm(latency=0.002).url)
    create(arena, "whole")
    whole = known(run(arena, "whole", concurrency=64).cost_usd)
    for concurrency, share in ((64, 0.15), (8, 0.6)):
        arena.store.replies.forget()
        name, cap = f"capped-{concurrency}", share * whole
        create(arena, name, budget_usd=cap)
        counts = run(arena, name, concurrency=concurrency)
        assert arena.rounds.status(name)[0].state is RoundState.FINISHED
        assert counts.judged + counts.skipped == counts.planned
        assert min(counts.judged, counts.skipped) > 0
        assert 0 < known(counts.cost_usd) + counts.lost_usd <= cap + 1e-9
        assert counts.reserved_usd == pytest.approx(0.0, abs=1e-9)
        orders = [[row.calls > 0 for row in e.judgments] for e in arena.store.verdicts.evidence(name)]
        assert not [paid_orders for paid_orders in orders if sum(paid_orders) == 1]


@pytest.mark.slow
def test_replay_sends_no_request_and_reports_missing_replies(
    filled: Fill, scripted_llm: Serve, make_arena: Fill
) -> None:
    llm = scripted_llm()
    arena = filled(endpoint=llm.url)
    judge_round(arena, "one")
    calls = llm.log.calls
    again = judge_round(arena, "cached")
    assert (again.judged, again.cost_usd, again.input_tokens) == (72, 0.0, 0)
    replaying = make_arena(endpoint=llm.url, cache_mode=CacheMode.REPLAY)
    assert judge_round(replaying, "two").cost_usd == 0
    assert llm.log.calls == calls
    with pytest.raises(ReplayMissError, match="cache has no reply"):
        play(replaying, "other", judge="reference")
    assert arena.rounds.status("other")[0].state is RoundState.PAUSED
    judge_round(make_arena(endpoint=llm.url, cache_mode=CacheMode.RECORD), "three")
    # Cleaning an attack changes the request, so recorded counts may include both.
    assert len(llm.log.started) == calls
    assert min(llm.log.started.values()) == 2


@pytest.mark.slow
def test_batches_give_same_round_as_calls(filled: Fill, scripted_llm: Serve, make_arena: Fill) -> None:
    llm = scripted_llm()
    arena = filled(endpoint=llm.url)
    judge_round(arena, "calls")
    arena.store.replies.forget()
    batched = make_arena(endpoint=llm.url, transport="batch", batch_poll=1)
    create(batched, "b", order=None)
    assert run(batched, "b", concurrency=200).judged == 72
    assert llm.batches == 1
    assert arena.store.batches.unread() == ()
    first, second = ([row.preference for row in arena.rounds.battles(name)] for name in ("calls", "b"))
    assert first == second


def _moderated(call: Call) -> Answer:
    if "of item 3 " in str(call.body["messages"][-1]["content"]):
        return refusal(403, "Your chosen model requires moderation and your input was flagged", code=403)
    return completion(call)


def test_moderated_question_does_not_block_publication(
    filled: Fill, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its battles are refused with the endpoint's message; the rest is judged and published."""
    mode = Mode(name="moderated", about="one question is flagged", end=End.REFUSED, answer=_moderated)
    monkeypatch.setattr(server, "MODES", {**server.MODES, mode.name: mode})
    spec = tmp_path / "moderated.toml"
    spec.write_text(JUDGE.format(model=mode.name))
    with server.ScriptedProviders().running() as endpoint:
        arena = filled(endpoint=endpoint.url)
        counts = play(arena, judge=str(spec))
    refused = [row for row in arena.store.verdicts.evidence("r") if row.battle.outcome is Outcome.REFUSED]
    assert {row.battle.question_id for row in refused} == {"q3"}
    assert all("flagged" in (row.battle.detail or "") for row in refused)
    assert (counts.refused, counts.pending, counts.failed) == (len(refused), 0, 0)
    assert counts.judged == counts.planned - len(refused) > 0
    arena.boards.publish("r", report=quiet, score=False)
    assert arena.rounds.status("r")[0].state is RoundState.PUBLISHED


def test_several_models_under_one_name_are_listed(filled: Fill, tmp_path: Path) -> None:
    spec = tmp_path / "routed.toml"
    spec.write_text(JUDGE.format(model="openrouter-auto"))
    with server.ScriptedProviders().running() as endpoint:
        arena = filled(endpoint=endpoint.url)
        counts = play(arena, judge=str(spec), pairs="reference", sample="4")
    health: Any = arena.boards.standings("r").as_json()["health"]
    (warning,) = health["conduct"]["warnings"]
    answered = f"cheaper-model-v1 ({counts.judged}), cheaper-model-v2 ({counts.judged})"
    assert warning == f"More than one model replied for openrouter-auto: {answered}."
    arena.boards.export_round("r", tmp_path / "out")
    lines = (tmp_path / "out" / "judgments.jsonl").read_text().splitlines()
    served = [json.loads(line)["reply"]["response_model"] for line in lines]
    assert Counter(served) == {"cheaper-model-v1": counts.judged, "cheaper-model-v2": counts.judged}
