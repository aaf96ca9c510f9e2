"""Applications for teams: by mail and by provider, limits, decisions, and what is never said or kept."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR, PUBLIC
from arena.services.accounts.mail import Mailer, mailer_of, require_mail_address
from arena.services.accounts.registration import (
    MOST_FOR_MAIL,
    MOST_IN_ALL,
    MOST_OF_CLIENT,
    RegistrationRequest,
)
from arena.settings import Registration, read_settings
from data.errors import (
    AccessError,
    ArenaError,
    ClosedError,
    ConflictError,
    InputError,
    NotFoundError,
    TooManyAttemptsError,
    UnavailableError,
)
from data.records import Action, Role, TokenScope
from data.records.applications import Application, ApplicationState
from tests.mail_server import Post, running_post
from tests.narrow import known

HERE = "192.0.2.1"
SITE = "https://arena.example.org"
SUBJECT = "https://id.example.org#ann"
REQUEST = RegistrationRequest(
    team="new-team", title="New Team", contact="room 5", reason="We like questions.", mail="ann@example.org"
)


@pytest.fixture
def post() -> Iterator[Post]:
    """A mail server."""
    with running_post() as post:
        yield post


@pytest.fixture
def arena(make_arena: Callable[..., Arena], database_url: str, post: Post) -> Arena:
    """An arena on each engine that takes applications by mail, with a team `ours`."""
    made = make_arena(
        database_url=database_url,
        registration=Registration.MAIL,
        public_url=SITE,
        smtp_url=post.url,
        mail_from="arena@example.org",
    )
    made.teams.add("ours", title="Our Group", caller=OPERATOR)
    return made


@pytest.fixture
def house(make_arena: Callable[..., Arena], database_url: str) -> Arena:
    """An arena on each engine that takes applications by an OIDC provider."""
    return make_arena(database_url=database_url, registration=Registration.OIDC)


def _everything(arena: Arena, *tables: str) -> str:
    with arena.store.database.begin() as connection:
        rows = [connection.execute(text(f"SELECT * FROM {table}")).all() for table in tables]  # noqa: S608
    return str(rows)


def _waiting(arena: Arena, post: Post, wanted: RegistrationRequest = REQUEST) -> Application:
    arena.registration.apply(wanted, client=HERE)
    return arena.registration.confirm(post.code())


def _age(arena: Arena, **moments: timedelta) -> None:
    """Let what is stored be older."""
    with arena.store.database.begin() as connection:
        for column, age in moments.items():
            statement = text(f"UPDATE application SET {column} = :at WHERE {column} IS NOT NULL")  # noqa: S608
            at = datetime.now(UTC) - age
            sqlite = connection.dialect.name == "sqlite"
            connection.execute(statement, {"at": f"{at:%Y-%m-%d %H:%M:%S.%f}" if sqlite else at})


def test_mail_leads_from_application_to_token(arena: Arena, post: Post) -> None:
    """Apply, confirm by the link, be approved, fetch the token once: its holder owns the team."""
    assert arena.registration.apply(REQUEST, client=HERE) is ApplicationState.UNCONFIRMED
    assert [address for address, _ in post.letters] == ["ann@example.org"]
    assert f"{SITE}/register?code=" in post.text()
    assert REQUEST.reason not in post.text()
    assert REQUEST.title not in post.text()
    first = post.code()
    application = arena.registration.confirm(first)
    assert application.state is ApplicationState.WAITING
    with pytest.raises(NotFoundError, match="used already"):
        arena.registration.confirm(first)
    approved = arena.applications.approve(application.id, caller=OPERATOR)
    assert (approved.state, approved.account) == (ApplicationState.APPROVED, "new-team")
    code = post.code()
    created = arena.registration.claim(code)
    with pytest.raises(NotFoundError, match="used already"):
        arena.registration.claim(code)
    caller = arena.identities.of_token(created.secret, client=HERE)
    assert (caller.role_in("new-team"), caller.organiser) == (Role.OWNER, False)
    assert created.token.scopes == {TokenScope.READ, TokenScope.SUBMIT, TokenScope.MANAGE}
    assert created.token.expires_at is not None
    assert arena.teams.view("new-team", caller=caller).team.title == "New Team"


def test_codes_are_kept_hashed_and_the_log_has_no_address(arena: Arena, post: Post) -> None:
    """No table has a code or the machine's address; the audit log has neither mail address nor contact."""
    application = _waiting(arena, post)
    codes = [post.code()]
    arena.applications.approve(application.id, caller=OPERATOR)
    codes.append(post.code())
    arena.registration.claim(codes[1])
    kept = _everything(arena, "application", "audit", "account", "token")
    assert all(code not in kept for code in (*codes, HERE))
    log = _everything(arena, "audit")
    assert "example.org" not in log
    assert REQUEST.contact not in log
    actions = {entry.action for entry in arena.teams.audit(caller=OPERATOR)}
    assert {
        Action.APPLICATION_CONFIRMED,
        Action.APPLICATION_APPROVED,
        Action.TEAM_ADDED,
        Action.ACCOUNT_ADDED,
        Action.MEMBER_ADDED,
        Action.TOKEN_CREATED,
    } <= actions
    assert "ann@" not in repr(application)


