"""Acts that nothing takes back ask, in the words that pages and the API have."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest
import typer

from arena.cli.options import ask
from data.errors import InputError
from data.records.irreversible import Irreversible

Commands = Any
ACTS = (
    (("rounds", "cancel", "r"), Irreversible.CANCEL_ROUND),
    (("rounds", "delete", "r"), Irreversible.DELETE_ROUND),
    (("rounds", "retract", "r"), Irreversible.RETRACT_BOARD),
    (("submissions", "withdraw", "1"), Irreversible.WITHDRAW_SUBMISSION),
    (("jobs", "cancel", "1"), Irreversible.CANCEL_JOB),
    (("teams", "members", "lab", "ada", "--remove"), Irreversible.REMOVE_MEMBER),
    (("teams", "token", "revoke", "1"), Irreversible.REVOKE),
    (("sets", "policy", "tiny", "--drop", "open"), Irreversible.DROP_PHASE),
)


@pytest.fixture
def stocked(arena_of: Commands) -> Commands:
    """An arena with a judged round of the tiny set."""
    arena_of.prepare("http://127.0.0.1:9")
    arena_of.json("rounds", "run", "--set", "tiny", "--judge", "lexical", "--name", "r", "--json")
    return arena_of


@pytest.mark.long
def test_without_a_terminal_nothing_is_done(stocked: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each act says what it leads to and what to add, ends with 2, and leaves everything as it was."""
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    before = stocked("teams", "show", "--json")[1]
    for words, act in ACTS:
        code, out, err = stocked(*words)
        assert code == 2, (words, err)
        assert act.consequences in err
        assert "Add --yes" in err
        assert out == ""
    assert stocked("teams", "show", "--json")[1] == before


def test_a_person_is_asked_and_may_say_no(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a terminal the sentence is followed by a question; with --yes nobody is asked."""
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    asked = []

    def answer(text: str, **options: object) -> bool:
        asked.append((text, options))
        raise typer.Abort

    monkeypatch.setattr(typer, "confirm", answer)
    with pytest.raises(typer.Abort):
        ask(Irreversible.REVOKE, yes=False)
    assert Irreversible.REVOKE.consequences in capsys.readouterr().err
    ask(Irreversible.REVOKE, yes=True)
    assert asked == [("Do it?", {"abort": True, "err": True})]


def test_a_round_that_nobody_published_is_deleted(stocked: Commands) -> None:
    """Its verdicts go with it and its name is free again; a published round is refused."""
    assert "24 verdicts" in stocked("rounds", "delete", "r", "--yes")[2]
    assert stocked("rounds", "status", "r")[0] == 1
    again = stocked.json("rounds", "run", "--set", "tiny", "--judge", "lexical", "--name", "r", "--json")
    assert again["judged"] == 24
    assert stocked("rounds", "publish", "r", "--no-metrics")[0] == 0
    code, _, err = stocked("rounds", "delete", "r", "--yes")
    assert (code, "published" in err) == (1, True)
    assert stocked("rounds", "retract", "r", "--yes")[0] == 0
    assert stocked("rounds", "delete", "r", "--yes")[0] == 1


@pytest.mark.parametrize("act", Irreversible, ids=lambda act: act.name.lower())
def test_what_is_not_confirmed_is_refused_with_its_consequences(act: Irreversible) -> None:
    """Services are reached by the API only with `confirm`; the refusal has the sentence that pages tick."""
    act.require(confirmed=True)
    with pytest.raises(InputError, match="confirm=true") as refused:
        act.require(confirmed=False)
    assert act.consequences in str(refused.value)
    assert act.consequences.endswith(".")
