"""`arena teams`: teams, accounts, members, tokens, and what they did."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from arena.cli import applications
from arena.cli.options import LARGEST_NUMBER, AsJson
from arena.cli.output import note, show_fields, show_json, show_line, show_result, show_rows, show_table
from arena.container import open_arena
from arena.services.accounts.auth import OPERATOR
from data.records import AuditEntry, Membership, Role, Team, Token, TokenScope, UserAccount

commands = typer.Typer(
    help="Teams, accounts, members, tokens and the audit log; docs/teams.md has names and rights.",
    no_args_is_help=True,
)
members = typer.Typer(help="Members of a team.", no_args_is_help=True)
accounts = typer.Typer(help="Accounts: people who sign in.", no_args_is_help=True)
tokens = typer.Typer(help="Access tokens of teams and accounts.", no_args_is_help=True)
commands.add_typer(members, name="member")
commands.add_typer(accounts, name="account")
commands.add_typer(tokens, name="token")
commands.add_typer(applications.commands, name="applications")

Name = Annotated[str, typer.Argument(metavar="TEAM", help="Name of the team.")]
AccountName = Annotated[str, typer.Argument(metavar="ACCOUNT", help="Name of the account.")]
OneTeam = Annotated[str | None, typer.Option("--team", metavar="TEAM", help="Only tokens of this team.")]


@commands.command()
def add(
    name: Name,
    title: Annotated[
        str,
        typer.Option("--title", metavar="TITLE", show_default="the name", help="The title that readers see."),
    ] = "",
    contact: Annotated[
        str, typer.Option("--contact", metavar="TEXT", help="How the organisers can reach the team.")
    ] = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Add a team, whose name cannot be changed later."""
    team = open_arena().teams.add(name, title=title, contact=contact, caller=OPERATOR)
    show_result(_json(team), f"Team {team.name} is added.", as_json=as_json)


@commands.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List the teams."""
    teams = open_arena().teams.all(caller=OPERATOR)
    show_rows(
        [_json(team) for team in teams],
        ("team", "title", "contact"),
        [(team.name, team.title, team.contact) for team in teams],
        as_json=as_json,
        empty="There are no teams yet. Add one with `arena teams add NAME`.",
    )


@commands.command()
def show(name: Name, *, as_json: AsJson = False) -> None:
    """Show a team, its members and its tokens."""
    arena = open_arena()
    view = arena.teams.view(name, caller=OPERATOR)
    team_tokens = arena.tokens.all(team=name, caller=OPERATOR)
    if as_json:
        people = [_json(member) for member in view.members]
        show_json({**_json(view.team), "members": people, "tokens": [_json(token) for token in team_tokens]})
        return
    show_fields({label: str(value) for label, value in _json(view.team).items()})
    if view.members:
        show_table(("member", "role"), [(member.account, member.role) for member in view.members])
    if team_tokens:
        _show_tokens([_json(token) for token in team_tokens])


@commands.command()
def audit(
    name: Annotated[str | None, typer.Argument(metavar="TEAM", help="Only entries of this team.")] = None,
    subject: Annotated[
        str | None,
        typer.Option(
            "--subject", metavar="SUBJECT", help="Only entries about this subject, as in `submission 12`."
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, max=1000, help="Most entries to show.")
    ] = 100,
    before: Annotated[
        int | None, typer.Option("--before", metavar="N", help="Only entries before this number.")
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Show the audit log, newest first.

    Entries are added to the log and never changed.
    """
    entries = open_arena().teams.audit(
        team=name, subject=subject, before=before, limit=limit, caller=OPERATOR
    )
    rows = [
        (str(entry.id), f"{entry.at:%Y-%m-%d %H:%M:%S}", entry.actor, entry.action, entry.subject, entry.team)
        for entry in entries
    ]
    headers = ("line", "when (UTC)", "who", "what", "on what", "team")
    show_rows([_json(entry) for entry in entries], headers, rows, as_json=as_json)


@members.command("add")
def add_member(
    name: Name,
    account: AccountName,
    role: Annotated[
        Role, typer.Option("--role", help="Role in the team; an owner also manages members and tokens.")
    ] = Role.MEMBER,
    *,
    as_json: AsJson = False,
) -> None:
    """Add an account to a team, or change its role there."""
    member = open_arena().teams.add_member(name, account, role=role, caller=OPERATOR)
    show_result({"team": name, **_json(member)}, f"{account} is {member.role} of {name}.", as_json=as_json)


@members.command("list")
def list_members(name: Name, *, as_json: AsJson = False) -> None:
    """List the members of a team."""
    people = open_arena().teams.view(name, caller=OPERATOR).members
    rows = [(member.account, member.role) for member in people]
    show_rows([_json(member) for member in people], ("member", "role"), rows, as_json=as_json)


