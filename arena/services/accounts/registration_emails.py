"""What applicants for a team are written."""

from __future__ import annotations

from arena.services.accounts.mail import Mailer, mailer_of
from arena.settings import Settings
from data.errors import UnavailableError
from data.records.applications import Application

NOT_YOU = "If it was not you, do nothing: your address is then forgotten."


class RegistrationEmails:
    """Writes to applicants; of what they wrote themselves, letters hold the team's name alone.

    Raises:
        InputError: People apply by mail, and a setting for it is missing or cannot be used.
    """

    def __init__(self, settings: Settings) -> None:
        self.mode = settings.registration
        self._site = settings.public_url
        self._mailer: Mailer | None = mailer_of(settings)

    def confirm(self, address: str, team: str, code: str, *, hours: int) -> None:
        """Ask whether it was they who applied."""
        text = (
            f"Somebody, probably you, asked {self._site} for the team {team}. To confirm it, open this link "
            f"within {hours} hours and press the button:\n\n{self._link(code)}\n\n{NOT_YOU}"
        )
        self._send(address, "your application", text)

    def known(self, address: str, team: str) -> None:
        """Tell somebody who is known already."""
        text = (
            f"Somebody, probably you, asked {self._site} for the team {team}. This address belongs to an "
            "account there, or an application of it is waiting. For another team ask the organisers.\n\n"
            "If it was not you, you need not do anything."
        )
        self._send(address, "your application", text)

    def approved(self, application: Application, code: str, *, days: int) -> None:
        """Send the link to the first token."""
        text = (
            f"The organisers of {self._site} made the team {application.team}. Open this link within {days} "
            f"days; it shows your access token, once:\n\n{self._link(code)}\n\n"
            "Do not pass it on: whoever opens it first has the token."
        )
        again = (
            f"The approval holds; `arena teams applications {application.id} --approve` sends another link."
        )
        self._send(application.address, "your team", text, held=again)

    def rejected(self, application: Application, reason: str) -> None:
        """Say why there will be no team."""
        text = f"The organisers of {self._site} did not make the team {application.team}: {reason}"
        self._send(application.address, "your application", text, held="The rejection holds.")

    def _link(self, code: str) -> str:
        return f"{self._site}/register?code={code}"

    def _send(self, to: str, about: str, text: str, *, held: str = "") -> None:
        if self._mailer is None:
            raise UnavailableError(
                f"The mail was not sent: ARENA_REGISTRATION is {self.mode}. {held}".strip(),
                advice="Set it to mail to write to who applied by mail.",
            )
        try:
            self._mailer.send(to, f"Answer Arena: {about}", f"{text}\n")
        except UnavailableError as error:
            raise UnavailableError(f"{error.message} {held}".strip(), advice=error.advice) from error