def test_answer_is_the_same_for_a_known_address(arena: Arena, post: Post) -> None:
    """Who has an account, or waits, gets a mail that says so; what the page gets is that of strangers."""
    arena.teams.add_account("ann", email="Ann@example.org", caller=OPERATOR)
    assert arena.registration.apply(REQUEST, client=HERE) is ApplicationState.UNCONFIRMED
    assert "belongs to an account" in post.text()
    assert "code=" not in post.text()
    _waiting(arena, post, replace(REQUEST, mail="bob@example.org"))
    other = replace(REQUEST, team="another", title="Another", mail="BOB@example.org")
    assert arena.registration.apply(other, client=HERE) is ApplicationState.UNCONFIRMED
    assert "code=" not in post.text()


def test_nobody_is_sent_more_than_a_few_mails(arena: Arena, post: Post) -> None:
    """After some applications for an address no mail follows, and the answer stays the same."""
    for number in range(MOST_FOR_MAIL + 1):
        assert arena.registration.apply(REQUEST, client=f"c{number}") is ApplicationState.UNCONFIRMED
    assert len(post.letters) == MOST_FOR_MAIL


@pytest.mark.long
def test_applications_are_limited_for_each_machine_and_in_all(arena: Arena) -> None:
    """The sixth within an hour from one address waits, others do not; after the hour it may come again."""
    for number in range(MOST_OF_CLIENT):
        arena.registration.apply(replace(REQUEST, mail=f"a{number}@example.org"), client=HERE)
    with pytest.raises(TooManyAttemptsError, match="Too many applications") as refused:
        arena.registration.apply(REQUEST, client=HERE)
    assert 3_500 < refused.value.retry_after <= 3_600
    for number in range(MOST_IN_ALL - MOST_OF_CLIENT):
        arena.registration.apply(replace(REQUEST, mail=f"b{number}@example.org"), client=f"c{number}")
    with pytest.raises(TooManyAttemptsError):
        arena.registration.apply(REQUEST, client="elsewhere")
    _age(arena, created_at=timedelta(hours=1, minutes=1))
    arena.registration.apply(REQUEST, client=HERE)


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"team": "ours"}, ConflictError),
        ({"team": "0urs"}, ConflictError),
        ({"title": "OUR GROUP"}, ConflictError),
        ({"title": "Оur Grоup"}, ConflictError),
        ({"team": "operator"}, ConflictError),
        ({"title": "Overall"}, ConflictError),
        ({"team": "New Team"}, InputError),
        ({"team": "-a"}, InputError),
        ({"team": "a" * 41}, InputError),
        ({"title": ""}, InputError),
        ({"title": "x\u202e"}, InputError),
        ({"contact": "x" * 201}, InputError),
        ({"reason": " \n "}, InputError),
        ({"mail": "ann"}, InputError),
        ({"mail": "a@b.org,c@d.org"}, InputError),
        ({"mail": "a@b.org\r\nBcc: c@d.org"}, InputError),
        ({"mail": "ann@[127.0.0.1]"}, InputError),
    ],
)
def test_bad_applications_are_refused(
    arena: Arena, post: Post, change: dict[str, str], error: type[ArenaError]
) -> None:
    """Names and titles that are taken, alike or reserved, and what cannot be read, are not stored."""
    with pytest.raises(error):
        arena.registration.apply(replace(REQUEST, **change), client=HERE)
    assert not post.letters
    assert sum(arena.applications.counts(caller=OPERATOR).values()) == 0