@members.command("remove")
def remove_member(name: Name, account: AccountName, *, as_json: AsJson = False) -> None:
    """Remove an account from a team."""
    open_arena().teams.remove_member(name, account, caller=OPERATOR)
    show_result(
        {"team": name, "account": account, "role": None},
        f"{account} is no member of {name} any more.",
        as_json=as_json,
    )


@accounts.command("add")
def add_account(
    name: AccountName,
    email: Annotated[
        str | None,
        typer.Option("--email", metavar="EMAIL", help="The person's e-mail address at the OIDC provider."),
    ] = None,
    subject: Annotated[
        str | None,
        typer.Option("--subject", metavar="SUBJECT", help="The person's subject identifier there."),
    ] = None,
    organiser: Annotated[bool, typer.Option("--organiser", help="Grant the rights of organisers.")] = False,
    *,
    as_json: AsJson = False,
) -> None:
    """Add an account for a person who may sign in."""
    account = open_arena().teams.add_account(
        name, subject=subject, email=email, is_organiser=organiser, caller=OPERATOR
    )
    show_result(_json(account), f"Account {name} is added.", as_json=as_json)


@accounts.command("list")
def list_accounts(*, as_json: AsJson = False) -> None:
    """List the accounts."""
    listed = open_arena().teams.accounts(caller=OPERATOR)
    rows = [(account.name, account.email, "organiser" if account.is_organiser else "") for account in listed]
    show_rows([_json(account) for account in listed], ("account", "e-mail", "role"), rows, as_json=as_json)


@accounts.command("set")
def set_account(
    name: AccountName,
    organiser: Annotated[
        bool, typer.Option("--organiser/--no-organiser", help="Grant or revoke the rights.")
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """Grant an account the rights of organisers, or revoke them.

    The change applies at once, also to tokens in use.
    """
    account = open_arena().teams.set_organiser(name, is_organiser=organiser, caller=OPERATOR)
    show_result(_json(account), f"{name} is {'an' if organiser else 'no'} organiser.", as_json=as_json)


@tokens.command("create")
def create_token(
    label: Annotated[
        str, typer.Option("--name", metavar="LABEL", help="A label that says what the token is for.")
    ],
    team: Annotated[
        str | None, typer.Option("--team", metavar="TEAM", help="The team that the token belongs to.")
    ] = None,
    account: Annotated[
        str | None,
        typer.Option("--account", metavar="ACCOUNT", help="The account that the token belongs to."),
    ] = None,
    scope: Annotated[
        list[TokenScope] | None,
        typer.Option(
            "--scope", show_default="read and submit", help="What the token may be used for; repeatable."
        ),
    ] = None,
    days: Annotated[
        int | None,
        typer.Option(
            "--days", metavar="N", min=1, show_default="it does not expire", help="Days until it expires."
        ),
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Create a token and print it.

    Only its hash is stored, so it is never shown again.
    """
    created = open_arena().tokens.create(
        name=label,
        scopes=scope or [TokenScope.READ, TokenScope.SUBMIT],
        team=team,
        account=account,
        days=days,
        caller=OPERATOR,
    )
    if as_json:
        show_json({**_json(created.token), "token": created.secret})
        return
    note("Keep this token: it is not shown again.")
    show_line(created.secret)


@tokens.command("list")
def list_tokens(team: OneTeam = None, *, as_json: AsJson = False) -> None:
    """List tokens, without their texts."""
    token_rows = [_json(token) for token in open_arena().tokens.all(team=team, caller=OPERATOR)]
    if as_json:
        show_json(token_rows)
    else:
        _show_tokens(token_rows)


@tokens.command("revoke")
def revoke_token(
    number: Annotated[int, typer.Argument(metavar="ID", max=LARGEST_NUMBER, help="Number of the token.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Revoke a token at once, and end the sessions that it opened."""
    token = open_arena().tokens.revoke(number, caller=OPERATOR)
    show_result(_json(token), f"Token {number} ({token.name}) is revoked.", as_json=as_json)


def _show_tokens(token_rows: list[dict[str, object]]) -> None:
    columns = ("id", "name", "prefix", "team", "account", "scopes", "expires_at", "revoked_at", "used_at")
    show_table(columns, [[_cell(token[column]) for column in columns] for token in token_rows])


def _cell(value: object) -> str | None:
    if value is None:
        return None
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _json(record: AuditEntry | Membership | Team | Token | UserAccount) -> dict[str, Any]:
    from arena import schemas

    lines: dict[type, type[schemas.Line]] = {
        AuditEntry: schemas.LogLine,
        Membership: schemas.MemberLine,
        Team: schemas.TeamLine,
        Token: schemas.TokenLine,
        UserAccount: schemas.AccountLine,
    }
    return lines[type(record)].of(record).to_json()
