"""Visibility rules for everything that services return to pages, routes and downloads.

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

Hidden references are hidden from organisers on the site too; only the operator sees them. Teams see the
questions of every set, since they answer them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum, auto
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
    TOKEN = auto()


class Visibility(StrEnum):
    """Visible part of an object."""

    FULL = "full"
    NAMELESS = "nameless"
    TOMBSTONE = "tombstone"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """Object that a caller wants to see.

    Attributes:
        team: Its team; empty if it has none.
        account: Account of a token.
        checked: Submission that was never confirmed.
        anonymous: Its team hides names before publication.
        retracted: Retracted board.
        hidden: Quotes references that its set hides.
        private: Belongs to a set whose texts are not public.
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
    """Return the visible part of an object; the caller's rights and the object's state must be current."""
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


def _insiders_only(caller: Caller, resource: Resource) -> Visibility:
    return _full_if(_is_insider(caller, resource))


def _token(caller: Caller, resource: Resource) -> Visibility:
    own = resource.account is not None and resource.account == caller.account
    return _full_if(own or _is_insider(caller, resource))


def _full_if(visible: bool) -> Visibility:
    return Visibility.FULL if visible else Visibility.NONE


RULES: Mapping[Kind, Callable[[Caller, Resource], Visibility]] = MappingProxyType(
    {
        Kind.SUBMISSION: _submission,
        Kind.ANSWERS: _answers,
        Kind.CONTACT: _insiders_only,
        Kind.QUESTION: _question,
        Kind.REFERENCE: _reference,
        Kind.REPORT: _insiders_only,
        Kind.BOARD: _board,
        Kind.BATTLE: _battle,
        Kind.RATIONALE: _rationale,
        Kind.TEAM: _insiders_only,
        Kind.TOKEN: _token,
    }
)
