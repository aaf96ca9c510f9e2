"""My team: submissions, members and tokens (also used by the organisers' page of people)."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial

import streamlit as st

from arena.formats import format_time
from arena.models.submissions import SubmissionStatus
from arena.services.accounts.auth import Caller, may
from arena.services.accounts.tokens import MAX_TOKEN_DAYS
from arena.services.submissions.eligibility import Quota
from arena.site.auth import choose_team, show_new_token, show_visitor
from arena.site.services import arena
from arena.site.teams.invite_page import offer_invitation
from arena.site.teams.submissions import show_submissions
from arena.site.ui import html
from arena.site.ui.html import note, put_html, words_table
from arena.site.ui.messages import attempt, confirmed, show_flash
from arena.site.ui.url_state import choose_segment
from data.models import Role, SubmissionState, Token, TokenScope

SECRET = "new-token"  # noqa: S105 - a session key, not a token
MARK = "aa_"
DAYS = 90
MEANINGS = {
    TokenScope.READ: "read: everything that the team can see",
    TokenScope.SUBMIT: "submit: check, submit, withdraw",
    TokenScope.MANAGE: "manage: members and tokens",
    TokenScope.ORGANISE: "organise: sets, rounds and people",
}
Owners = Mapping[str, Mapping[str, str]]
"""Owners of new tokens: label to arguments of the service."""


def tokens_part(
    tokens: Sequence[Token], owners: Owners, scopes: Sequence[TokenScope], caller: Caller
) -> None:
    """List tokens; with owners, offer to create tokens for them and to revoke valid ones."""
    show_flash("tokens")
    show_new_token(SECRET)
    if owners:
        _make(owners, scopes, caller)
    if not tokens:
        note("There are no tokens.")
        return
    header = ("Name", "Prefix", "Owner", "Scopes", "State", "Last used", "Expires")
    put_html(words_table(header, map(_row, tokens), spare=3, classes="aa-list"))
    valid = [token for token in tokens if _state(token) == "valid"]
    if owners and valid:
        _revoke({token.id: f"{token.name} ({MARK}{token.prefix}…)" for token in valid}, caller)


def _row(token: Token) -> tuple[str, ...]:
    return (
        token.name,
        f"{MARK}{token.prefix}",
        token.team or token.account or "–",
        ", ".join(sorted(token.scopes)),
        _state(token),
        format_time(token.used_at),
        format_time(token.expires_at) if token.expires_at else "never",
    )


def _state(token: Token) -> str:
    if token.revoked_at is not None:
        return "revoked"
    return "valid" if token.valid(datetime.now(UTC)) else "expired"


def _make(owners: Owners, scopes: Sequence[TokenScope], caller: Caller) -> None:
    with st.form("create-token", border=True):
        owner = st.selectbox("Owner", list(owners)) if len(owners) > 1 else next(iter(owners))
        name = st.text_input("Name of the token", placeholder="laptop, ci", max_chars=100).strip()
        usual = [scope for scope in (TokenScope.READ, TokenScope.SUBMIT) if scope in scopes]
        chosen = st.multiselect("Permissions", scopes, default=usual, format_func=MEANINGS.__getitem__)
        days = int(st.number_input("Days until it expires", 1, MAX_TOKEN_DAYS, DAYS))
        if not st.form_submit_button("Create token", icon=":material/key:"):
            return

    def create() -> None:
        token = arena().tokens.create(name=name, scopes=chosen, days=days, caller=caller, **owners[owner])
        st.session_state[SECRET] = token.secret

    attempt(create, "Token created.", "tokens")


def _revoke(valid: Mapping[int, str], caller: Caller) -> None:
    with st.container(border=True):
        number = int(st.selectbox("Token to revoke", tuple(valid), format_func=valid.__getitem__))
        sure = "Yes, revoke it; this cannot be undone"
        if confirmed("Revoke", sure, icon="key_off", key=f"revoke-{number}"):
            revoke = partial(arena().tokens.revoke, number, caller=caller)
            attempt(revoke, f"Token {valid[number]} revoked.", "tokens")


def show_members(team: str, caller: Caller) -> None:
    """List the members; owners add and remove them."""
    view = arena().teams.view(team, caller=caller)
    show_flash("members")
    if view.members:
        rows = [
            (member.account, member.role.value, format_time(member.created_at)) for member in view.members
        ]
        html.put_html(html.words_table(("Account", "Role", "Since"), rows, spare=1, classes="aa-list"))
    else:
        html.note("The team has no members yet, only tokens. Owners add people by account name.")
    if not may(caller, TokenScope.MANAGE, team=team):
        html.note("Only owners add and remove members.")
        return
    _add(team, caller)
    if view.members:
        _remove(team, [member.account for member in view.members], caller)
    offer_invitation(team, caller)


def _add(team: str, caller: Caller) -> None:
    with st.form("add-member", border=True):
        html.note("Owners manage members and tokens; members submit. Organisers create accounts.")
        account = st.text_input("Account", max_chars=100)
        role = Role(st.selectbox("Role", (Role.MEMBER.value, Role.OWNER.value)))
        sent = st.form_submit_button("Add or change role")
    if sent:
        name = account.strip()
        add = partial(arena().teams.add_member, team, name, role=role, caller=caller)
        attempt(add, f"{name} is {role} of {team}.", "members")


def _remove(team: str, accounts: list[str], caller: Caller) -> None:
    with st.container(border=True):
        account = str(st.selectbox("Member to remove", accounts))
        if confirmed("Remove", "Yes, remove them", icon="person_remove", key=f"remove-{account}"):
            remove = partial(arena().teams.remove_member, team, account, caller=caller)
            attempt(remove, f"{account} is no longer in {team}.", "members")


def show_tokens(team: str, caller: Caller) -> None:
    """List the tokens; owners create and revoke them."""
    owner = may(caller, TokenScope.MANAGE, team=team)
    scopes = (TokenScope.READ, TokenScope.SUBMIT, TokenScope.MANAGE)
    owners = {team: {"team": team}} if owner else {}
    tokens_part(arena().tokens.all(team=team, caller=caller), owners, scopes, caller)
    if not owner:
        html.note("Only owners create and revoke tokens.")


PARTS: Mapping[str, tuple[str, Callable[[str, Caller], None]]] = {
    "submissions": ("Submissions", show_submissions),
    "members": ("Members", show_members),
    "tokens": ("Tokens", show_tokens),
}


def show() -> None:
    """Show the visitor's team."""
    html.page_heading("My team")
    caller = show_visitor("see your team")
    if not caller.signed_in:
        return
    team = choose_team(caller)
    if team is None:
        return
    title = arena().teams.view(team, caller=caller).title or team
    html.heading(title)
    html.name_page("My team", title)
    show_flash()
    _show_summary(team, caller)
    labels = {name: label for name, (label, _) in PARTS.items()}
    part = choose_segment("part", "Part", labels, shown=False)
    PARTS[part][1](team, caller)


