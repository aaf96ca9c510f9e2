"""Where submissions are sent and gates judged: this machine's arena, or another's. Both give equal JSON."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from arena.client.answer_arena_client.models.submissions import AddedSubmission, Submission
from arena.container import open_arena
from arena.services.accounts.auth import OPERATOR
from arena.settings import read_settings
from data.errors import (
    AccessError,
    ArenaError,
    ConflictError,
    ForbiddenError,
    InputError,
    InvalidFileError,
    NotFoundError,
    ServerError,
)
from data.records import Problem, Severity, SubmissionKind, require_name

if TYPE_CHECKING:
    # What reads files loads where a file is read: to list submissions takes none of it.
    from arena.client.answer_arena_client import Client
    from arena.services.gates.model import GateRequest
    from submissions.check import CheckResult

Json = dict[str, Any]
ERRORS: Mapping[int, type[ArenaError]] = {
    401: AccessError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    410: NotFoundError,
    413: InputError,
    422: InputError,
}
FIRST_LOOK, LONGEST_LOOK = 0.5, 10.0
OVER = ("done", "failed", "cancelled")


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
    keep_na: bool = False


class LocalBackend:
    """This machine's arena."""

    def __init__(self) -> None:
        self._arena = open_arena()

    def check(self, path: Path, request: SubmissionRequest) -> CheckResult:
        """Check a file; every problem at once."""
        return self._arena.submissions.check(
            path, request.set_name, kind=request.kind, system=request.system, keep_na=request.keep_na
        )

    def add(self, path: Path, request: SubmissionRequest) -> Json:
        """Submit a file."""
        added = self._arena.submissions.add(
            path,
            request.set_name,
            system=request.system,
            kind=request.kind,
            team=request.team,
            card=request.card,
            anonymous=request.anonymous,
            confirm=not request.hold,
            keep_na=request.keep_na,
        )
        return AddedSubmission.of(added.submission, created=added.created, problems=added.warnings).to_json()

    def find(self, set_name: str | None) -> list[Json]:
        """Submissions by set, system and version."""
        lines = self._arena.submission_reader.find(set_name=set_name, caller=OPERATOR)
        return [line.shown().to_json() for line in lines]

    def view(self, number: int) -> Json:
        """A submission with its coverage."""
        return self._arena.submission_reader.view(number, caller=OPERATOR).shown().to_json()

    def file(self, number: int) -> bytes:
        """The file of a submission as it was sent."""
        return b"".join(self._arena.submissions.file(number, caller=OPERATOR)[1])

    def report(self, number: int, round_name: str | None) -> Json:
        """What a team should improve."""
        from arena.services.evidence.team_report_files import report_json  # noqa: PLC0415 - loads statistics, which only reports need

        return report_json(self._arena.reports.of(number, round_name=round_name, caller=OPERATOR))

    def report_page(self, number: int, round_name: str | None) -> str:
        """The same as one HTML page."""
        from arena.services.evidence.team_report_files import report_html  # noqa: PLC0415 - as above

        return report_html(self._arena.reports.of(number, round_name=round_name, caller=OPERATOR))

    def compare(self, number: int, against: str, round_name: str | None) -> Json:
        """What changed from an earlier version."""
        return self._arena.versions.of_submission(
            number, against=against, round_name=round_name, caller=OPERATOR
        ).as_json()

    def gate(self, request: GateRequest, *, patience: float) -> Json:  # noqa: ARG002 - here it is done at once
        """Hold two versions against each other; what `GateReport.as_json` gives."""
        return self._arena.gates.run(request).as_json()

    def change(self, number: int, change: Change, *, reason: str = "") -> Json:
        """Do something to a submission."""
        match change:
            case Change.CONFIRM:
                changed = self._arena.submissions.confirm(number)
            case Change.SELECT:
                changed = self._arena.submissions.select(number)
            case Change.WITHDRAW:
                changed = self._arena.submissions.withdraw(number, reason=reason)
        return Submission.of(changed).to_json()


