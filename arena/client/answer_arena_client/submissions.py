"""Files of answers: check, submit, and what becomes of them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import httpx

from .errors import TimedOutError
from .models.submissions import (
    AddedSubmission,
    CheckReport,
    Submission,
    SubmissionDetails,
    SubmissionStatus,
    SystemCard,
)
from .transport import Params, Transport, parsed, path_of
from .uploads import Sent, name_of, opened

Kind = Literal["answers", "contexts"]
LONGEST_NAME = 255
SETTLED = frozenset({"judged", "published", "withdrawn"})


class Submissions:
    """Submissions of an arena; see `Client.submissions`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def check(
        self,
        path: str | Path,
        set_name: str,
        *,
        kind: Kind = "answers",
        system: str = "",
        keep_na: bool = False,
    ) -> CheckReport:
        """Check a file, or a folder as a zip file: every problem at once. Nothing is stored.

        Args:
            path: The file, read as a stream; a folder is sent as a zip file.
            set_name: The question set.
            kind: What the file holds.
            system: Of a table with the answers of several systems: which to read.
            keep_na: Read NA, None, NULL and the like as texts, not as missing values.

        Raises:
            UsageError: The file cannot be read.
            StatusError: The arena refuses to check it.
        """
        asked = {**_kind(kind), "system": system or None, "keep_na": keep_na or None}
        address = path_of("sets", set_name, "check")
        return parsed(CheckReport, self._sent(Path(path), address, asked, None))

    def submit(
        self,
        path: str | Path,
        set_name: str,
        *,
        system: str,
        kind: Kind = "answers",
        team: str = "",
        card: SystemCard | Mapping[str, str] | None = None,
        anonymous: bool | None = None,
        selected: bool = False,
        hold: bool = False,
        keep_na: bool = False,
        sent: Sent | None = None,
    ) -> AddedSubmission:
        """Send a file and submit it as the system's next version.

        Sent a second time, the same file is the same submission (`created` is False then).

        Args:
            path: The file, read as a stream; a folder is sent as a zip file.
            set_name: The question set.
            system: Name of the system.
            kind: What the file holds.
            team: Needed only by members of several teams.
            card: What you say of the system.
            anonymous: Hide the names until publication; None: as the version before.
            selected: Choose this version for the system.
            hold: Store it as checked; `confirm` submits it.
            keep_na: Read NA, None, NULL and the like as texts, not as missing values.
            sent: Called with how many bytes of how many are sent.

        Raises:
            UsageError: The file cannot be read.
            InvalidError: The file or card has errors; `problems` lists all of them.
            ConflictError: The name is another team's, no phase is open, or the quota is used up.
            RequestError: The arena cannot be reached.
        """
        fields = asdict(card) if isinstance(card, SystemCard) else dict(card or {})
        said = {name: value for name, value in fields.items() if value}
        asked = {
            **_kind(kind),
            "system": system,
            "team": team or None,
            "card": json.dumps(said, ensure_ascii=False) if said else None,
            "anonymous": anonymous,
            "selected": selected or None,
            "hold": hold or None,
            "keep_na": keep_na or None,
        }
        address = path_of("sets", set_name, "submissions")
        return parsed(AddedSubmission, self._sent(Path(path), address, asked, sent))

    def _sent(self, path: Path, address: str, asked: Params, sent: Sent | None) -> httpx.Response:
        """Send a file as the body of a request, again where the line breaks."""
        with opened(path, sent) as (blocks, size):
            return self._transport.request(
                "POST",
                address,
                params={"file_name": name_of(path)[-LONGEST_NAME:], **asked},
                headers={"Content-Length": str(size), "Content-Type": "application/octet-stream"},
                body=blocks,
                repeatable=True,
            )

    def all(self, *, set_name: str | None = None, team: str | None = None) -> list[SubmissionStatus]:
        """Submissions by set, system and version, as you may see them."""
        asked = {"set": set_name, "team": team}
        return self._transport.read(list[SubmissionStatus], "/submissions", key="submissions", params=asked)

    def get(self, number: int) -> SubmissionDetails:
        """One of them: state, place in the queue, coverage and card."""
        return self._transport.read(SubmissionDetails, path_of("submissions", number))

    def file(self, number: int) -> bytes:
        """The file of a submission of yours as it was sent, byte for byte."""
        return self._transport.request("GET", path_of("submissions", number, "file")).content

    def wait(
        self,
        number: int,
        *,
        until: Callable[[SubmissionDetails], bool] = lambda submission: submission.state in SETTLED,
        every: float = 10.0,
        timeout: float = 3_600.0,
    ) -> SubmissionDetails:
        """Ask for a submission until it is judged, published or withdrawn, or as `until` says.

        Args:
            number: Of the submission.
            until: Whether to stop waiting.
            every: Seconds between two looks.
            timeout: Seconds in all.

        Raises:
            TimedOutError: The time is over.
        """
        ends = time.monotonic() + timeout
        while not until(submission := self.get(number)):
            if time.monotonic() + every > ends:
                raise TimedOutError(
                    f"Submission {number} is {submission.state} after {timeout:g} seconds.",
                    advice="Wait again with a longer `timeout`.",
                )
            self._transport.sleep(every)
        return submission

    def report(self, number: int, *, round_name: str | None = None) -> dict[str, Any]:
        """What a team should improve: where a judged submission of yours loses and what it misses."""
        return parsed(dict[str, Any], self._report(number, round_name, "json"))

    def report_page(self, number: int, *, round_name: str | None = None) -> str:
        """The same as one HTML page."""
        return self._report(number, round_name, "html").text

    def compare(self, number: int, *, against: str = "last", round_name: str | None = None) -> dict[str, Any]:
        """What changed from an earlier version: `last`, its number, or `id:` and that of its submission."""
        asked = {"against": against, "round": round_name}
        response = self._transport.request("GET", path_of("submissions", number, "comparison"), params=asked)
        return parsed(dict[str, Any], response)

    def confirm(self, number: int) -> Submission:
        """Submit what was sent with `hold`."""
        return self._change(number, "confirm")

    def select(self, number: int) -> Submission:
        """Choose the version that stands for its system."""
        return self._change(number, "select")

    def withdraw(self, number: int, *, reason: str = "", confirm: bool = False) -> Submission:
        """Withdraw it; a tombstone stays. Nothing takes this back, so `confirm` must be true."""
        return self._change(number, "withdraw", json={"reason": reason, "confirm": confirm})

    def _report(self, number: int, round_name: str | None, form: str) -> httpx.Response:
        asked = {"format": form, "round": round_name}
        return self._transport.request("GET", path_of("submissions", number, "report"), params=asked)

    def _change(self, number: int, change: str, *, json: object = None) -> Submission:
        response = self._transport.request("POST", path_of("submissions", number, change), json=json)
        return parsed(Submission, response)


def _kind(kind: Kind) -> dict[str, str]:
    # An arena of an earlier version takes answers alone, and refuses fields that it does not know.
    return {} if kind == "answers" else {"kind": kind}
