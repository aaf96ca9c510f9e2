"""OpenAI's batch files: requests as lines, ended batches as answers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from judges.llm.errors import SERVER_STATUS, CallError, CallErrorKind, fault_of_status
from judges.llm.requests import Request

if TYPE_CHECKING:
    from openai.types import Batch


PATH = "/v1/chat/completions"
MOST_BYTES = 150_000_000
OK = 200
TOO_MUCH_QUEUED = "token_limit_exceeded"

Answer = Mapping[str, Any] | CallError
"""The provider's chat completion, or why there is none."""


def line_of(request: Request, body: Mapping[str, Any]) -> str:
    """A request's body as a line of a batch file; its key comes back with the answer."""
    line = {"custom_id": request.key, "method": "POST", "url": PATH, "body": body}
    return json.dumps(line, ensure_ascii=False)


def files_of(requests: Iterable[Request], most: int) -> Iterator[list[Request]]:
    """Cut requests into files: one endpoint and model each, no more requests or bytes than allowed."""
    groups: dict[tuple[str, str], list[Request]] = {}
    for request in requests:
        groups.setdefault((request.endpoint, request.model), []).append(request)
    for group in groups.values():
        file, size = list[Request](), 0
        for request in group:
            length = len(request.canonical.encode())
            if file and (len(file) >= most or size + length > MOST_BYTES):
                yield file
                file, size = [], 0
            file.append(request)
            size += length
        yield file


def answers_of(text: str) -> Iterator[tuple[str, Answer]]:
    """The answers in an output or error file, by request key; lines that are no answers are left out."""
    for line in text.splitlines():
        try:
            row = json.loads(line)
            key, response, error = row["custom_id"], row.get("response") or {}, row.get("error")
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
        if not isinstance(response, Mapping):
            response = {"status_code": SERVER_STATUS, "body": response}
        body, status = response.get("body"), response.get("status_code")
        if response.get("status_code") == OK and isinstance(body, Mapping):
            yield key, body
        elif response:
            yield key, fault_of_status(status if isinstance(status, int) else SERVER_STATUS, body, {})
        else:
            yield key, CallError(CallErrorKind.TRANSIENT, f"The batch left this request out: {error}")


def ending_of(batch: Batch, wait: float) -> CallError:
    """Why a request of an ended batch has no answer.

    Args:
        batch: As the provider reports it.
        wait: Seconds to wait where too much is queued.
    """
    first = next(iter((batch.errors and batch.errors.data) or ()), None)
    reason = f" ({first.message})" if first and first.message else ""
    detail = f"Batch {batch.id} ended as {batch.status}{reason} without an answer"
    if first and first.code == TOO_MUCH_QUEUED:
        return CallError(CallErrorKind.RATE_LIMITED, detail, retry_after=wait)
    again = batch.status in {"completed", "expired"}
    return CallError(CallErrorKind.TRANSIENT if again else CallErrorKind.FATAL, detail)


def content_of(requests: Sequence[Request], bodies: Mapping[str, Mapping[str, Any]]) -> bytes:
    """The file of a batch, from the bodies by request key."""
    return "\n".join(line_of(request, bodies[request.key]) for request in requests).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRecord:
    """A batch as it stands in the journal.

    Attributes:
        name: Ours, unique; stored with the batch at the provider.
        endpoint: Base URL.
        keys: The keys of its requests.
        batch_id: The provider's; empty until it is known.
    """

    name: str
    endpoint: str
    keys: tuple[str, ...]
    batch_id: str = ""


class BatchJournal(Protocol):
    """Batches that were sent and whose replies are not all kept; each method returns once committed."""

    async def write(self, record: BatchRecord) -> None:
        """Write a batch down, or what is known of it now (by name)."""
        ...

    async def unread(self) -> Sequence[BatchRecord]:
        """Every batch whose record was not deleted."""
        ...

    async def delete(self, name: str) -> None:
        """Delete a batch's record: its replies are kept, or it never came to be."""
        ...
