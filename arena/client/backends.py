"""Where submissions are sent: this machine's arena, or another's. Both give the same JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from httpx import Response
from pydantic import TypeAdapter

from arena.client.http import ApiClient, Options
from arena.client.upload import upload
from arena.container import open_arena
from arena.schemas import SubmissionFields, SubmissionFull, SubmissionStatusFields
from arena.services.accounts.auth import OPERATOR
from arena.settings import read_settings
from data.errors import InputError
from data.files.text_files import LONGEST_NAME
from data.records import SubmissionKind, require_name
from submissions.card import load_card
from submissions.check import CheckResult
from submissions.check_report import problem_json

Json = dict[str, Any]
RESULT = TypeAdapter(CheckResult)


def _json(submission: object) -> Json:
    return SubmissionFields.of(submission).to_json()


def _kind(kind: SubmissionKind) -> dict[str, str]:
    # An arena of an earlier version takes answers alone, and refuses fields that it does not know.
    return {} if kind is SubmissionKind.ANSWERS else {"kind": kind.value}


class Change(StrEnum):
    """What can be done to a submission."""

    CONFIRM = "confirm"
    SELECT = "select"
    WITHDRAW = "withdraw"


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionRequest:
    """What is submitted besides the file."""

    set_name: str
    system: str
    kind: SubmissionKind = SubmissionKind.ANSWERS
    team: str = ""
    card: Path | None = None
    anonymous: bool | None = None
    hold: bool = False


class LocalBackend:
    """This machine's arena."""

    def __init__(self) -> None:
        arena = open_arena()
        self._arena, self._submissions = arena, arena.submissions

    def check(self, path: Path, set_name: str, kind: SubmissionKind = SubmissionKind.ANSWERS) -> CheckResult:
        """Check a file; every problem at once."""
        return self._submissions.check(path, set_name, kind=kind)

    def add(self, path: Path, request: SubmissionRequest) -> Json:
        """Submit a file."""
        added = self._submissions.add(
            path,
            request.set_name,
            system=request.system,
            kind=request.kind,
            team=request.team,
            card=request.card,
            anonymous=request.anonymous,
            confirm=not request.hold,
        )
        warnings = [problem_json(problem) for problem in added.warnings]
        return {**_json(added.submission), "created": added.created, "problems": warnings}

    def find(self, set_name: str | None) -> list[Json]:
        """Submissions by set, system and version."""
        lines = self._submissions.find(set_name=set_name, caller=OPERATOR)
        return [SubmissionStatusFields.of_line(line).to_json() for line in lines]

    def view(self, number: int) -> Json:
        """A submission with its coverage."""
        return SubmissionFull.of_line(self._submissions.view(number, caller=OPERATOR)).to_json()

    def report(self, number: int, round_name: str | None) -> Json:
        """What a team should improve."""
        from arena.services.evidence.team_report_files import report_json  # noqa: PLC0415 - loads statistics, which only reports need

        return report_json(self._arena.reports.of(number, round_name=round_name, caller=OPERATOR))

    def report_page(self, number: int, round_name: str | None) -> str:
        """The same as one HTML page."""
        from arena.services.evidence.team_report_files import report_html  # noqa: PLC0415 - as above

        return report_html(self._arena.reports.of(number, round_name=round_name, caller=OPERATOR))

    def change(self, number: int, change: Change, *, reason: str = "") -> Json:
        """Do something to a submission."""
        match change:
            case Change.CONFIRM:
                return _json(self._submissions.confirm(number))
            case Change.SELECT:
                return _json(self._submissions.select(number))
            case Change.WITHDRAW:
                return _json(self._submissions.withdraw(number, reason=reason))


class RemoteBackend:
    """Another machine's arena, by its API."""

    def __init__(self, client: ApiClient, *, sent: Callable[[int, int], None]) -> None:
        self._client = client
        self._sent = sent

    def check(self, path: Path, set_name: str, kind: SubmissionKind = SubmissionKind.ANSWERS) -> CheckResult:
        """Check a file; every problem at once."""
        require_name(set_name, "Question set")
        size = path.stat().st_size if path.is_file() else 0
        try:
            with path.open("rb") as file:
                answer = self._client.ask(
                    "POST",
                    f"/sets/{set_name}/check",
                    file=file,
                    params={"file_name": path.name[-LONGEST_NAME:], **_kind(kind)},
                    headers={"Content-Length": str(size), "Content-Type": "application/octet-stream"},
                ).json()
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}.", advice="Check its name.") from error
        return RESULT.validate_python({**answer, "set_name": answer["set"]})

    def add(self, path: Path, request: SubmissionRequest) -> Json:
        """Submit a file: send what the arena lacks of it, then hand it in."""
        require_name(request.set_name, "Question set")
        card = {} if request.card is None else asdict(load_card(request.card))
        body = {
            "upload": upload(self._client, path, sent=self._sent),
            "file_name": path.name[-LONGEST_NAME:],
            "system": request.system,
            "team": request.team,
            "card": card,
            "anonymous": request.anonymous,
            "hold": request.hold,
            **_kind(request.kind),
        }
        answer = self._client.ask("POST", f"/sets/{request.set_name}/submissions", json=body).json()
        return {**_json(answer), "created": answer["created"], "problems": answer["problems"]}

    def find(self, set_name: str | None) -> list[Json]:
        """Submissions by set, system and version, as the token may see them."""
        asked = {} if set_name is None else {"set": set_name}
        body = self._client.ask("GET", "/submissions", params=asked).json()
        return [SubmissionStatusFields.of(fields).to_json() for fields in body["submissions"]]

    def view(self, number: int) -> Json:
        """A submission with its coverage."""
        return SubmissionFull.of(self._client.ask("GET", f"/submissions/{number}").json()).to_json()

    def report(self, number: int, round_name: str | None) -> Json:
        """What a team should improve."""
        report: Json = self._report(number, round_name, "json").json()
        return report

    def report_page(self, number: int, round_name: str | None) -> str:
        """The same as one HTML page."""
        return self._report(number, round_name, "html").text

    def _report(self, number: int, round_name: str | None, form: str) -> Response:
        asked = {"format": form, **({} if round_name is None else {"round": round_name})}
        return self._client.ask("GET", f"/submissions/{number}/report", params=asked)

    def change(self, number: int, change: Change, *, reason: str = "") -> Json:
        """Do something to a submission."""
        options: Options = {"json": {"reason": reason}} if change is Change.WITHDRAW else {}
        return _json(self._client.ask("POST", f"/submissions/{number}/{change}", **options).json())


SubmissionBackend = LocalBackend | RemoteBackend
"""Takes files of answers and reports on submissions."""


def open_backend(
    server: str | None, token: str | None, *, sent: Callable[[int, int], None]
) -> SubmissionBackend:
    """The arena at an address, else that of the settings, else this machine's.

    `sent` is called with how many bytes of how many of a file are sent.

    Raises:
        InputError: A token is given, and no address; or the address cannot be used.
    """
    settings = read_settings()
    address = server or settings.server
    if address:
        return RemoteBackend(ApiClient(address, token or settings.token), sent=sent)
    if token:
        raise InputError("A token is for another machine's arena.", advice="Name it with --server.")
    return LocalBackend()
