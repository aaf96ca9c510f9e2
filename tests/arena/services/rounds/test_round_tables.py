"""Tables of stored rounds, replies read again, judges' tables and generated answers, by their commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from data.errors import ConflictError
from data.records import Outcome, Preference, RoundState, Verdict

Run = Callable[..., Any]


def _judged(arena: Arena, name: str, judge: str = "reference-free", **fields: Any) -> None:  # noqa: ANN401
    arena.rounds.create(RoundRequest(set_name="tiny", judge=judge, name=name, **{"pairs": "all", **fields}))
    arena.rounds.run(name, concurrency=8, report=lambda _progress: None)


def _labels(path: Path) -> Path:
    """People who prefer the full answers to the short ones, and the reference to both."""
    words = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")
    rows: list[dict[str, object]] = []
    for n in range(12):
        question = f"What do we know of item {n}{' then' * (n % 2)}?"
        full = f"Item {n} is {words[n % 6]}, and it weighs {n + 10} grams."
        short = f"Item {n} is {words[n % 6]}."
        rows.append(
            {
                "id": f"t{n}",
                "question": question,
                "answer_a": full,
                "answer_b": short,
                "label": "a" if n else "b",
            }
        )
        rows.append(
            {
                "id": f"s{n}",
                "question": question,
                "answer_a": short,
                "answer_b": full,
                "label": (1, 0, 2)[n % 3],
                "system_a": "short",
                "system_b": "full",
            }
        )
    rows.append({"id": "x", "question": "Another one?", "answer_a": "1", "answer_b": "2", "label": "tie"})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.long
def test_tables_of_the_paper_come_from_stored_rounds(
    filled: Run, scripted_llm: Run, command: Run, tmp_path: Path
) -> None:
    """Tables 3, 4, 5, 8, 9 and 10 are made by `rounds table`, and nothing is asked for them."""
    server = scripted_llm()
    arena = filled(endpoint=server.url)
    _judged(arena, "all")
    _judged(arena, "reference", pairs="reference")
    _judged(arena, "lexical", judge="lexical")
    asked = server.log.calls
    labels = _labels(tmp_path / "labels.jsonl")

    rates = command("rounds", "status", "all", "--table", "win-rates")
    assert rates["rows"][0]["system"] == "full"
    assert set(rates["columns"]) >= {"overall W", "overall W+T", "d0 W", "d2 W+T"}
    ratings = command("rounds", "status", "reference", "all", "--table", "ratings")
    assert {row["system"] for row in ratings["rows"]} == {"human", "full", "short", "wrong"}
    assert ratings["rows"][0]["all: battles"] == 36
    pairs = command("rounds", "status", "all", "--table", "pairs", "--labels", labels)
    assert len(pairs["rows"]) == 6
    (shown,) = (row for row in pairs["rows"] if row["pair"] == "full vs short")
    assert shown["battles"] == 12
    assert shown["win"] + shown["tie"] + shown["loss"] == pytest.approx(1)
    assert shown["labelled"] == 24
    assert shown["people: win"] == pytest.approx(19 / 24)
    assert pairs["notes"] == ["all: 1 labelled pairs are not among its battles."]
    judges = command("rounds", "status", "all", "lexical", "--table", "judges", "--labels", labels)
    assert [row["judge"] for row in judges["rows"]] == ["reference-free", "lexical"]
    assert "full vs short" in judges["columns"]
    for row in judges["rows"]:
        said = "".join(note for note in judges["notes"] if note.startswith(f"{row['round']}: no corr"))
        assert all((row[pair] is None) == (pair in said) for pair in judges["columns"][2:])
    silent = command("rounds", "status", "all", "--table", "no-answer")
    assert {row["overall"] for row in silent["rows"]} == {0.0}
    fared = command("rounds", "status", "all", "--table", "attacks")
    assert fared["rows"][-1]["judged"] == 37
    assert server.log.calls == asked
    _more_of_tables(command)


def _more_of_tables(command: Run) -> None:
    """Rounds side by side, intervals, marks and the set, in what `_judged` judged."""
    both = command(
        "rounds", "status", "all", "lexical", "--table", "win-rates", "--intervals", "--significance"
    )
    first = both["rows"][0]
    assert first["all: overall W lower"] <= first["all: overall W"] <= first["all: overall W upper"]
    # Nobody has a rating, and each of the four beat the next in every battle.
    assert {row["all: overall W mark"] for row in both["rows"]} == {"A", "B", "D"}
    assert any("Letters" in note for note in both["notes"])
    made = command("rounds", "status", "all", "--table", "set")
    assert [row["domain"] for row in made["rows"]] == ["d0", "d1", "d2", "overall"]
    assert made["rows"][-1]["questions"] == 12
    beside = command("rounds", "status", "all", "--table", "references")
    wins = {row["system"]: row["wins"] for row in beside["rows"]}
    assert next(iter(wins)) == "human"
    assert set(wins) == {"human", "full", "short", "wrong"}
    assert {row["citation accuracy"] for row in beside["rows"]} == {None}
    assert "12 references have no citations to measure." in beside["notes"]
    unscored = command("rounds", "status", "all", "--table", "correlations")
    assert (unscored["rows"], unscored["notes"]) == (
        [],
        ["No system has both context and answer scores."],
    )
    tested = command("rounds", "status", "all", "--table", "pairs", "--significance")
    marks = {row["pair"]: row["win mark"] for row in tested["rows"]}
    shares = {row["pair"]: (row["win"], row["loss"]) for row in tested["rows"]}
    assert {pair for pair, mark in marks.items() if mark == "*"} == {
        pair for pair, (won, lost) in shares.items() if abs(won - lost) == 1
    }


def test_table_of_passages_reads_the_cards(
    make_arena: Run,
    set_folder: Path,
    answers_file: Run,
    scripted_llm: Run,
    command: Run,
    run: Run,
    tmp_path: Path,
) -> None:
    """A model with 5 and with 10 passages stands on two lines that follow one another (Table 10)."""
    arena = make_arena(endpoint=scripted_llm().url)
    arena.sets.import_from(set_folder)
    for count, template in (
        (10, "Item {n} is {word}, and it weighs {weight} grams."),
        (5, "Item {n} is {word}."),
    ):
        card = tmp_path / f"{count}.yaml"
        card.write_text(f"model: m\npassages: '{count}'\n")
        arena.submissions.add(answers_file(f"m-{count}", template), "tiny", system=f"m-{count}", card=card)
    arena.submissions.add(answers_file("other", "It weighs {weight} grams."), "tiny", system="other")
    _judged(arena, "r", pairs="reference")
    table = command("rounds", "status", "r", "--table", "passages")
    assert [(row["model"], row["passages"]) for row in table["rows"]] == [("m", "5"), ("m", "10")]
    assert table["notes"] == ["1 systems are left out: their cards do not say how many passages."]
    words = ("rounds", "status", "r", "--table", "passages", "--significance", "--format", "latex")
    code, out, _ = run(*words)
    assert code == 0
    five, ten = (line for line in out.splitlines() if line.startswith("m &"))
    # Four questions of one domain that all went one way may do so by chance; twelve may not.
    assert (five.count("textsuperscript"), ten.count("textsuperscript{*}")) == (0, 1)
    _judged(arena, "again", pairs="reference")
    below = command("rounds", "status", "r", "again", "--table", "passages")
    assert [(row["passages"], row["round"]) for row in below["rows"]] == [
        ("5", "again"),
        ("5", "r"),
        ("10", "again"),
        ("10", "r"),
    ]


def test_reparse_shows_what_a_parser_would_change_and_stores_it_on_request(
    filled: Run, scripted_llm: Run, command: Run
) -> None:
    """Readings of an older parser are found, shown, and replaced only where asked for."""
    server = scripted_llm(faults={"wrong_format": 0.4})
    arena = filled(endpoint=server.url)
    _judged(arena, "r")
    same = command("rounds", "show-replies", "--reparse", "r", endpoint=server.url)
    assert (same["judgments_changed"], same["verdicts_changed"]) == (0, 0)
    assert same["digit_scan_differs"] > 0
    status = command("rounds", "status", "r", endpoint=server.url)
    assert status["digit_scan_differs"] == same["digit_scan_differs"]
    _spoil(arena)
    shown = command("rounds", "show-replies", "--reparse", "r", endpoint=server.url)
    assert shown["verdicts_changed"] == 1
    assert arena.rounds.status("r")[1].judged == same["battles"] - arena.rounds.status("r")[1].unreadable
    applied = command("rounds", "show-replies", "--reparse", "r", "--apply", endpoint=server.url)
    assert applied["verdicts_changed"] == 1
    assert command("rounds", "show-replies", "--reparse", "r", endpoint=server.url)["verdicts_changed"] == 0
    arena.store.rounds.move("r", to=RoundState.PUBLISHED, allowed=(RoundState.FINISHED,))
    with pytest.raises(ConflictError, match="published"):
        arena.reparsing.reparse("r", apply=True)


def test_retry_with_a_budget_goes_on_after_the_cap(filled: Run, scripted_llm: Run, command: Run) -> None:
    """`rounds retry --budget-usd` raises the cap, and judges what was skipped at the old one."""
    url = scripted_llm().url
    filled(endpoint=url)
    scope = ("--set", "tiny", "--judge", "reference-free", "--name", "r", "--canaries", 0)
    stopped = command("rounds", "run", *scope, "--budget-usd", 0, endpoint=url)
    assert stopped["skipped"] == stopped["planned"] > 0
    went_on = command("rounds", "resume", "--failed", "r", "--budget-usd", 5, endpoint=url)
    assert went_on["judged"] == went_on["planned"]
    again = command("rounds", "list", endpoint=url)
    assert again[0]["budget_usd"] == 5.0


def _spoil(arena: Arena) -> None:
    """Store one verdict as an older parser might have read it."""
    for one in arena.store.verdicts.evidence("r"):
        if one.battle.outcome is Outcome.JUDGED and one.battle.preference is not Preference.TIE:
            wrong = tuple(
                replace(judgment, preference=Preference.TIE, parser="rating/0") for judgment in one.judgments
            )
            verdict = Verdict(outcome=Outcome.JUDGED, preference=Preference.TIE)
            arena.store.verdicts.revise([(one.battle.id, wrong, verdict)])
            return


@pytest.mark.long
def test_tables_and_calibration_put_labels_to_a_majority(
    filled: Run, scripted_llm: Run, command: Run, tmp_path: Path
) -> None:
    """D1: (−2, 1, 1) counts for the second answer and (b, tie, tie) as a tie, in tables and calibration."""
    server = scripted_llm()
    arena = filled(endpoint=server.url)
    _judged(arena, "all")
    rows = [json.loads(line) for line in _labels(tmp_path / "one.jsonl").read_text().splitlines()]
    pairs = [row for row in rows if row.get("system_a")]
    votes = [(-2, 1, 1), ("b", "tie", "tie")]
    labels = tmp_path / "votes.jsonl"
    labels.write_text(
        "".join(
            json.dumps({**row, "label": label}) + "\n"
            for n, row in enumerate(pairs)
            for label in votes[n % 2]
        )
    )
    (shown,) = (
        row
        for row in command("rounds", "status", "all", "--table", "pairs", "--labels", labels)["rows"]
        if row["pair"] == "full vs short"
    )
    assert [shown[f"people: {side}"] for side in ("win", "tie", "loss")] == [0.5, 0.5, 0]
    words = ("judges", "calibrate", "--judge", "reference-free", "--labels", labels)
    found = command(*words, endpoint=server.url)
    assert found["decided"] == 6
    assert {people: sum(row.values()) for people, row in found["confusion"].items()} == {
        "a": 0,
        "tie": 6,
        "b": 6,
    }
    assert found["mean_label"] == pytest.approx(1 / 6)


@pytest.mark.long
def test_judges_are_compared_on_labels(filled: Run, scripted_llm: Run, command: Run, tmp_path: Path) -> None:
    """Several judges in one call; each with length effect, self-preference, flips and pairs of systems."""
    server = scripted_llm(rule="longer")
    filled(endpoint=server.url)
    labels = _labels(tmp_path / "labels.jsonl")
    words = ("judges", "calibrate", "--judge", "reference-free", "--judge", "preference", "--labels", labels)
    one, both = command(*words, endpoint=server.url)
    assert (one["judge"], both["judge"]) == ("reference-free", "preference")
    assert one["flip_rate"] is None
    assert both["flip_rate"] == 0
    assert one["length_effect"]["pairs"] == 24
    assert one["length_effect"]["judge"] == 1.0
    assert one["length_effect"]["effect"] == pytest.approx(1 - one["length_effect"]["people"])
    assert one["self_preference"]["pairs"] == 0
    assert one["by_pair"]["full vs short"]["pairs"] == 12


def test_generated_answers_are_a_file_to_submit(
    filled: Run, scripted_llm: Run, command: Run, tmp_path: Path
) -> None:
    """Every question is answered from its passages, silence is counted, and a second run asks nothing."""
    server = scripted_llm()
    server.text_handler = lambda ask: (
        "<thinking>None.</thinking><answer>I couldn't find an answer.</answer>"
        if "item 3" in ask.text
        else f"<thinking>Well.</thinking><answer>Scripted {ask.digest[:6]}.</answer>"
    )
    arena = filled(endpoint=server.url)
    out = tmp_path / "made.jsonl"
    words = ("answers", "generate", "--set", "tiny", "--model", "gpt-4o", "--passages", 1, "--out", out)
    made = command(*words, endpoint=server.url)
    assert (made["answers"], made["outcomes"]) == (12, {"answered": 12})
    assert made["no_answer_share"] == pytest.approx(1 / 12)
    assert made["no_answer_by_domain"]["d0"] == pytest.approx(1 / 4)
    assert all(len(json.loads(line)["contexts"]) == 1 for line in out.read_text().splitlines())
    asked = server.log.calls
    assert command(*words, endpoint=server.url)["calls"] == 0
    assert server.log.calls == asked
    command(*words, "--no-thinking", endpoint=server.url)
    assert server.log.calls == 2 * asked
    assert arena.submissions.add(out, "tiny", system="made").submission.answers == 12


def test_compat_judge_counts_failures_as_ties(filled: Run, scripted_llm: Run) -> None:
    """RAG-QA Arena's behaviour, end to end: every battle has a verdict; what failed is a tie."""
    server = scripted_llm(faults={"bad_request": 0.2, "wrong_format": 0.2})
    arena = filled(endpoint=server.url)
    _judged(arena, "strict", canaries=0)
    _judged(arena, "compat", judge="compat", canaries=0)
    _, counts = arena.rounds.status("compat")
    assert (counts.judged, counts.failed, counts.unreadable) == (72, 0, 0)
    ties = [one for one in arena.rounds.battles("compat") if one.preference is Preference.TIE]
    assert len(ties) > 10
    assert arena.rounds.status("strict")[1].judged < 72
