from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Element

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.services.accounts.tokens import COOKIE
from arena.services.boards.snapshot import read_board
from arena.services.rounds.models import RoundRequest
from arena.site.ui.messages import without_commands
from data.errors import UnfitJudgeError
from data.models import Phase, Role, SubmissionKind, SubmissionState, TokenScope
from data.models.submissions import question_sets
from tests.arena.conftest import answers_file, play, quiet
from tests.opened_pages import page_of

TEXT = "Item {n} is {word}, they say."
READ, SUBMIT, MANAGE = TokenScope.READ, TokenScope.SUBMIT, TokenScope.MANAGE
TOKENS: Mapping[str, tuple[str, set[TokenScope]]] = {
    "owner": ("ours", {READ, SUBMIT, MANAGE}),
    "reader": ("ours", {READ}),
    "stranger": ("theirs", {READ, SUBMIT, MANAGE}),
}


@dataclass(frozen=True, kw_only=True)
class Club:
    """Arena with the teams `ours` and `theirs` and an organiser, and a way to visit its pages."""

    arena: Arena
    visit: Callable[..., AppTest]


@pytest.fixture
def club(filled: Callable[..., Arena], monkeypatch: pytest.MonkeyPatch) -> Club:
    """Open pages as a user: `club.visit("teams.submit_page", "owner", set="tiny")`; None is the public."""
    arena = filled()
    secrets = {}
    for team in ("ours", "theirs"):
        arena.teams.add(team, title=f"The team {team}", caller=OPERATOR)
    for who, (team, scopes) in TOKENS.items():
        secrets[who] = arena.tokens.create(name=who, scopes=scopes, team=team, caller=OPERATOR).secret
    arena.teams.add_account("olga", is_organiser=True, caller=OPERATOR)
    secrets["organiser"] = arena.tokens.create(
        name="olga", scopes={TokenScope.ORGANISE}, account="olga", caller=OPERATOR
    ).secret

    def visit(name: str, who: str | None, **query: str) -> AppTest:
        page = page_of(arena.settings, name, **query)
        # AppTest has no browser, so it has no cookies.
        cookie = arena.sessions.sign_in(secrets[who], client="test").cookie if who else ""
        monkeypatch.setattr(ContextProxy, "cookies", property(lambda _self: {COOKIE: cookie}))
        page.run()
        assert not page.exception
        return page

    return Club(arena=arena, visit=visit)


def texts(page: AppTest) -> str:
    html = "".join(element.proto.body for element in page.get("html") if "<style" not in element.proto.body)
    kinds = (page.text, page.markdown, page.info, page.error, page.warning, page.success, page.code)
    plain = "\n".join(str(element.value) for kind in kinds for element in kind).replace("\\", "")
    labels = "\n".join(button.label for button in page.button)
    return f"{html}\n{plain}\n{labels}"


def submit(club: Club, path: Path, *, confirm: bool = True) -> int:
    return club.arena.submissions.add(path, "tiny", system="mine", team="ours", confirm=confirm).submission.id


def test_file_with_errors_cannot_be_submitted(club: Club) -> None:
    rows = [{"question_id": "q0", "answer": "Item 0 is alpha."}, {"question_id": "<b>no</b>", "answer": "x"}]
    content = "".join(json.dumps(row) + "\n" for row in rows).encode() + b"not json\n"
    page = club.visit("teams.submit_page", "owner", set="tiny")
    page.file_uploader[0].set_value(("../../etc/passwd", content, "text/plain")).run()
    assert not page.exception
    said = texts(page)
    assert "This file has errors" in said
    assert "Line 2 · error" in said
    assert "Line 3 · error" in said
    assert "&lt;b&gt;no&lt;/b&gt;" in said
    assert "<b>no</b>" not in said
    assert "submit-now" not in {button.key for button in page.button}
    page.button_group(key="severity").set_value("warning").run()
    assert "· error ·" not in texts(page)
    labels = {str(button.label) for button in page.get("download_button") if isinstance(button, Element)}
    assert labels >= {"Report, JSON", "Report, CSV", "Template, JSONL", "Sample, JSONL"}


def test_sets_with_equal_titles_are_chosen_by_name(club: Club) -> None:
    store = club.arena.store
    first = store.sets.get("tiny")
    store.sets.add(replace(first, name="season-2"), "hash")
    with store.database.begin() as connection:
        connection.execute(update(question_sets).values(title="Season of answers"))
    for name in ("tiny", "season-2"):
        page = club.visit("teams.submit_page", "owner", set=name)
        box = next(box for box in page.selectbox if box.label == "Question set")
        assert box.options == ["Season of answers (season-2)", "Season of answers (tiny)"]
        assert box.value == name
        page.file_uploader[0].set_value(("mine.jsonl", b"not json\n", "text/plain")).run()
        assert page.query_params["set"] in (name, [name])


