"""A typed client of an Answer Arena: question sets, submissions, boards, rounds and their evidence.

with Client("https://arena.example.org") as client:
for line in client.boards.get("demo").lines():
print(line.system, line.rating)
"""

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