def test_name_may_be_taken_before_the_link_is_opened(arena: Arena, post: Post) -> None:
    """Two may ask for one name; the first to confirm has it, and the other is told."""
    arena.registration.apply(REQUEST, client=HERE)
    first = post.code()
    arena.registration.apply(replace(REQUEST, mail="bob@example.org"), client=HERE)
    arena.registration.confirm(post.code())
    with pytest.raises(ConflictError, match="taken"):
        arena.registration.confirm(first)


def test_unconfirmed_ones_expire_and_are_forgotten(arena: Arena, post: Post) -> None:
    """After a day the link is over; what was written is deleted, and the application still counted."""
    arena.registration.apply(REQUEST, client=HERE)
    _age(arena, expires_at=timedelta(seconds=1), created_at=timedelta(hours=25))
    with pytest.raises(NotFoundError):
        arena.registration.confirm(post.code())
    counts = arena.applications.counts(caller=OPERATOR)
    assert (counts[ApplicationState.EXPIRED], counts[ApplicationState.UNCONFIRMED]) == (1, 0)
    kept = _everything(arena, "application")
    assert "ann" not in kept
    assert REQUEST.reason not in kept
    (expired,) = arena.applications.all(ApplicationState.EXPIRED, caller=OPERATOR)
    assert expired.team == "new-team"


def test_rejection_has_a_reason_that_is_sent(arena: Arena, post: Post) -> None:
    """A rejection needs a reason, which the applicant reads; it makes no team, and is final."""
    application = _waiting(arena, post)
    with pytest.raises(InputError):
        arena.applications.reject(application.id, " ", caller=OPERATOR)
    rejected = arena.applications.reject(application.id, "Not a research group.", caller=OPERATOR)
    assert (rejected.state, rejected.decided_by) == (ApplicationState.REJECTED, "operator")
    assert "Not a research group." in post.text()
    with pytest.raises(ConflictError, match="it is rejected"):
        arena.applications.approve(application.id, caller=OPERATOR)
    assert arena.store.teams.find("new-team") is None
    assert arena.teams.audit(action=Action.APPLICATION_REJECTED, caller=OPERATOR)[0].detail["reason"]


def test_failing_mail_keeps_the_approval_and_can_be_sent_again(arena: Arena, post: Post) -> None:
    """Where the server refuses the mail the organiser is told; approving again sends another link."""
    application = _waiting(arena, post)
    post.refuse = "554 no"
    with pytest.raises(UnavailableError, match=r"approval holds.*sends another link"):
        arena.applications.approve(application.id, caller=OPERATOR)
    post.refuse = ""
    arena.applications.approve(application.id, caller=OPERATOR)
    first = post.code()
    arena.applications.approve(application.id, caller=OPERATOR)
    with pytest.raises(NotFoundError):
        arena.registration.claim(first)
    arena.registration.claim(post.code())
    with pytest.raises(ConflictError, match="was fetched"):
        arena.applications.approve(application.id, caller=OPERATOR)


