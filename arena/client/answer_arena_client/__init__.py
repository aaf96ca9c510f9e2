"""A typed client of an Answer Arena: question sets, submissions, boards, rounds and their evidence.

with Client("https://arena.example.org") as client:
for line in client.boards.get("demo").lines():
print(line.system, line.rating)
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .client import Boards, Client, Metrics, Retrieval, Rounds, Sets
    from .errors import (
        AnswerError,
        AuthenticationError,
        ClientError,
        ClosedError,
        ConflictError,
        ConnectionFailedError,
        ForbiddenError,
        InvalidError,
        NotFoundError,
        QuotaError,
        RateLimitError,
        RequestError,
        RetractedError,
        ServerError,
        StatusError,
        TimedOutError,
        TooLongError,
        UsageError,
    )
    from .models.base import Problem
    from .models.submissions import SystemCard
    from .submissions import Submissions
    from .transport import Retries

__all__ = [
    "AnswerError",
    "AuthenticationError",
    "Boards",
    "Client",
    "ClientError",
    "ClosedError",
    "ConflictError",
    "ConnectionFailedError",
    "ForbiddenError",
    "InvalidError",
    "Metrics",
    "NotFoundError",
    "Problem",
    "QuotaError",
    "RateLimitError",
    "RequestError",
    "RetractedError",
    "Retries",
    "Retrieval",
    "Rounds",
    "ServerError",
    "Sets",
    "StatusError",
    "Submissions",
    "SystemCard",
    "TimedOutError",
    "TooLongError",
    "UsageError",
]
__version__ = "0.1.0"
MODULES = ("client", "errors", "models.base", "models.submissions", "submissions", "transport")
"""Where the names above are."""


def __getattr__(name: str) -> object:
    """Load what is asked for, so that the models alone load no client of HTTP."""
    if name in __all__:
        for module in MODULES:
            found = vars(import_module(f".{module}", __name__)).get(name)
            if found is not None:
                return found
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
