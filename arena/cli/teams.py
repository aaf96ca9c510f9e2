"""`arena teams`: teams, accounts, members and tokens."""

from typing import Annotated

import typer

from arena.cli.options import AsJson, Yes, confirm, only_with, row_id
from arena.cli.output import note, show_fields, show_json, show_line, show_result, show_rows, show_table
from arena.container import open_arena
from arena.services.accounts.auth import OPERATOR
from data.models import Role, TokenScope

commands = typer.Typer(
    help="Teams, accounts, members and tokens; docs/teams.md explains names and rights.",
    epilog="Also: `list`.",
    no_args_is_help=True,
)
tokens = typer.Typer(help="Access tokens of teams and accounts.", no_args_is_help=True)
commands.add_typer(tokens, name="token")

Name = Annotated[str, typer.Argument(metavar="TEAM", help="Name of the team.")]
AccountName = Annotated[str, typer.Argument(metavar="ACCOUNT", help="Name of the account.")]


@commands.command()
def add(
    name: Name,
    title: Annotated[
        str, typer.Option(metavar="TITLE", show_default="the name", help="Title on the site.")
    ] = "",
    contact: Annotated[str, typer.Option(metavar="TEXT", help="How the organisers can reach the team.")] = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Add a team; its name cannot change later.

    $ arena teams add lab --contact lab@example.org
    """
    team = open_arena().teams.add(name, title=title, contact=contact, caller=OPERATOR)
    show_result(team.to_json(), f"Team {team.name} is added.", as_json=as_json)


@commands.command()
def show(
    name: Annotated[
        str, typer.Argument(metavar="TEAM", show_default="all teams", help="Name of the team.")
    ] = "",
    *,
    as_json: AsJson = False,
) -> None:
    """List the teams, or show one with its members and tokens.

    $ arena teams show lab
    """
    if not name:
        list_(as_json=as_json)
        return
    arena = open_arena()
    view = arena.teams.view(name, caller=OPERATOR)
    team_tokens = arena.tokens.all(team=name, caller=OPERATOR)
    if as_json:
        show_json({**view.to_json(), "tokens": [token.to_json() for token in team_tokens]})
        return
    fields = view.to_json()
    fields.pop("members")
    show_fields({label: str(value) for label, value in fields.items()})
    if view.members:
        show_table(("member", "role"), [(member.account, member.role) for member in view.members])
    if team_tokens:
        columns = ("id", "name", "prefix", "team", "account", "scopes", "expires_at", "revoked_at", "used_at")
        rows = [token.to_json() for token in team_tokens]
        show_table(columns, [[row[column] for column in columns] for row in rows])


@commands.command("list", hidden=True)
def list_(*, as_json: AsJson = False) -> None:
    """List the teams.

    $ arena teams list
    """
    teams = open_arena().teams.all(caller=OPERATOR)
    show_rows(
        [team.to_json() for team in teams],
        ("team", "title", "contact"),
        [(team.name, team.title, team.contact) for team in teams],
        as_json=as_json,
        empty="There are no teams yet. Add one with `arena teams add NAME`.",
    )


@commands.command()
def members(
    name: Name,
    account: AccountName,
    role: Annotated[
        Role, typer.Option(help="Role in the team; an owner also manages members and tokens.")
    ] = Role.MEMBER,
    *,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the account from the team.")] = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Add an account to a team, change its role there, or remove it; `arena teams show TEAM` lists all.

    $ arena teams members lab ada --role owner
    """
    if remove:
        confirm(f"Remove {account} from {name}?", yes=yes)
        open_arena().teams.remove_member(name, account, caller=OPERATOR)
        show_result(
            {"team": name, "account": account, "role": None},
            f"{account} is no longer a member of {name}.",
            as_json=as_json,
        )
        return
    added = open_arena().teams.add_member(name, account, role=role, caller=OPERATOR)
    show_result({"team": name, **added.to_json()}, f"{account} is {added.role} of {name}.", as_json=as_json)


@commands.command()
def accounts(
    name: Annotated[
        str, typer.Argument(metavar="ACCOUNT", show_default="all accounts", help="Name of the account.")
    ] = "",
    email: Annotated[
        str | None, typer.Option(metavar="EMAIL", help="The person's e-mail address at the OIDC provider.")
    ] = None,
    subject: Annotated[
        str | None, typer.Option(metavar="SUBJECT", help="The person's subject identifier at the provider.")
    ] = None,
    organiser: Annotated[
        bool | None,
        typer.Option(
            "--organiser/--no-organiser",
            show_default="unchanged",
            help="Grant or revoke organiser rights; takes effect at once, also for existing tokens.",
        ),
    ] = None,
    closed: Annotated[
        bool | None,
        typer.Option(
            "--close/--open",
            show_default="unchanged",
            help="Close an account, ending its tokens and sessions, or reopen it.",
        ),
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """List the accounts, or add or change an account.

    $ arena teams accounts ada --email ada@example.org
    """
    teams = open_arena().teams
    listed = teams.accounts(caller=OPERATOR)
    if not name:
        options = {"--email": email, "--subject": subject, "--organiser": organiser, "--close": closed}
        only_with("an account", options)
        rows = [
            (row.name, row.email, "closed" if row.closed_at else "organiser" if row.is_organiser else "")
            for row in listed
        ]
        show_rows([row.to_json() for row in listed], ("account", "e-mail", "role"), rows, as_json=as_json)
    elif subject is None and email is None and name in {row.name for row in listed}:
        account = teams.change_account(name, is_organiser=organiser, closed=closed, caller=OPERATOR)
        show_result(account.to_json(), f"Account {account.name} is changed.", as_json=as_json)
    else:
        added = teams.add_account(
            name, subject=subject, email=email, is_organiser=bool(organiser), caller=OPERATOR
        )
        show_result(added.to_json(), f"Account {name} is added.", as_json=as_json)


@commands.command()
def invite(
    name: Name,
    uses: Annotated[
        int, typer.Option(metavar="N", min=1, max=100, help="Number of people who can use the invitation.")
    ] = 1,
    days: Annotated[int, typer.Option(metavar="N", min=1, max=90, help="Days until it expires.")] = 7,
    *,
    as_json: AsJson = False,
) -> None:
    """Create a link for joining a team.

    $ arena teams invite lab --uses 3

    Members sign in by OIDC; without a provider, the link shows a token of the team once.
    """
    link = open_arena().invitations.invite(name, uses=uses, days=days, caller=OPERATOR)
    show_result({"team": name, "link": link}, link, as_json=as_json)


@tokens.command("create")
def create_token(
    label: Annotated[str, typer.Option("--name", metavar="LABEL", help="Purpose of the token.")],
    team: Annotated[
        str | None, typer.Option(metavar="TEAM", help="The team that the token belongs to.")
    ] = None,
    account: Annotated[
        str | None, typer.Option(metavar="ACCOUNT", help="The account that the token belongs to.")
    ] = None,
    scope: Annotated[
        list[TokenScope] | None,
        typer.Option(show_default="read and submit", help="Scope of the token; repeatable."),
    ] = None,
    days: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, show_default="never expires", help="Days until it expires."),
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Create a token and print it.

    $ arena teams token create --name laptop --team lab

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
        show_json(created.to_json())
        return
    note("Save this token: it is not shown again.")
    show_line(created.secret)


@tokens.command("revoke")
def revoke_token(
    number: Annotated[int, typer.Argument(metavar="ID", parser=row_id, help="Number of the token.")],
    *,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Revoke a token and end its sessions, at once.

    $ arena teams token revoke 4 --yes
    """
    confirm(f"Revoke token {number}?", yes=yes)
    token = open_arena().tokens.revoke(number, caller=OPERATOR)
    show_result(token.to_json(), f"Token {number} ({token.name}) is revoked.", as_json=as_json)