def test_account_that_exists_stops_the_approval_as_a_whole(arena: Arena, post: Post) -> None:
    """Where the account's name is taken nothing is made; another name does it."""
    application = _waiting(arena, post)
    arena.teams.add_account("new-team", caller=OPERATOR)
    with pytest.raises(ConflictError, match="account 'new-team'"):
        arena.applications.approve(application.id, caller=OPERATOR)
    assert arena.store.teams.find("new-team") is None
    approved = arena.applications.approve(application.id, account="ann", caller=OPERATOR)
    assert approved.account == "ann"


def test_provider_confirms_at_once_and_binds_the_account(house: Arena) -> None:
    """Who signed in applies without mail; after the approval that sign-in owns the team."""
    assert house.registration.apply(REQUEST, client=HERE, subject=SUBJECT) is ApplicationState.WAITING
    with pytest.raises(ConflictError, match="is waiting"):
        house.registration.apply(replace(REQUEST, team="bb", title="Bees"), client=HERE, subject=SUBJECT)
    (application,) = house.applications.all(caller=OPERATOR)
    house.applications.approve(application.id, account="ann", caller=OPERATOR)
    caller = house.sessions.who_oidc(SUBJECT, email=None, verified=False)
    assert caller.role_in("new-team") is Role.OWNER
    with pytest.raises(ConflictError, match="You have the account ann"):
        house.registration.apply(replace(REQUEST, team="bb", title="Bees"), client=HERE, subject=SUBJECT)
    assert "ann@example.org" not in _everything(house, "application", "account")


def test_applications_are_closed_unless_opened(make_arena: Callable[..., Arena], house: Arena) -> None:
    """By default nobody can apply; where a provider is asked for, nobody can without its sign-in."""
    assert read_settings({}).registration is Registration.OFF
    with pytest.raises(ClosedError, match="takes no applications"):
        make_arena().registration.apply(REQUEST, client=HERE)
    with pytest.raises(ClosedError, match="signed in by the provider"):
        house.registration.apply(REQUEST, client=HERE)


def test_only_organisers_see_and_decide(arena: Arena, post: Post) -> None:
    """Neither lists nor decisions are for others."""
    application = _waiting(arena, post)
    for ask in (
        lambda: arena.applications.all(caller=PUBLIC),
        lambda: arena.applications.counts(caller=PUBLIC),
        lambda: arena.applications.approve(application.id, caller=PUBLIC),
        lambda: arena.applications.reject(application.id, "no", caller=PUBLIC),
    ):
        with pytest.raises(AccessError):
            ask()


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"ARENA_PUBLIC_URL": ""}, "ARENA_PUBLIC_URL"),
        ({"ARENA_MAIL_FROM": "arena"}, "ARENA_MAIL_FROM"),
        ({"ARENA_SMTP_URL": ""}, "ARENA_SMTP_URL"),
        ({"ARENA_SMTP_URL": "http://ann:secret-word@mail.example.org"}, "ARENA_SMTP_URL"),
        ({"ARENA_SMTP_URL": "smtp://mail.example.org:99999"}, "ARENA_SMTP_URL"),
    ],
)
def test_settings_of_mail_are_checked(variables: dict[str, str], named: str) -> None:
    """A missing or wrong setting is named, and its secret is not."""
    right = {
        "ARENA_REGISTRATION": "mail",
        "ARENA_PUBLIC_URL": SITE,
        "ARENA_MAIL_FROM": "arena@example.org",
        "ARENA_SMTP_URL": "smtps://ann:secret-word@mail.example.org",
    }
    mailer = mailer_of(read_settings(right))
    assert mailer is not None
    assert (mailer.port, mailer.tls, mailer.user) == (465, True, "ann")
    assert "secret-word" not in repr(mailer) + repr(read_settings(right))
    with pytest.raises(InputError, match=named) as refused:
        mailer_of(read_settings({**right, **variables}))
    assert "secret-word" not in str(refused.value)


