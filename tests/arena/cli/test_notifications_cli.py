"""`arena notifications`: subscribed, tested, listed, sent again, removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.arena.conftest import Commands
from tests.webhook_receiver import Receiver


def test_a_subscription_from_its_secret_to_its_end(run: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    """The secret is printed once; a test arrives or the command fails; lists show no secret."""
    monkeypatch.setenv("ARENA_NOTIFY_HOSTS", "any")
    server = Receiver(statuses=[410])
    with server.running():
        code, out, err = run("notifications", "add", f"{server.url}/key?k=hidden", "--name", "CI")
        assert (code, "Keep this secret" in err) == (0, True)
        secret = out.strip()
        assert secret.startswith("whsec_")
        code, _, err = run("notifications", "test", 1)
        assert code == 1
        assert "The test message did not arrive: HTTP 410." in err
        (row,) = run.json("notifications", "deliveries", "--state", "dead", "--json")
        assert (row["event"], row["status"], row["attempts"]) == ("notification.test", 410, 1)
        assert run.json("notifications", "retry", "--dead", "--json") == {"again": 1}
        assert run("worker", "--once")[0] == 0
        assert "took the test message" in run("notifications", "test", 1)[1]
    assert len(server.messages) == 3
    rows = run.json("notifications", "deliveries", "--json")
    assert [row["state"] for row in rows] == ["delivered"] * 2
    listed = run("notifications", "list")[1] + str(run.json("notifications", "list", "--json"))
    assert "hidden" not in listed
    assert secret not in listed
    assert run("notifications", "remove", 1)[0] == 0
    assert "There are no subscriptions" in run("notifications", "list")[2]


def test_misuse_is_said_in_a_line(run: Commands, tmp_path: Path) -> None:
    """Unknown numbers and addresses end with 1 and one line, missing words with 2."""
    for words in (("test", 9), ("remove", 9), ("retry", 9), ("add", "https://10.0.0.1/"), ("add", "x")):
        code, _, err = run("notifications", *words)
        assert code == 1
        assert err.startswith("arena: ")
        assert err.count("\n") == 1
    assert run("notifications", "retry")[0] == 2
    assert run("notifications", "add", "https://h.example/", "--team", "nobody")[0] == 1
    assert not list(tmp_path.glob("*.log"))
