"""Where submissions are handed in: this machine's arena, or another's. Both give the same JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from httpx import Response

from arena.bootstrap import open_arena
from arena.remote.client import ApiClient, Options
from arena.remote.uploading import upload
from arena.services.identity import OPERATOR
from arena.services.json_views import line_json, submission_json
from arena.services.report_files import report_html, report_json
from arena.settings import read_settings
from data.errors import InputError
from data.records import Problem, Severity, require_name
from submissions.card import load_card
from submissions.check import CheckResult
from submissions.formats.rows import FileFormat
from submissions.report import problem_json

Json = dict[str, Any]
MOMENTS = ("created_at", "withdrawn_at", "eta")


class Change(StrEnum):
    """What can be done to a submission."""

    CONFIRM = "confirm"
    SELECT = "select"
    WITHDRAW = "withdraw"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is handed in, beside the file."""

    set_name: str
    system: str
    team: str = ""
    card: Path | None = None
    anonymous: bool | None = None
    hold: bool = False


class Desk(Protocol):
    """Takes files of answers and tells of submissions."""

    def check(self, path: Path, set_name: str) -> CheckResult:
        """Check a file; every problem at once."""

    def add(self, path: Path, wish: Wish) -> Json:
        """Submit a file: the submission, with `created` and the check's warnings as `problems`."""

    def find(self, set_name: str | None) -> list[Json]:
        """Submissions by set, system and version."""

    def view(self, number: int) -> Json:
        """A submission with its coverage."""

    def report(self, number: int, round_name: str | None) -> Json:
        """What a team should improve."""

    def report_page(self, number: int, round_name: str | None) -> str:
        """The same as one HTML page."""

    def change(self, number: int, change: Change, *, reason: str = "") -> Json:
        """Do something to a submission."""


def open_desk(server: str | None, token: str | None, *, sent: Callable[[int, int], None]) -> Desk:
    """The desk of an address, else that of the settings, else this machine's.

    Args:
        server: Address of an arena.
        token: Access token there; by default that of the settings.
        sent: Told how many bytes of how many of a file are sent.

    Raises:
        InputError: A token is given, and no address; or the address cannot be used.
    """
    settings = read_settings()
    address = server or settings.server
    if address:
        return RemoteDesk(ApiClient(address, token or settings.token), sent=sent)
    if token:
        raise InputError("A token is for another machine's arena.", advice="Name it with --server.")
    return LocalDesk()


class LocalDesk:
    """This machine's arena."""

    def __init__(self) -> None:
        arena = open_arena()
        self._submissions, self._reports = arena.submissions, arena.reports

    def check(self, path: Path, set_name: str) -> CheckResult:
        """Check a file; every problem at once."""
        return self._submissions.check(path, set_name)

    def add(self, path: Path, wish: Wish) -> Json:
        """Submit a file."""
        added = self._submissions.add(
            path,
            wish.set_name,
            system=wish.system,
            team=wish.team,
            card=wish.card,
            anonymous=wish.anonymous,
            confirm=not wish.hold,
        )
        warnings = [problem_json(one) for one in added.warnings]
        return {**submission_json(added.submission), "created": added.created, "problems": warnings}

    def find(self, set_name: str | None) -> list[Json]:
        """Submissions by set, system and version."""
        return [line_json(one) for one in self._submissions.find(set_name=set_name, caller=OPERATOR)]

    def view(self, number: int) -> Json:
        """A submission with its coverage."""
        view = self._submissions.view(number, caller=OPERATOR)
        shares = {"coverage": dict(view.coverage), "no_answer_share": dict(view.no_answer_share)}
        return {**line_json(view), **shares}

    def report(self, number: int, round_name: str | None) -> Json:
        """What a team should improve."""
        return report_json(self._reports.of(number, round_name=round_name, caller=OPERATOR))

    def report_page(self, number: int, round_name: str | None) -> str:
        """The same as one HTML page."""
        return report_html(self._reports.of(number, round_name=round_name, caller=OPERATOR))

    def change(self, number: int, change: Change, *, reason: str = "") -> Json:
        """Do something to a submission."""
        match change:
            case Change.CONFIRM:
                return submission_json(self._submissions.confirm(number))
            case Change.SELECT:
                return submission_json(self._submissions.select(number))
            case Change.WITHDRAW:
                return submission_json(self._submissions.withdraw(number, reason=reason))


