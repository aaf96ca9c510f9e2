"""OpenAI's batch files: requests as lines, ended batches as answers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judges.llm.faults import FaultError, FaultKind, fault_of_status
from judges.llm.requests import Request
from judges.llm.wire import body_of

if TYPE_CHECKING:
    from openai.types import Batch

PATH = "/v1/chat/completions"
MOST_BYTES = 150_000_000
OK = 200
TOO_MUCH_QUEUED = "token_limit_exceeded"

Answer = Mapping[str, Any] | FaultError
"""The provider's chat completion, or why there is none."""


def line_of(request: Request) -> str:
    """A request as a line of a batch file; its key comes back with the answer."""
    line = {"custom_id": request.key, "method": "POST", "url": PATH, "body": body_of(request)}
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
        body = response.get("body")
        if response.get("status_code") == OK and isinstance(body, Mapping):
            yield key, body
        elif response:
            yield key, fault_of_status(int(response.get("status_code") or 0), body, {})
        else:
            yield key, FaultError(FaultKind.TRANSIENT, f"The batch left this request out: {error}")


def ending_of(batch: Batch, wait: float) -> FaultError:
    """Why a request of an ended batch has no answer.

    Args:
        batch: As the provider reports it.
        wait: Seconds to wait where too much is queued.
    """
    first = next(iter((batch.errors and batch.errors.data) or ()), None)
    reason = f" ({first.message})" if first and first.message else ""
    detail = f"Batch {batch.id} ended as {batch.status}{reason} without an answer"
    if first and first.code == TOO_MUCH_QUEUED:
        return FaultError(FaultKind.RATE_LIMITED, detail, retry_after=wait)
    again = batch.status in {"completed", "expired"}
    return FaultError(FaultKind.TRANSIENT if again else FaultKind.FATAL, detail)


def content_of(requests: Sequence[Request]) -> bytes:
    """The file of a batch."""
    return "\n".join(map(line_of, requests)).encode()
