"""What visitors are told of errors: what only organisers can mend goes into the log and not to them."""

from __future__ import annotations

import structlog

from data.errors import ArenaError, StoreError, UnavailableError

log = structlog.get_logger("arena.web")


def told(error: ArenaError) -> ArenaError:
    """The error as a visitor is told it: of a database that fails neither host nor name."""
    if not isinstance(error, StoreError):
        return error
    log.error("unavailable", error=str(error))
    return UnavailableError("The arena cannot do this now.", advice="Try again in a moment.")
