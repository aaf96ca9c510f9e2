"""The one rule of who sees what. Everything that leaves the services for a page, route or download asks it.

| kind | public | its team | organiser | operator |
|---|---|---|---|---|
| submission, checked only | none | full | full | full |
| submission, checked only and withdrawn | none | tombstone | same | same |
| submission, accepted | full, or nameless where anonymous and unpublished | full | full | full |
| submission, withdrawn | tombstone, none where anonymous and unpublished | tombstone | same | same |
| answers | full once published | full | full | full |
| answers, withdrawn | tombstone | tombstone | tombstone | tombstone |
| answers to a set whose texts are not public | none | full | full | full |
| question | full | full | full | full |
| question of a set whose texts are not public | none | full, every team's | full | full |
| reference | full, none where the set hides it | same | same | full |
| reference of a set whose texts are not public | none | none | full, none where hidden | full |
| report | none | full | full | full |
| board, round's standings | full once published; tombstone once retracted | same | full | full |
| battle | full once published | same | full | full |
| battle, rationale of withdrawn or hidden texts | tombstone | same | same | full where only hidden |
| battle, rationale on a set whose texts are not public | tombstone | same | full | full |
| contact, team, token | none | full | full | full |

A set that hides its references hides them from organisers on the site as well: only a holder of the
database itself, and so the questions, has them. Teams see the questions of every set: they have to answer
them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from arena.services.accounts.auth import Caller, CallerKind
from data.models import TokenScope


class Kind(StrEnum):
    """Kind of readable object."""

    SUBMISSION = "submission"
    ANSWERS = "answers"
    CONTACT = "contact"
    QUESTION = "question"
    REFERENCE = "reference"
    REPORT = "report"
    BOARD = "board"
    BATTLE = "battle"
    RATIONALE = "rationale"
    TEAM = "team"
    TOKEN = "token"  # noqa: S105 - no secret


class Visibility(StrEnum):
    """Visible part of an object."""

    FULL = "full"
    NAMELESS = "nameless"
    TOMBSTONE = "tombstone"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """An object that a caller wants to see.

    Attributes:
        team: Its team; empty without one.
        account: The account that it belongs to; tokens alone.
        checked: It is a submission that was checked and never submitted, whatever became of it since.
        anonymous: Its team asked for no names before publication.
        retracted: It is a board that was taken down.
        hidden: It quotes references that its set hides.
        private: It is of a set whose texts are not public.
    """

    kind: Kind
    team: str = ""
    account: str | None = None
    checked: bool = False
    anonymous: bool = False
    published: bool = False
    withdrawn: bool = False
    retracted: bool = False
    hidden: bool = False
    private: bool = False


def visibility_of(caller: Caller, resource: Resource) -> Visibility:
    """Return the visible part of an object for a caller.

    Depends on nothing but its arguments, whose rights and states must be read afresh.
    """
    return RULES[resource.kind](caller, resource)


def _is_insider(caller: Caller, resource: Resource) -> bool:
    if TokenScope.READ not in caller.scopes:
        return False
    return caller.organiser or bool(resource.team and caller.role_in(resource.team))


def _submission(caller: Caller, resource: Resource) -> Visibility:
    insider = _is_insider(caller, resource)
    nameless = resource.anonymous and not resource.published
    if insider:
        return Visibility.TOMBSTONE if resource.withdrawn else Visibility.FULL
    if resource.checked or (resource.withdrawn and nameless):
        return Visibility.NONE
    if resource.withdrawn:
        return Visibility.TOMBSTONE
    return Visibility.NAMELESS if nameless else Visibility.FULL


def _answers(caller: Caller, resource: Resource) -> Visibility:
    if resource.withdrawn:
        return Visibility.TOMBSTONE
    is_open = resource.published and not resource.checked and not resource.private
    return _full_if(_is_insider(caller, resource) or is_open)


def _question(caller: Caller, resource: Resource) -> Visibility:
    """Teams see every question, as they are to answer it."""
    takes_part = TokenScope.READ in caller.scopes and (caller.organiser or bool(caller.roles))
    return _full_if(not resource.private or takes_part)


def _reference(caller: Caller, resource: Resource) -> Visibility:
    return _full_if(_sees_all_texts(caller, resource))


def _sees_all_texts(caller: Caller, resource: Resource) -> bool:
    if resource.hidden and caller.kind is not CallerKind.OPERATOR:
        return False
    return not resource.private or (caller.organiser and TokenScope.READ in caller.scopes)


def _rationale(caller: Caller, resource: Resource) -> Visibility:
    if resource.withdrawn or not _sees_all_texts(caller, resource):
        return Visibility.TOMBSTONE
    return _battle(caller, resource)


def _board(caller: Caller, resource: Resource) -> Visibility:
    if caller.organiser:
        return Visibility.FULL
    return Visibility.TOMBSTONE if resource.retracted else _full_if(resource.published)


def _battle(caller: Caller, resource: Resource) -> Visibility:
    return _full_if(caller.organiser or (resource.published and not resource.retracted))


def _insiders_alone(caller: Caller, resource: Resource) -> Visibility:
    return _full_if(_is_insider(caller, resource))


def _token(caller: Caller, resource: Resource) -> Visibility:
    own = resource.account is not None and resource.account == caller.account
    return _full_if(own or _is_insider(caller, resource))


def _full_if(seen: bool) -> Visibility:
    return Visibility.FULL if seen else Visibility.NONE


RULES: Mapping[Kind, Callable[[Caller, Resource], Visibility]] = MappingProxyType(
    {
        Kind.SUBMISSION: _submission,
        Kind.ANSWERS: _answers,
        Kind.CONTACT: _insiders_alone,
        Kind.QUESTION: _question,
        Kind.REFERENCE: _reference,
        Kind.REPORT: _insiders_alone,
        Kind.BOARD: _board,
        Kind.BATTLE: _battle,
        Kind.RATIONALE: _rationale,
        Kind.TEAM: _insiders_alone,
        Kind.TOKEN: _token,
    }
)