class RemoteBackend:
    """Another machine's arena, by its API."""

    def __init__(self, client: Client, *, sent: Callable[[int, int], None]) -> None:
        self._client = client
        self._submissions = client.submissions
        self._sent = sent

    def check(self, path: Path, request: SubmissionRequest) -> CheckResult:
        """Check a file, or a folder as a zip file; every problem at once."""
        from submissions.check import CheckResult  # noqa: PLC0415 - as above

        require_name(request.set_name, "Question set")
        with errors_as_ours():
            report = self._submissions.check(
                path,
                request.set_name,
                kind=request.kind.value,
                system=request.system,
                keep_na=request.keep_na,
            )
        return TypeAdapter(CheckResult).validate_python({**report.model_dump(), "set_name": report.set})

    def add(self, path: Path, request: SubmissionRequest) -> Json:
        """Submit a file: send what the arena lacks of it, then hand it in."""
        from submissions.card import load_card  # noqa: PLC0415 - as above

        require_name(request.set_name, "Question set")
        # An arena of an earlier version refuses fields that it does not know.
        said = {} if request.card is None else asdict(load_card(request.card))
        with errors_as_ours():
            return self._submissions.submit(
                path,
                request.set_name,
                system=request.system,
                kind=request.kind.value,
                team=request.team,
                card={name: value for name, value in said.items() if value},
                anonymous=request.anonymous,
                hold=request.hold,
                keep_na=request.keep_na,
                sent=self._sent,
            ).to_json()

    def find(self, set_name: str | None) -> list[Json]:
        """Submissions by set, system and version, as the token may see them."""
        with errors_as_ours():
            return [line.to_json() for line in self._submissions.all(set_name=set_name)]

    def view(self, number: int) -> Json:
        """A submission with its coverage."""
        with errors_as_ours():
            return self._submissions.get(number).to_json()

    def file(self, number: int) -> bytes:
        """The file of a submission as it was sent."""
        with errors_as_ours():
            return self._submissions.file(number)

    def report(self, number: int, round_name: str | None) -> Json:
        """What a team should improve."""
        with errors_as_ours():
            return self._submissions.report(number, round_name=round_name)

    def report_page(self, number: int, round_name: str | None) -> str:
        """The same as one HTML page."""
        with errors_as_ours():
            return self._submissions.report_page(number, round_name=round_name)

    def compare(self, number: int, against: str, round_name: str | None) -> Json:
        """What changed from an earlier version."""
        with errors_as_ours():
            return self._submissions.compare(number, against=against, round_name=round_name)

    def gate(self, request: GateRequest, *, patience: float) -> Json:
        """Hold two versions against each other; what `GateReport.as_json` gives.

        Args:
            request: What is held against what.
            patience: Seconds to wait for the workers there.

        Raises:
            ServerError: The gate failed there, or did not end in time.
            ArenaError: The arena refuses it.
        """
        with errors_as_ours():
            gate: Json = self._client.request("POST", "/gates", json=request.as_json()).json()
        wait, until = FIRST_LOOK, time.monotonic() + patience
        while gate["state"] not in OVER:
            if time.monotonic() > until:
                raise ServerError(
                    f"Gate {gate['id']} did not end within {patience:g} seconds; it is {gate['state']}.",
                    advice="Ask the organisers whether a worker runs, or wait longer: --wait.",
                )
            time.sleep(wait)
            wait = min(LONGEST_LOOK, 2 * wait)
            with errors_as_ours():
                gate = self._client.request("GET", f"/gates/{gate['id']}").json()
        if gate["result"] is None:
            raise ServerError(
                f"Gate {gate['id']} {gate['state']}: {gate['error'] or 'no reason is known.'}",
                advice="Try again, or ask the organisers.",
            )
        result: Json = gate["result"]
        return result

    def change(self, number: int, change: Change, *, reason: str = "") -> Json:
        """Do something to a submission."""
        with errors_as_ours():
            match change:
                case Change.CONFIRM:
                    changed = self._submissions.confirm(number)
                case Change.SELECT:
                    changed = self._submissions.select(number)
                case Change.WITHDRAW:
                    changed = self._submissions.withdraw(number, reason=reason, confirm=True)
            return changed.to_json()


@contextmanager
def errors_as_ours() -> Iterator[None]:
    """Raise what another arena refuses as the same kind of error that the same refusal has here."""
    from arena.client.answer_arena_client import ClientError, StatusError, UsageError  # noqa: PLC0415 - loads a client of HTTP, which this machine's arena needs not

    try:
        yield
    except StatusError as error:
        if error.problems:
            listed = tuple(problem_of(problem.model_dump()) for problem in error.problems)
            raise InvalidFileError(error.message, listed, advice=error.advice) from error
        kind = ERRORS.get(error.status)
        if kind is None:
            message = f"The arena answers {error.status}: {error.message}"
            raise ServerError(message, advice=error.advice) from error
        raise kind(error.message, advice=error.advice) from error
    except UsageError as error:
        raise InputError(error.message, advice=error.advice) from error
    except ClientError as error:
        raise ServerError(error.message, advice=error.advice) from error


def problem_of(fields: Mapping[str, Any]) -> Problem:
    """A problem of a file or request, as an arena reports it."""
    return Problem(
        line=int(fields.get("line") or 0),
        code=str(fields.get("code", "")),
        message=str(fields.get("message", "")),
        severity=Severity.WARNING if fields.get("severity") == Severity.WARNING else Severity.ERROR,
        advice=str(fields.get("advice", "")),
    )


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
        from arena.client.answer_arena_client import Client  # noqa: PLC0415 - as above

        with errors_as_ours():
            return RemoteBackend(Client(address, token or settings.token), sent=sent)
    if token:
        raise InputError("A token is for another machine's arena.", advice="Name it with --server.")
    return LocalBackend()