def _show_summary(team: str, caller: Caller) -> None:
    lines = arena().submissions.find(team=team, caller=caller)[::-1]
    queued = [line for line in lines if line.state is SubmissionState.QUEUED]
    published = [line for line in lines if line.state is SubmissionState.PUBLISHED]
    html.strip(
        [
            ("submissions", f"{len(lines):,}"),
            ("in judging", f"{len(queued):,}"),
            ("on a published board", f"{len(published):,}"),
        ]
    )
    tasks = [*_unsubmitted(lines), *_queued(queued)]
    if tasks:
        html.put("bullets", [(task,) for task in tasks], "aa-changed")
    if may(caller, TokenScope.SUBMIT, team=team):
        _show_quotas(team, lines, caller)


def _unsubmitted(lines: Sequence[SubmissionStatus]) -> list[html.Child]:
    return [
        html.anchor(
            f"Submit {_name(line)}: it passed the check but does not count yet",
            "team",
            team=line.team,
            id=str(line.id),
        )
        for line in lines
        if line.state is SubmissionState.CHECKED
    ]


def _queued(lines: Sequence[SubmissionStatus]) -> list[html.Child]:
    return [
        f"{_name(line)} is in round {', '.join(line.rounds)}"
        f"{'' if line.position is None else f', place {line.position} in the queue'}"
        f"{'' if line.eta is None else f', expected by about {format_time(line.eta)}'}."
        for line in lines
    ]


def _show_quotas(team: str, lines: Sequence[SubmissionStatus], caller: Caller) -> None:
    entered = {line.set_name for line in lines}
    rows = []
    for summary in arena().sets.summaries():
        quota = arena().submissions.quota(summary.name, team, caller=caller)
        if quota.phase is not None or summary.name in entered:
            link = html.anchor(summary.title or summary.name, "submit", set=summary.name, team=team)
            rows.append((link, *_quota(quota)))
    if rows:
        header = ("Question set", "Open until", "Left today (UTC)", "Left in the phase")
        html.put_html(html.words_table(header, rows, caption="Submissions left", scrolls=True))
    else:
        html.note("No question set is open for submissions now.")


def _quota(quota: Quota) -> tuple[html.Child, ...]:
    phase = quota.phase
    if phase is None:
        return ("closed now", "0", "0")
    until = "no deadline" if phase.closes_at is None else format_time(phase.closes_at)
    return (until, _left(quota.left_today, phase.daily_quota), _left(quota.left, phase.total_quota))


def _left(left: int | None, limit: int | None) -> str:
    return "no limit" if left is None else f"{left:,} of {limit:,}"


def _name(line: SubmissionStatus) -> str:
    return f"{line.system}, version {line.version}"