def test_run_is_checked_and_submitted_as_contexts(club: Club) -> None:
    page = club.visit("teams.submit_page", "owner", set="tiny", kind="contexts")
    page.file_uploader[0].set_value(("run.trec", b"q0 Q0 q0-p1 1 2 r\n", "text/plain")).run()
    assert "questions with passages" in texts(page)
    page.text_input(key="system-name").set_value("my-run").run()
    page.button(key="submit-now").click().run()
    assert not page.exception
    (stored,) = club.arena.store.submissions.find(set_name="tiny", kind=SubmissionKind.CONTEXTS)
    assert (stored.system, stored.answers, stored.team) == ("my-run", 1, "ours")


def test_sample_file_is_accepted_with_its_card(club: Club) -> None:
    club.arena.policies.put_phase("tiny", Phase(name="dev", total_quota=3, daily_quota=2))
    content = club.arena.submissions.template("tiny", sample=True).encode()
    page = club.visit("teams.submit_page", "owner", set="tiny")
    assert "3 of 3" in texts(page)
    page.file_uploader[0].set_value(("sample.jsonl", content, "")).run()
    assert page.button(key="submit-now").disabled
    page.text_input(key="system-name").set_value("mine").run()
    page.text_input(key="card-link").set_value("javascript:alert(1)").run()
    assert "Link: The link is not a web address." in texts(page)
    assert page.button(key="submit-now").disabled
    page.text_input(key="card-link").set_value("https://example.org").run()
    assert "submission 1 of 3 in phase dev and submission 1 of 2 today" in texts(page)
    page.button(key="submit-now").click().run()
    assert not page.exception
    assert "mine, version 1 (5 answers) is accepted" in texts(page)
    assert "2 of 3" in texts(page)
    (submission,) = club.arena.store.submissions.versions("tiny", "ours")
    assert (submission.system, submission.card.link, submission.state) == (
        "mine",
        "https://example.org",
        SubmissionState.ACCEPTED,
    )
    assert not list((club.arena.settings.uploads_folder / "checks").iterdir())


def test_card_file_fills_fields_or_reports_errors(club: Club) -> None:
    content = club.arena.submissions.template("tiny", sample=True).encode()
    page = club.visit("teams.submit_page", "owner", set="tiny")
    page.file_uploader[0].set_value(("sample.jsonl", content, "")).run()
    for card, model, faulty in (
        (b"model: llm-9\nlink: nowhere\n", "", True),
        (b"model: llm-9\n", "llm-9", False),
    ):
        page.file_uploader(key="card-file").set_value(("card.yaml", card, "")).run()
        assert ("bad-link" in texts(page), page.text_input(key="card-model").value) == (faulty, model)


def test_closed_set_and_exhausted_quota_are_explained(club: Club, tmp_path: Path) -> None:
    club.arena.policies.put_phase("tiny", Phase(name="dev", total_quota=1))
    path = answers_file(tmp_path, "mine", TEXT)
    submit(club, path)
    page = club.visit("teams.submit_page", "owner", set="tiny")
    assert "0 of 1" in texts(page)
    page.file_uploader[0].set_value(("a.jsonl", path.read_bytes(), "")).run()
    page.text_input(key="system-name").set_value("mine").run()
    assert page.button(key="submit-now").disabled
    assert "no submissions left" in texts(page)


@pytest.mark.slow
def test_token_without_submit_scope_is_read_only(club: Club, tmp_path: Path) -> None:
    number = submit(club, answers_file(tmp_path, "mine", TEXT))
    assert "needs the scope submit" in texts(club.visit("teams.submit_page", "reader", set="tiny"))
    page = club.visit("teams.team_page", "reader", id=str(number))
    assert "mine" in texts(page)
    assert not page.button
    for part in ("members", "tokens"):
        page = club.visit("teams.team_page", "reader", part=part)
        assert not page.button
        assert "Only owners" in texts(page)


@pytest.mark.slow
def test_team_submits_chooses_and_withdraws(club: Club, tmp_path: Path) -> None:
    first = submit(club, answers_file(tmp_path, "one", TEXT))
    held = submit(club, answers_file(tmp_path, "two", f"{TEXT} Again."), confirm=False)
    page = club.visit("teams.team_page", "owner", id=str(held))
    assert "Checked and stored, but not submitted yet" in texts(page)
    page.button(key=f"confirm-{held}").click().run()
    assert club.arena.store.submissions.get(held).state is SubmissionState.ACCEPTED
    page = club.visit("teams.team_page", "owner", id=str(first))
    page.button(key=f"select-{first}").click().run()
    assert "Version 1 of mine is used in future rounds" in texts(page)
    assert club.arena.store.submissions.get(first).selected
    assert page.button(key=f"withdraw-{first}").disabled
    page.text_input(key=f"reason-{first}").set_value("wrong file").run()
    page.checkbox(key=f"withdraw-{first}-sure").check().run()
    page.button(key=f"withdraw-{first}").click().run()
    assert f"Submission {first} is withdrawn." in texts(page)
    assert "Reason: wrong file" in texts(page)
    assert not [button for button in page.button if button.key and button.key.endswith(f"-{first}")]


