"""`arena notifications`: subscribed, tested, listed, removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.arena.conftest import Commands
from tests.webhook_receiver import Receiver


def test_a_subscription_from_its_start_to_its_end(run: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test arrives or the command fails; lists count both, and show no secret of an address."""
    monkeypatch.setenv("ARENA_NOTIFY_HOSTS", "any")
    server = Receiver(statuses=[410])
    with server.running():
        code, out, _ = run("notifications", "add", f"{server.url}/key?k=hidden", "--name", "CI")
        assert (code, "Subscription 1 is added" in out) == (0, True)
        code, _, err = run("notifications", "test", 1)
        assert code == 1
        assert "The message did not arrive: " in err
        assert "410" in err
        assert "took the test message" in run("notifications", "test", 1)[1]
    assert len(server.messages) == 2
    (row,) = run.json("notifications", "list", "--json")
    assert (row["delivered"], row["failed"], "410" in row["error"]) == (1, 1, True)
    assert "hidden" not in out + run("notifications", "list")[1] + str(row)
    assert run("notifications", "remove", 1, "--yes")[0] == 0
    assert "There are no subscriptions" in run("notifications", "list")[2]


def test_misuse_is_said_in_a_line(run: Commands, tmp_path: Path) -> None:
    """Unknown numbers and addresses end with 1 and one line, and so do commands that are gone."""
    for words in (
        ("test", 9),
        ("remove", 9, "--yes"),
        ("retry", 9),
        ("deliveries",),
        ("add", "https://10.0.0.1/"),
        ("add", "x"),
    ):
        code, _, err = run("notifications", *words)
        assert code == 1
        assert err.startswith("arena: ")
        assert err.count("\n") == 1
    assert run("notifications", "add", "https://h.example/", "--team", "nobody")[0] == 1
    assert not list(tmp_path.glob("*.log"))
