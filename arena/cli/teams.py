"""`arena teams`: teams, accounts, members, tokens, and what they did."""

from __future__ import annotations

from typing import Annotated

import typer

from arena.bootstrap import open_arena
from arena.cli.options import AsJson
from arena.cli.output import note, show_fields, show_json, show_line, show_table
from arena.services.identity import OPERATOR
from arena.services.json_views import account_json, audit_json, member_json, team_json, token_json
from data.records import Role, TokenScope

commands = typer.Typer(help="Teams, accounts, tokens, and the log.", no_args_is_help=True)
members = typer.Typer(help="Members of a team.", no_args_is_help=True)
accounts = typer.Typer(help="Accounts: people who sign in.", no_args_is_help=True)
tokens = typer.Typer(help="Access tokens of teams and accounts.", no_args_is_help=True)
commands.add_typer(members, name="member")
commands.add_typer(accounts, name="account")
commands.add_typer(tokens, name="token")

Name = Annotated[str, typer.Argument(metavar="TEAM", help="Name of the team.")]
AccountName = Annotated[str, typer.Argument(metavar="ACCOUNT", help="Name of the account.")]
OneTeam = Annotated[str | None, typer.Option("--team", help="Of this team only.")]


@commands.command()
def add(
    name: Name,
    title: Annotated[str, typer.Option("--title", help="What readers see; the name by default.")] = "",
    contact: Annotated[str, typer.Option("--contact", help="How the organisers reach it.")] = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Add a team. Its name never changes."""
    team = open_arena().teams.add(name, title=title, contact=contact, caller=OPERATOR)
    if as_json:
        show_json(team_json(team))
    else:
        show_line(f"Team {team.name} is added.")


@commands.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List the teams."""
    found = open_arena().teams.all(caller=OPERATOR)
    if as_json:
        show_json([team_json(team) for team in found])
    elif not found:
        note("There are no teams yet. Add one with `arena teams add NAME`.")
    else:
        show_table(("team", "title", "contact"), [(one.name, one.title, one.contact) for one in found])


@commands.command()
def show(name: Name, *, as_json: AsJson = False) -> None:
    """Show a team, its members and its tokens."""
    arena = open_arena()
    view = arena.teams.view(name, caller=OPERATOR)
    found = arena.tokens.all(team=name, caller=OPERATOR)
    if as_json:
        people = [member_json(one) for one in view.members]
        show_json({**team_json(view.team), "members": people, "tokens": [token_json(one) for one in found]})
        return
    show_fields({label: str(value) for label, value in team_json(view.team).items()})
    if view.members:
        show_table(("member", "role"), [(one.account, one.role) for one in view.members])
    if found:
        _show_tokens([token_json(one) for one in found])


@commands.command()
def audit(
    name: Annotated[str | None, typer.Argument(metavar="[TEAM]", help="Of this team only.")] = None,
    subject: Annotated[str | None, typer.Option("--subject", help="About this only: submission 12.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many lines at most.")] = 100,
    before: Annotated[int | None, typer.Option("--before", help="Read on from this line's number.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Show who did what, the newest first. The log is only ever added to."""
    entries = open_arena().teams.audit(
        team=name, subject=subject, before=before, limit=limit, caller=OPERATOR
    )
    if as_json:
        show_json([audit_json(entry) for entry in entries])
        return
    rows = [
        (str(one.id), f"{one.at:%Y-%m-%d %H:%M:%S}", one.actor, one.action, one.subject, one.team)
        for one in entries
    ]
    show_table(("line", "when (UTC)", "who", "what", "on what", "team"), rows)


@members.command("add")
def add_member(
    name: Name,
    account: AccountName,
    role: Annotated[Role, typer.Option("--role", help="Owners manage members and tokens too.")] = Role.MEMBER,
    *,
    as_json: AsJson = False,
) -> None:
    """Put an account into a team, or give it another role there."""
    member = open_arena().teams.add_member(name, account, role=role, caller=OPERATOR)
    if as_json:
        show_json({"team": name, **member_json(member)})
    else:
        show_line(f"{account} is {member.role} of {name}.")


@members.command("list")
def list_members(name: Name, *, as_json: AsJson = False) -> None:
    """List the members of a team."""
    view = open_arena().teams.view(name, caller=OPERATOR)
    if as_json:
        show_json([member_json(one) for one in view.members])
    else:
        show_table(("member", "role"), [(one.account, one.role) for one in view.members])


@members.command("remove")
def remove_member(name: Name, account: AccountName, *, as_json: AsJson = False) -> None:
    """Take an account out of a team."""
    open_arena().teams.remove_member(name, account, caller=OPERATOR)
    if as_json:
        show_json({"team": name, "account": account, "role": None})
    else:
        show_line(f"{account} is no member of {name} any more.")


@accounts.command("add")
def add_account(
    name: AccountName,
    email: Annotated[str | None, typer.Option("--email", help="Its address at the OIDC provider.")] = None,
    subject: Annotated[str | None, typer.Option("--subject", help="Its subject there.")] = None,
    organiser: Annotated[bool, typer.Option("--organiser", help="Give it the rights of organisers.")] = False,
    *,
    as_json: AsJson = False,
) -> None:
    """Add a person who may sign in."""
    account = open_arena().teams.add_account(
        name, subject=subject, email=email, is_organiser=organiser, caller=OPERATOR
    )
    if as_json:
        show_json(account_json(account))
    else:
        show_line(f"Account {name} is added.")


@accounts.command("list")
def list_accounts(*, as_json: AsJson = False) -> None:
    """List the accounts."""
    found = open_arena().teams.accounts(caller=OPERATOR)
    if as_json:
        show_json([account_json(one) for one in found])
    else:
        rows = [(one.name, one.email, "organiser" if one.is_organiser else "") for one in found]
        show_table(("account", "e-mail", "role"), rows)


@accounts.command("set")
def set_account(
    name: AccountName,
    organiser: Annotated[bool, typer.Option("--organiser/--no-organiser", help="Give or take that role.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Give an account the rights of organisers, or take them; at once, also for tokens in use."""
    account = open_arena().teams.set_organiser(name, is_organiser=organiser, caller=OPERATOR)
    if as_json:
        show_json(account_json(account))
    else:
        show_line(f"{name} is {'an' if organiser else 'no'} organiser.")


@tokens.command("create")
def create_token(
    label: Annotated[str, typer.Option("--name", help="What it is for.")],
    team: Annotated[str | None, typer.Option("--team", help="Team whose token it is.")] = None,
    account: Annotated[str | None, typer.Option("--account", help="Account whose token it is.")] = None,
    scope: Annotated[list[TokenScope] | None, typer.Option("--scope", help="What for; repeatable.")] = None,
    days: Annotated[int | None, typer.Option("--days", min=1, help="Days until it expires.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Make a token; its text is printed once, now, and kept nowhere."""
    created = open_arena().tokens.create(
        name=label,
        scopes=scope or [TokenScope.READ, TokenScope.SUBMIT],
        team=team,
        account=account,
        days=days,
        caller=OPERATOR,
    )
    if as_json:
        show_json({**token_json(created.token), "token": created.secret})
        return
    note("Keep this token: it is not shown again.")
    show_line(created.secret)


@tokens.command("list")
def list_tokens(team: OneTeam = None, *, as_json: AsJson = False) -> None:
    """List tokens, without their secrets."""
    found = [token_json(one) for one in open_arena().tokens.all(team=team, caller=OPERATOR)]
    if as_json:
        show_json(found)
    else:
        _show_tokens(found)


@tokens.command("revoke")
def revoke_token(
    number: Annotated[int, typer.Argument(metavar="ID", help="Number of the token.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Make a token useless, at once, and end the sessions that it opened."""
    token = open_arena().tokens.revoke(number, caller=OPERATOR)
    if as_json:
        show_json(token_json(token))
    else:
        show_line(f"Token {number} ({token.name}) is revoked.")


def _show_tokens(found: list[dict[str, object]]) -> None:
    columns = ("id", "name", "prefix", "team", "account", "scopes", "expires_at", "revoked_at", "used_at")
    show_table(columns, [[_cell(token[column]) for column in columns] for token in found])


def _cell(value: object) -> str | None:
    if value is None:
        return None
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