class RemoteDesk:
    """Another machine's arena, by its API."""

    def __init__(self, client: ApiClient, *, sent: Callable[[int, int], None]) -> None:
        self._client = client
        self._sent = sent

    def check(self, path: Path, set_name: str) -> CheckResult:
        """Check a file; every problem at once."""
        require_name(set_name, "Question set")
        size = path.stat().st_size if path.is_file() else 0
        try:
            with path.open("rb") as file:
                told = self._client.ask(
                    "POST",
                    f"/sets/{set_name}/check",
                    file=file,
                    headers={"Content-Length": str(size), "Content-Type": "application/octet-stream"},
                ).json()
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}.", advice="Check its name.") from error
        return _check_result(told)

    def add(self, path: Path, wish: Wish) -> Json:
        """Submit a file: send what the arena lacks of it, then hand it in."""
        require_name(wish.set_name, "Question set")
        card = {} if wish.card is None else asdict(load_card(wish.card))
        body = {
            "upload": upload(self._client, path, sent=self._sent),
            "system": wish.system,
            "team": wish.team,
            "card": card,
            "anonymous": wish.anonymous,
            "hold": wish.hold,
        }
        return _told(self._client.ask("POST", f"/sets/{wish.set_name}/submissions", json=body).json())

    def find(self, set_name: str | None) -> list[Json]:
        """Submissions by set, system and version, as the token may see them."""
        asked = {} if set_name is None else {"set": set_name}
        found = self._client.ask("GET", "/submissions", params=asked).json()
        return [_told(one) for one in found["submissions"]]

    def view(self, number: int) -> Json:
        """A submission with its coverage."""
        return _told(self._client.ask("GET", f"/submissions/{number}").json())

    def report(self, number: int, round_name: str | None) -> Json:
        """What a team should improve."""
        found: Json = self._report(number, round_name, "json").json()
        return found

    def report_page(self, number: int, round_name: str | None) -> str:
        """The same as one HTML page."""
        return self._report(number, round_name, "html").text

    def _report(self, number: int, round_name: str | None, form: str) -> Response:
        asked = {"format": form, **({} if round_name is None else {"round": round_name})}
        return self._client.ask("GET", f"/submissions/{number}/report", params=asked)

    def change(self, number: int, change: Change, *, reason: str = "") -> Json:
        """Do something to a submission."""
        options: Options = {"json": {"reason": reason}} if change is Change.WITHDRAW else {}
        return _told(self._client.ask("POST", f"/submissions/{number}/{change}", **options).json())


def problem_of(told: Mapping[str, Any]) -> Problem:
    """A problem that was told as JSON."""
    return Problem(
        line=told["line"],
        code=told["code"],
        message=told["message"],
        severity=Severity(told["severity"]),
        advice=told["advice"],
    )


def _told(fields: Json) -> Json:
    """What the API tells, its moments written as this machine's arena writes them."""
    return {
        name: value.replace("Z", "+00:00") if name in MOMENTS and isinstance(value, str) else value
        for name, value in fields.items()
    }


def _check_result(told: Mapping[str, Any]) -> CheckResult:
    return CheckResult(
        set_name=told["set"],
        format=None if told["format"] is None else FileFormat(told["format"]),
        rows=told["rows"],
        answers=told["answers"],
        questions=told["questions"],
        coverage=told["coverage"],
        no_answers=told["no_answers"],
        with_contexts=told["with_contexts"],
        errors=told["errors"],
        warnings=told["warnings"],
        problems=tuple(map(problem_of, told["problems"])),
        content_hash=told["content_hash"],
    )