def test_token_is_shown_until_it_is_dismissed(club: Club) -> None:
    page = club.visit("teams.team_page", "owner", part="tokens")
    page.text_input[0].set_value("ci")
    next(button for button in page.button if button.label == "Create token").click().run()
    secret = page.code[0].value
    assert club.arena.identities.of_token(secret, client="x").teams == ("ours",)
    page.run()
    assert page.code[0].value == secret
    next(button for button in page.button if button.label == "I have copied it").click().run()
    assert not page.code
    number = club.arena.tokens.all(team="ours", caller=OPERATOR)[-1].id
    page.selectbox[-1].set_value(number).run()
    page.checkbox(key=f"revoke-{number}-sure").check().run()
    page.button(key=f"revoke-{number}").click().run()
    assert "Token ci (" in texts(page)
    assert club.arena.store.tokens.get(number).revoked_at is not None
    assert secret.split("_", 2)[2] not in texts(club.visit("teams.team_page", "owner", part="tokens"))


def test_owner_adds_and_removes_members(club: Club) -> None:
    club.arena.teams.add_account("ann", caller=OPERATOR)
    page = club.visit("teams.team_page", "owner", part="members")
    page.text_input[0].set_value("absent")
    page.button[0].click().run()
    assert "absent" in texts(page)
    page.text_input[0].set_value("ann")
    page.selectbox[0].set_value(Role.OWNER.value)
    page.button[0].click().run()
    assert "ann is owner of ours" in texts(page)
    assert page.button(key="remove-ann").disabled
    page.checkbox(key="remove-ann-sure").check().run()
    page.button(key="remove-ann").click().run()
    assert "ann is no longer in ours" in texts(page)


@pytest.mark.slow
def test_team_sees_retraction_notice(club: Club, tmp_path: Path) -> None:
    number = submit(club, answers_file(tmp_path, "mine", TEXT))
    play(club.arena, publish=True)
    club.arena.boards.retract("r", "Two files were exchanged.")
    said = texts(club.visit("teams.team_page", "owner", team="ours", id=str(number)))
    assert "board r, which was retracted. Notice from the organisers: Two files were exchanged." in said
    assert "organisers publish the board" not in said
    assert "board retracted" in said


@pytest.mark.slow
def test_unfit_judge_is_reported_on_its_round(
    club: Club, scripted_llm: Callable[..., Any], tmp_path: Path
) -> None:
    spec = tmp_path / "placed.toml"
    url = scripted_llm(rule="first").url
    spec.write_text(f'extends = "reference-free"\norder = "both"\nendpoint = "{url}"\n')
    arena = club.arena
    with pytest.raises(UnfitJudgeError):
        play(arena, judge=str(spec))
    page = club.visit("admin.rounds_page", "organiser", round="r")
    assert any("The answer shown first won" in warning.value for warning in page.warning)
    assert "Judge anyway" in {button.label for button in page.button}
    arena.rounds.judge_anyway("r")
    arena.rounds.run("r", concurrency=8, report=quiet)
    page = club.visit("admin.rounds_page", "organiser", round="r")
    assert any("72 of 72 (100 %)" in warning.value for warning in page.warning)
    assert "Judge anyway" not in {button.label for button in page.button}
    board, _ = arena.boards.publish("r", report=quiet)
    assert any("72 of 72" in value for _, value, _ in read_board(board).health)


@pytest.mark.slow
def test_battles_without_verdict_are_listed_with_reasons(club: Club) -> None:
    club.arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", pairs="all", name="r"))
    club.arena.rounds.cancel("r", caller=OPERATOR)
    page = club.visit("admin.rounds_page", "organiser", round="r")
    text = texts(page)
    assert "The round was cancelled." in text
    assert re.search(r"Judge the \d+ skipped", text)
    assert any(
        re.match(r"cancelled: 0 of (\d+) battles judged, \1 skipped$", bar.proto.text)
        for bar in page.get("progress")
    )
    assert "is reached" not in text


@pytest.mark.parametrize(
    ("text", "shown_text"),
    [
        (
            "Judge the rest: `arena rounds retry r`. Or publish it with --partial.",
            "Judge the rest. Or publish it.",
        ),
        ("No round x. See `arena rounds list`.", "No round x."),
        ("See it (`arena rounds status r`), or choose another --name.", "See it, or choose another name."),
    ],
)
def test_page_errors_omit_commands(text: str, shown_text: str) -> None:
    assert without_commands(text) == shown_text