def test_no_password_goes_over_an_open_line(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server on another machine that offers no encryption is not given a password."""
    variables = {
        "ARENA_REGISTRATION": "mail",
        "ARENA_PUBLIC_URL": SITE,
        "ARENA_MAIL_FROM": "arena@example.org",
        "ARENA_SMTP_URL": post.url.replace("127.0.0.1", "ann:word@mail.example.org"),
    }
    mailer = known(mailer_of(read_settings(variables)))
    here = socket.create_connection
    monkeypatch.setattr(
        socket, "create_connection", lambda place, *rest: here(("127.0.0.1", place[1]), *rest)
    )
    with pytest.raises(UnavailableError) as refused:
        mailer.send("ann@example.org", "s", "t")
    assert "open line" in str(refused.value.__cause__)
    assert not post.letters


@pytest.mark.parametrize("address", ["Ann@Example.org", " a.b+c@x-y.example "])
def test_mail_addresses_are_compared_in_lower_case(address: str) -> None:
    """Case and outer space make no difference."""
    assert require_mail_address(address) == address.strip().lower()


@pytest.mark.parametrize(
    "address",
    [
        "=?utf-8?q?b?=@x.org",
        "=?utf-8?q?victim=40evil.org=2C?=@x.org",
        "=?utf-8?q?c=0D=0ABcc=3A_e=40evil.org?=@x.org",
        "a\r\nBcc: e@evil.org@x.org",
        "a,b@x.org",
        "a@x.org, b@y.org",
        "a b@x.org",
        '"a"@x.org',
        "a@[127.0.0.1]",
        "a@x",
        "@x.org",
        f"{'a' * 65}@x.org",
        f"a@{'x' * 250}.org",
        "a..b@x.org",
        "ä@x.org",
    ],
)
def test_what_is_no_plain_address_is_refused(address: str) -> None:
    """Encoded words, several addresses, line ends, quotes and what is too long get to no mail server."""
    with pytest.raises(InputError, match="no mail address"):
        require_mail_address(address)


def test_a_mail_goes_to_the_one_address_that_it_names(post: Post) -> None:
    """The envelope has the header's recipient and no other, whatever signs the address has."""
    mailer = Mailer(
        host="127.0.0.1", port=int(post.url.rpartition(":")[2]), tls=False, sender="a@example.org"
    )
    for address in ("o'neil+x@example.org", "a=b@example.org", "{x}|y~z@example.org"):
        mailer.send(require_mail_address(address), "s", "t")
        recipient, letter = post.letters[-1]
        assert recipient == address
        assert [one.addr_spec for one in letter["To"].addresses] == [address]
    assert len(post.letters) == 3


def test_notes_behind_a_plus_do_not_multiply_mails(arena: Arena, post: Post) -> None:
    """Addresses that most servers deliver to one person count as one."""
    for number in range(MOST_FOR_MAIL + 2):
        wish = replace(REQUEST, mail=f"ann+{number}@example.org")
        assert arena.registration.apply(wish, client=f"c{number}") is ApplicationState.UNCONFIRMED
    assert len(post.letters) == MOST_FOR_MAIL


def test_a_failed_mail_costs_the_applicant_nothing(arena: Arena, post: Post) -> None:
    """Where mails could not be sent one applies again, as often as it takes, and gets the link in the end."""
    post.refuse = "451 later"
    for number in range(MOST_FOR_MAIL + 2):
        with pytest.raises(UnavailableError, match="could not be sent"):
            arena.registration.apply(REQUEST, client=f"c{number}")
    post.refuse = ""
    assert arena.registration.apply(REQUEST, client="c") is ApplicationState.UNCONFIRMED
    assert arena.registration.confirm(post.code()).state is ApplicationState.WAITING
