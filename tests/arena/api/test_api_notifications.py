"""Notifications by the API: a team's owner subscribes, and sees no other's."""

from __future__ import annotations

import httpx

from tests.arena.api.conftest import Club


def test_an_owner_subscribes_and_others_see_nothing(club: Club, nobody: httpx.Client) -> None:
    """Answers have no secret of an address; for other teams nothing is there."""
    body = {"name": "CI", "address": "https://hooks.invalid/x?key=hidden", "team": "alpha"}
    with club.client("alpha") as alpha, club.client("beta") as beta, club.client("reader") as reader:
        assert nobody.get("/notifications").status_code == 401
        assert reader.post("/notifications", json=body).status_code == 403
        assert beta.post("/notifications", json=body).status_code == 403
        assert alpha.post("/notifications", json={**body, "team": ""}).status_code == 403
        created = alpha.post("/notifications", json={**body, "events": ["submission.judged"]})
        assert created.status_code == 201
        assert created.headers["cache-control"] == "no-store"
        made = created.json()
        listed = reader.get("/notifications")
        assert [row["id"] for row in listed.json()["subscriptions"]] == [made["id"]]
        assert "hidden" not in listed.text + created.text
        assert beta.get("/notifications").json() == {"subscriptions": []}
        assert beta.get("/notifications", params={"team": "alpha"}).status_code == 403
        path = f"/notifications/{made['id']}"
        sent = alpha.post(f"{path}/test")
        assert sent.status_code == 422
        assert "its host hooks.invalid is not known" in sent.json()["detail"]
        (row,) = alpha.get("/notifications").json()["subscriptions"]
        assert (row["delivered"], row["failed"]) == (0, 1)
        assert "hooks.invalid is not known" in row["error"]
        sure = {"confirm": True}
        assert beta.delete(path, params=sure).status_code == beta.post(f"{path}/test").status_code == 404
        assert alpha.delete(path, params=sure).json()["name"] == "CI"
        assert alpha.get("/notifications").json() == {"subscriptions": []}


def test_what_cannot_be_notified_is_refused_in_words(club: Club) -> None:
    """Private hosts, mail of teams and other people's events are 422 with a sentence."""
    wrong = (
        ({"address": "https://127.0.0.1/"}, "not public"),
        ({"address": "http://example.org/"}, "begins with http://"),
        ({"address": "mailto://h?to=a@example.org"}, "mail is for organisers"),
        ({"address": "https://h.example/", "events": ["worker.lost"]}, "cannot be told of worker.lost"),
    )
    with club.client("alpha") as alpha:
        for fields, why in wrong:
            refused = alpha.post("/notifications", json={"name": "x", "team": "alpha", **fields})
            assert refused.status_code == 422
            assert why in refused.json()["detail"]
